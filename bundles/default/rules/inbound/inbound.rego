package reviewer.fired

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Login access granted
# description: On this machine; key files on other machines are judged as changes there.
# custom:
#   id: login_granted
fires contains "login_granted" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	strings.any_suffix_match(scores.spellings(e), scores.between("/", data.reviewer.inbound.logins, "/"))
}

# METADATA
# title: Listener reachable from other machines
# custom:
#   id: inbound_listener
fires contains "inbound_listener" if {
	data.reviewer.inbound.listeners == "warn"
	_listens
}

# METADATA
# title: Listener reachable from other machines (asks)
# custom:
#   id: listener_asked
fires contains "listener_asked" if {
	data.reviewer.inbound.listeners == "ask"
	_listens
}

_listens if {
	"network_request" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "listen"
	not e.egress
	not e.target in data.reviewer.inbound.local
}

_listens if {
	"share" in input.verbs
	"share" in effects.system_verbs
}
