package reviewer.spoken

# METADATA
# title: Infrastructure is destroyed
# description: >-
#   With some things much more goes: a stack, an account, a cluster, all that is
#   in a bucket. So does whatever is marked as production.
# custom:
#   id: infrastructure_delete
speaks contains "infrastructure_delete" if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	_ends(e)
	_reached(e)
	_wide(e)
}

# METADATA
# title: Something at a service ends
# description: Of one thing a person is asked. On this machine only what keeps data or manages others counts.
# custom:
#   id: api_delete
speaks contains "api_delete" if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	_ends(e)
	_reached(e)
}

# METADATA
# title: A program ends something, as clients of services do
# description: Nothing is known of the program but its words. Those that only manage this machine are listed.
# custom:
#   id: service_delete
speaks contains "service_delete" if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "process"
	e.verb in data.reviewer.services.unknown_ends
	e.object
	e.object != "rows"
	not e.target in data.reviewer.services.local
}

_ends(e) if {
	e.kind == "network"
	e.verb in data.reviewer.services.ends
}

_reached(e) if not e.loopback

_reached(e) if not _near(e)

_reached(e) if {
	e.loopback
	regex.find_all_string_submatch_n(_port, e.target, 1)[0][1] in data.reviewer.services.stores
}

# What happens on another machine is none of this one, whatever address it has there.
_near(e) if not e.host

_near(e) if strings.any_prefix_match(e.host, data.reviewer.scope.hosts)

_port := `^(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:[^/?#\\\s]*@)?(?:\[[^\]]*\]|[^/?#\\\s:@]+):([0-9]+)`

_wide(e) if {
	e.verb in {"delete", "remove", "reset"}
	e.recursive
}

_wide(e) if {
	e.verb in {"delete", "remove", "reset"}
	e.object in data.reviewer.services.wide
}

_wide(e) if _production(e)

# METADATA
# title: An effect is about production
# description: As the target says, or any word of the command.
_production(e) if {
	some text in array.concat([object.get(e, "target", ""), object.get(e, "host", "")], _said(e))
	_marked(text, data.reviewer.markers.production)
}

_said(e) := array.concat(array.concat(object.get(c, "sub", []), object.get(c, "flags", [])), object.get(c, "operands", [])) if {
	e.command >= 0
	c := input.action.commands[e.command]
} else := []

_marked(text, words) if {
	some w in regex.split(`[^a-z0-9]+`, lower(text))
	w in words
}
