package reviewer.families.network

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Upload to a public drop host
# description: >-
#   Covers paste sites, file drops, request catchers and tunnels: hosts.drops lists them. Data uploaded
#   there can no longer be controlled.
# related_resources: ["https://attack.mitre.org/techniques/T1567/"]
# custom:
#   severity: critical
#   decision: block
#   harm: exposure
#   tags: [essential, OWASP-ASI03, ATLAS-AML.T0086, ATTACK-T1567, SOC2-CC6.7]
#   message: "This sends data to {host}, which accepts data from anyone and may show it to anyone: {command}"
#   remediation: leave the file in the workspace, and tell the user where it is
#   overridable: [organisation, user]
drop_host if {
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
# description: >-
#   The service gives the machine's own credentials to any program that asks; hosts.metadata
#   lists its addresses.
# related_resources: ["https://attack.mitre.org/techniques/T1552/005/"]
# custom:
#   severity: high
#   decision: ask
#   harm: exposure
#   tags: [essential, OWASP-ASI03, ATLAS-AML.T0055, ATTACK-T1552, SOC2-CC6.1]
#   message: "This queries the cloud's metadata service, which hands out the machine's credentials: {command}"
#   remediation: use the cloud's own command line (`aws sts get-caller-identity`), which shows no credential
#   overridable: [organisation, user]
metadata_service if {
	"external_network" in input.facts
	input.phase == "pre"
	_host_among(data.reviewer.hosts.metadata)
}

_host_among(list) if {
	some host in input.action.hosts
	scores.one_or_below(host, ".", list)
}
