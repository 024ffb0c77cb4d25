package reviewer.fired

import data.reviewer.effects

# METADATA
# title: Machine suspended
# custom:
#   id: power_suspend
fires contains "power_suspend" if {
	"changes" in input.facts
	"system_command" in input.action.types
	"suspend" in effects.system_verbs
}

# METADATA
# title: System object deleted
# custom:
#   id: system_delete
fires contains "system_delete" if {
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
# custom:
#   id: trash_emptied
fires contains "trash_emptied" if {
	"changes" in input.facts
	"system_command" in input.action.types
	"empty" in effects.system_verbs
}

# METADATA
# title: File system mounted for writing
# custom:
#   id: mount_change
fires contains "mount_change" if {
	"changes" in input.facts
	"system_command" in input.action.types
	"mount" in effects.system_verbs
}

# METADATA
# title: Running kernel changed
# custom:
#   id: kernel_change
fires contains "kernel_change" if {
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
# custom:
#   id: machine_setting
fires contains "machine_setting" if {
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
# custom:
#   id: guard_off
fires contains "guard_off" if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "system_call"
	e.verb in {"stop", "disable", "pause"}
	effects.plain_service(lower(e.target)) in data.reviewer.system.guards
}

# METADATA
# title: System protection disabled
# description: By killing its process.
# custom:
#   id: guard_off
fires contains "guard_off" if {
	"kill" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "process"
	e.verb == "kill"
	regex.replace(lower(e.target), `\.exe$`, "") in data.reviewer.system.guards
}

# METADATA
# title: Debugger attached to a running process
# custom:
#   id: process_attach
fires contains "process_attach" if {
	"attach" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "process"
	e.verb == "attach"
}

# METADATA
# title: Debugger attached to a running process
# description: Its memory is read or written as a file.
# custom:
#   id: process_attach
fires contains "process_attach" if {
	"outside_workspace" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind in {"file_read", "file_write"}
	regex.match(`^/proc/([0-9]+|\?|\*)/mem$`, e.target)
}

# METADATA
# title: Machine shut down or restarted
# custom:
#   id: power_state
fires contains "power_state" if {
	"changes" in input.facts
	"system_command" in input.action.types
	some verb in effects.system_verbs
	verb in data.reviewer.system.power
}

# METADATA
# title: All processes killed
# custom:
#   id: kill_all
fires contains "kill_all" if {
	"kill" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "process"
	e.verb == "kill"
	some pattern in data.reviewer.system.all_processes
	regex.match(pattern, e.target)
}
