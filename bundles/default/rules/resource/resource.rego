package reviewer.families.resource

import data.reviewer.scores

# METADATA
# title: Oversized file created
# description: Fires above resources.max_file_bytes if the call specifies the size of the file.
# related_resources: [https://attack.mitre.org/techniques/T1499/, "https://man7.org/linux/man-pages/man1/fallocate.1.html"]
# custom:
#   severity: high
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI08, ATTACK-T1499, SOC2-CC7.2]
#   message: "This creates a file that may fill the disk: {command}"
#   remediation: check the free space (`df -h .`), and make the file only as large as needed
#   overridable: [organisation, user, project]
disk_fill if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.bytes > data.reviewer.resources.max_file_bytes
}

# METADATA
# title: Cryptocurrency miner started
# description: Programs that resources.miners lists, and anything that connects to a mining pool.
# related_resources: [https://attack.mitre.org/techniques/T1496/]
# custom:
#   severity: critical
#   decision: block
#   harm: foreign_code
#   tags: [essential, OWASP-ASI08, OWASP-ASI10, ATTACK-T1496, SOC2-CC6.8]
#   message: "This runs a cryptocurrency miner: {command}"
#   remediation: there is no safe way to do this
#   overridable: [organisation]
miner_run if {
	"changes" in input.facts
	input.phase == "pre"
	some c in input.action.commands
	_mines(c)
}

_mines(c) if lower(c.name) in data.reviewer.resources.miners

_mines(c) if {
	some text in array.concat(object.get(c, "operands", []), object.get(c, "flags", []))
	regex.match(`(?i)(^|=)stratum\d?\+(tcp|ssl|tls|udp)://`, text)
}

# METADATA
# title: System clock changed
# description: Certificates, schedules and the order of all logs depend on it.
# related_resources: ["https://attack.mitre.org/techniques/T1070/006/", "https://man7.org/linux/man-pages/man1/timedatectl.1.html"]
# custom:
#   severity: high
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, ATTACK-T1070.006, SOC2-CC7.2]
#   message: "This sets the clock of this machine, on which certificates, schedules and logs depend: {command}"
#   remediation: change the time only for the program that needs it (faketime, an argument, a fake clock in its tests)
#   overridable: [organisation, user]
clock_change if {
	"set" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "system_call"
	e.verb == "set"
	e.target in {"clock", "date"}
}

# METADATA
# title: Test deleted
# description: "Recognises tests by name (integrity.tests). A test run that omits the failing test proves nothing."
# related_resources: ["https://genai.owasp.org/resource/owasp-top-10-for-agentic-applications-for-2026/"]
# custom:
#   severity: low
#   decision: warn
#   tags: [OWASP-ASI09, SOC2-CC8.1]
#   message: "This deletes a test: {deleted}"
#   remediation: fix what the test finds; if the test is wrong, say so and explain why
#   overridable: [organisation, user, project]
test_deleted if {
	"deletes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	e.verb in {"delete", "trash", "discard"}
	e.location in {"inside", "worktree"}
	not e.exists == "no"
	not e.class == "generated"
	not e.ledger == "created"
	not scores.made_by_call(e)
	some pattern in data.reviewer.integrity.tests
	regex.match(pattern, e.short)
}
