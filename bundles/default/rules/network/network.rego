package reviewer.families.network

import data.reviewer.effects

# METADATA
# title: External network request
# related_resources: ["https://attack.mitre.org/techniques/T1071/"]
# custom:
#   severity: low
#   decision: warn
#   tags: [essential, OWASP-ASI02, ATTACK-T1071, SOC2-CC6.7]
#   message: "External network request to {host}."
#   remediation: use what is already on this machine, or a host that the policy lists in hosts.known
#   overridable: [organisation, user, project]
warn_external_network if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "network"
	not e.loopback
	not _known(e)
}

# The target must be certain, and the classifier must name the same host: a host
# that only one of the two recognises is not a known one.
_known(e) if {
	count(data.reviewer.hosts.known) > 0
	e.certainty == "exact"
	host := lower(regex.find_all_string_submatch_n(_host, e.target, 1)[0][1])
	host in input.action.hosts
	effects.known_host(host)
}

# Scheme and user info may precede a host; port, path or query may follow it.
_host := `^(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:[^/?#\\\s]*@)?([^/?#\\\s:@]+)`
