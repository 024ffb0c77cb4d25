package reviewer.families.network

import data.reviewer.effects

# METADATA
# title: External network request
# description: >-
#   A host that the person named may be reached. Reads from the service that a program is set up for, such as a package
#   registry, a cluster or a remote, are expected, and so is a push to a remote that was there before the session.
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
	not _reads_own_service(e)
	not _pushes(e)
	not _named(e)
}

# The person named the host: it may be reached. What is sent there is another question.
_named(e) if {
	e.named
	e.verb in {"fetch", "exec"}
	not e.egress
}

# A name without a dot is not an address: what it stands for is in the program's settings.
_reads_own_service(e) if {
	e.verb == "fetch"
	not e.egress
	_named_service(e)
	_not_given(e, input.action.commands[e.command])
}

# Remotes are named in the command, and are settings, too.
_not_given(_, c) if c.name in data.reviewer.lists.version_control

_not_given(e, c) if not e.target in object.get(c, "operands", [])

_named_service(e) if {
	e.certainty == "exact"
	regex.match(`^[A-Za-z0-9_-]+$`, e.target)
}

_pushes(e) if {
	e.verb == "send"
	_named_service(e)
	c := input.action.commands[e.command]
	c.name in data.reviewer.lists.version_control
	object.get(c, "sub", []) == ["push"]
	object.get(e, "object", "") == ""
	object.get(input.session, "remotes", []) == []
	not e.forced
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
