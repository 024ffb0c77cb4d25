package reviewer.families.system

import data.reviewer.effects

# METADATA
# title: Machine suspended
# related_resources: [https://attack.mitre.org/techniques/T1529/]
# custom:
#   severity: medium
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, ATTACK-T1529, SOC2-CC7.5]
#   message: This suspends the machine, and everything that runs on it stops.
#   remediation: leave it to the user
#   overridable: [organisation, user]
power_suspend if {
	"changes" in input.facts
	"system_command" in input.action.types
	"suspend" in effects.system_verbs
}

# METADATA
# title: System object deleted
# related_resources: [https://attack.mitre.org/techniques/T1531/]
# custom:
#   severity: high
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, ATTACK-T1531, ATTACK-T1485, SOC2-CC7.5]
#   message: "This deletes a system object such as an account, a scheduled job or a volume: {command}"
#   remediation: save its current state first (`crontab -l`), and let a person delete it
#   overridable: [organisation, user]
system_delete if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "system_call"
	e.verb == "delete"
	not _of_database(e)
}

# Deletions in a database have rules of their own.
_of_database(e) if regex.match(`^(sqlite:|[a-z]+://)`, e.target)

# METADATA
# title: Trash emptied
# related_resources: [https://specifications.freedesktop.org/trash-spec/latest/]
# custom:
#   severity: medium
#   decision: ask
#   harm: loss
#   tags: [OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: This permanently deletes the contents of the trash.
#   remediation: leave the trash to the user
#   overridable: [organisation, user]
trash_emptied if {
	"changes" in input.facts
	"system_command" in input.action.types
	"empty" in effects.system_verbs
}

# METADATA
# title: File system mounted for writing
# related_resources: [https://man7.org/linux/man-pages/man8/mount.8.html]
# custom:
#   severity: medium
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, ATTACK-T1006, SOC2-CC6.1]
#   message: "This mounts another file system over {target}, which hides its contents: {command}"
#   remediation: mount it read-only (`mount -o ro FILE DIR`)
#   overridable: [organisation, user]
mount_change if {
	"changes" in input.facts
	"system_command" in input.action.types
	"mount" in effects.system_verbs
}

# METADATA
# title: Running kernel changed
# related_resources: [https://man7.org/linux/man-pages/man8/sysctl.8.html]
# custom:
#   severity: high
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, ATTACK-T1547, SOC2-CC8.1]
#   message: "This changes the running kernel or its settings: {command}"
#   remediation: say which setting or module is needed, and let a person change it
#   overridable: [organisation, user]
kernel_change if {
	"changes" in input.facts
	_changes_kernel
}

_changes_kernel if {
	"system_command" in input.action.types
	"kernel" in effects.system_verbs
}

_changes_kernel if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	strings.any_prefix_match(e.target, ["/proc/", "/sys/"])
}

# METADATA
# title: Security-relevant system setting changed
# description: >-
#   Applies to the changes that system.asked lists: firewall, certificates, boot configuration,
#   accounts, audit, backups, features.
# related_resources: [https://attack.mitre.org/techniques/T1562/]
# custom:
#   severity: high
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, ATTACK-T1562, SOC2-CC8.1]
#   message: "This changes a system setting that others rely on: {command}"
#   remediation: explain what needs to change and why, and let a person do it
#   overridable: [organisation, user]
machine_setting if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "system_call"
	some pattern in data.reviewer.system.asked
	regex.match(pattern, concat(" ", [e.verb, object.get(e, "target", "")]))
}

# METADATA
# title: System protection disabled
# description: >-
#   Stops or disables protective services, or makes a firewall or access control allow
#   everything; system.guards lists them.
# scope: document
# related_resources: [https://attack.mitre.org/techniques/T1562/]
# custom:
#   severity: critical
#   decision: block
#   harm: guard
#   tags: [essential, OWASP-ASI02, ATTACK-T1562, SOC2-CC7.2]
#   message: "This disables a protection of this machine, such as its firewall, audit or malware scanner: {command}"
#   remediation: report what it blocks, and let a person add an exception
#   overridable: [organisation, user]
guard_off if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "system_call"
	e.verb in {"stop", "disable", "pause"}
	effects.plain_service(lower(e.target)) in data.reviewer.system.guards
}

# By killing its process.
guard_off if {
	"kill" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "process"
	e.verb == "kill"
	regex.replace(lower(e.target), `\.exe$`, "") in data.reviewer.system.guards
}

# By a registry value, or by deleting a key of a protection.
guard_off if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	effects.in_registry(e)
	_lifts_guard(e)
}

_lifts_guard(e) if {
	e.verb != "delete"
	some pattern in data.reviewer.registry.off
	regex.match(pattern, concat(`\`, [e.target, object.get(e, "object", "")]))
}

_lifts_guard(e) if {
	e.verb == "delete"
	some pattern in data.reviewer.registry.removed
	regex.match(pattern, e.target)
}

# METADATA
# title: Debugger attached to a running process
# scope: document
# related_resources: [https://attack.mitre.org/techniques/T1055/]
# custom:
#   severity: high
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI03, ATTACK-T1055, SOC2-CC6.1]
#   message: "This reads or changes the memory of a running process: {command}"
#   remediation: start the program under the debugger (`gdb --args PROGRAM`)
#   overridable: [organisation, user]
process_attach if {
	"attach" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "process"
	e.verb == "attach"
}

# Its memory is read or written as a file.
process_attach if {
	"outside_workspace" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind in {"file_read", "file_write"}
	regex.match(`^/proc/([0-9]+|\?|\*)/mem$`, e.target)
}

# METADATA
# title: Machine shut down or restarted
# related_resources: [https://attack.mitre.org/techniques/T1529/]
# custom:
#   severity: high
#   decision: block
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1529, SOC2-CC7.5]
#   message: This shuts down or restarts the machine.
#   remediation: ask the user to do it
power_state if {
	"changes" in input.facts
	"system_command" in input.action.types
	some verb in effects.system_verbs
	verb in data.reviewer.system.power
}

# METADATA
# title: All processes killed
# related_resources: [https://attack.mitre.org/techniques/T1489/]
# custom:
#   severity: high
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, ATTACK-T1489, SOC2-CC7.5]
#   message: "This kills all processes, or the init process: {command}"
#   remediation: kill the one process by its process ID
#   overridable: [organisation, user]
kill_all if {
	"kill" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "process"
	e.verb == "kill"
	some pattern in data.reviewer.system.all_processes
	regex.match(pattern, e.target)
}
