package reviewer.spoken

# METADATA
# title: External network request
# custom:
#   id: warn_external_network
speaks contains "warn_external_network" if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "network"
	not e.loopback
	not _known_host(e.target)
}

_known_host(host) if host in data.reviewer.hosts.known

_known_host(host) if {
	some known in data.reviewer.hosts.known
	endswith(host, concat("", [".", known]))
}
