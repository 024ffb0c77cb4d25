package reviewer.spoken

# METADATA
# title: A setting of Windows or of another program is changed in the registry
# custom:
#   id: registry_change
speaks contains "registry_change" if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	_in_registry(e)
	some pattern in data.reviewer.registry.asked
	regex.match(pattern, e.target)
}

_in_registry(e) if {
	e.kind == "system_call"
	regex.match(`^HK[A-Z]+(\\|$)`, e.target)
}

# METADATA
# title: What guards the machine is switched off
# description: By a value in the registry, or by taking a key of a guard away.
# custom:
#   id: guard_off
speaks contains "guard_off" if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	_in_registry(e)
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
# title: A program of the system runs code that lies in another file
# custom:
#   id: proxy_execution
speaks contains "proxy_execution" if {
	input.phase == "pre"
	some c in input.action.commands
	some pattern in data.reviewer.execution.proxies
	regex.match(pattern, _line(c))
}

# METADATA
# title: The screen, the keyboard, the microphone or the network is recorded
# custom:
#   id: recording
speaks contains "recording" if {
	input.phase == "pre"
	some c in input.action.commands
	some pattern in data.reviewer.execution.records
	regex.match(pattern, _line(c))
	not _shows_recording(c)
}

_shows_recording(c) if {
	some pattern in data.reviewer.execution.replays
	regex.match(pattern, concat(" ", _arguments(c)))
}

_line(c) := lower(concat(" ", array.concat([c.name], _arguments(c))))

# What follows the name of a program: subcommands, flags, and the rest.
_arguments(c) := array.flatten([object.get(c, "sub", []), object.get(c, "flags", []), object.get(c, "operands", [])])
