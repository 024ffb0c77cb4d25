package reviewer.families.processes

import data.reviewer.effects

# METADATA
# title: System service stopped
# description: >-
#   Applies to the services, databases and engines that processes.services lists, whether
#   stopped as a service or killed as a process: by name, by a process ID from a process
#   list or a file under /run, or by a port of processes.ports.
# scope: document
# related_resources: [https://attack.mitre.org/techniques/T1489/]
# custom:
#   severity: high
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, ATTACK-T1489, SOC2-CC7.5]
#   message: "This stops a service that others on this machine may use: {command}"
#   remediation: start what you need as a process of your own on another port, or ask the user to stop the service
#   overridable: [organisation, user, project]
service_ended if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "system_call"
	e.verb in data.reviewer.lists.ending_verbs
	_unit(e.target)
}

_unit(name) if _service_name(effects.plain_service(lower(name)))

_unit(name) if lower(name) in data.reviewer.processes.units

# As a process, by its name or by how it was found.
service_ended if {
	"kill" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	effects.ends_process(e)
	_of_service(e)
	not effects.signal_handled(e)
}

_of_service(e) if _unit(e.target)

# A process ID from a list of processes: what was searched for there counts.
_of_service(e) if {
	effects.found_late(e)
	some word in effects.searched
	_unit(word)
}

_of_service(e) if {
	effects.found_late(e)
	some r in input.action.effects
	r.kind == "file_read"
	regex.match(`^(/private)?(/var)?/run/.*\.pid$`, r.target)
}

_of_service(e) if {
	effects.by_port(e)
	some port in data.reviewer.processes.ports
	some word in effects.searched
	regex.match(sprintf(`(^|[:,/])%d(/(tcp|udp))?($|,)`, [port]), word)
}

# All processes that have a file system or a folder open.
_of_service(e) if {
	input.action.commands[e.command].name == "fuser"
	regex.match(`^[/.~]`, e.target)
}

# One of the names in a word, as it is or in an expression: [s]shd, /shopd/{print $2}, sshd.exe.
# In a whole command line, the program counts.
_service_name(word) if {
	plain := regex.replace(split(lower(word), " ")[0], `\[([a-z])\]`, "$1")
	some name in regex.find_n(`[a-z][a-z0-9_.+@-]*`, plain, -1)
	regex.replace(name, `(\.(service|socket|exe|pid))$|@.*$`, "") in data.reviewer.processes.services
}

# METADATA
# title: Unit switched off that the person did not mention
# description: >-
#   A timer or a service of a service manager no longer starts by itself. What the person named for work may be switched off.
# custom:
#   severity: medium
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, ATTACK-T1489, SOC2-CC7.5]
#   message: "This switches off something that the user has set up, and did not mention: {command}"
#   remediation: leave it on, or ask the user
#   overridable: [organisation, user, project]
unit_off if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "system_call"
	e.verb in {"disable", "mask"}
	regex.match(`\.(timer|service|socket|path)$`, e.target)
	input.action.commands[e.command].name in data.reviewer.lists.unit_managers
	not e.mentioned
	not e.host
}
