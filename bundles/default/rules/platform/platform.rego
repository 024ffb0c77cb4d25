package reviewer.fired

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Repository made public
# custom:
#   id: repository_public
fires contains "repository_public" if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "expose"
	effects.of_repository(e)
	effects.reached(e)
}

# METADATA
# title: Code review bypassed
# custom:
#   id: review_bypass
fires contains "review_bypass" if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "network"
	not e.verb in {"fetch", "disable"}
	e.object in data.reviewer.services.reviews
	effects.reached(e)
}

# METADATA
# title: Payment or transfer of money
# custom:
#   id: payment
fires contains "payment" if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	_goes_out(e)
	_by(e, data.reviewer.services.money, data.reviewer.services.payments)
}

# METADATA
# title: Message sent to people
# custom:
#   id: message_sent
fires contains "message_sent" if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	_goes_out(e)
	_by(e, data.reviewer.services.messages, data.reviewer.services.messengers)
}

_goes_out(e) if {
	e.kind == "network"
	e.verb == "send"
	not e.loopback
}

# By the kind of operation, or by the service that performs it.
_by(e, objects, _) if e.object in objects

_by(e, _, hosts) if {
	host := lower(regex.find_all_string_submatch_n(`^(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:[^/?#\\\s]*@)?([^/?#\\\s:@]+)`, e.target, 1)[0][1])
	scores.one_or_below(host, ".", hosts)
}
