package reviewer.fired

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Upload to a public drop host
# custom:
#   id: drop_host
fires contains "drop_host" if {
	"external_network" in input.facts
	input.phase == "pre"
	_host_among(data.reviewer.hosts.drops)
	some e in input.action.effects
	_carries(e)
}

_carries(e) if effects.sends_away(e)

# The host also records the query of a URL.
_carries(e) if {
	e.kind == "network"
	not e.loopback
	contains(e.target, "?")
}

# METADATA
# title: Cloud metadata service queried
# custom:
#   id: metadata_service
fires contains "metadata_service" if {
	"external_network" in input.facts
	input.phase == "pre"
	_host_among(data.reviewer.hosts.metadata)
}

_host_among(list) if {
	some host in input.action.hosts
	scores.one_or_below(host, ".", list)
}
