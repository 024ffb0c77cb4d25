package reviewer.fired

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Windows registry changed
# custom:
#   id: registry_change
fires contains "registry_change" if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	effects.in_registry(e)
	some pattern in data.reviewer.registry.asked
	regex.match(pattern, e.target)
}

# METADATA
# title: System protection disabled
# description: By a registry value, or by deleting a key of a protection.
# custom:
#   id: guard_off
fires contains "guard_off" if {
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
# title: Code run through a trusted system program
# custom:
#   id: proxy_execution
fires contains "proxy_execution" if {
	input.phase == "pre"
	some line in effects.lines
	scores.matches(line, data.reviewer.execution.proxies)
}

# METADATA
# title: Screen, keyboard, microphone or network recorded
# custom:
#   id: recording
fires contains "recording" if {
	input.phase == "pre"
	some i, line in effects.lines
	scores.matches(line, data.reviewer.execution.records)
	not _shows_recording(input.action.commands[i])
}

_shows_recording(c) if {
	some pattern in data.reviewer.execution.replays
	regex.match(pattern, concat(" ", effects.arguments(c)))
}
