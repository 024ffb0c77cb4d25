package reviewer.families.network

import data.reviewer.effects

# METADATA
# title: External network request
# description: >-
#   Fires where data leaves for a host that nobody named: not for what only reads (unless hosts.warn_reads is true), nor for the service
#   that a program is set up for, such as a cluster or a remote that was there before the session.
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
	_noteworthy(e)
	not _known(e)
	not _reads_own_service(e)
	not _pushes(e)
	not _at_own_service(e)
	not e.named # what may be sent there is judged by other rules
}

_noteworthy(e) if e.egress

_noteworthy(_) if data.reviewer.hosts.warn_reads

# What a program sends to the service that it is set up for. Other rules judge what it does there.
_at_own_service(e) if {
	e.verb == "send"
	_named_service(e)
	not e.forced
	input.action.commands[e.command].name in data.reviewer.hosts.services
	not _given_address(input.action.commands[e.command])
}

_given_address(c) if {
	some word in array.concat(object.get(c, "operands", []), object.get(c, "flags", []))
	contains(word, "://")
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
