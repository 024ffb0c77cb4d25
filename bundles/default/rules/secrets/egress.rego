package reviewer.families.secrets

import data.reviewer.effects

# METADATA
# title: Secret exfiltration
# description: >-
#   A file with secrets is read or moved, and data leaves the machine. A request that takes code to
#   another machine does not carry the files that the code reads there.
# scope: document
# related_resources: ["https://attack.mitre.org/techniques/T1041/"]
# custom:
#   severity: critical
#   decision: block
#   harm: exposure
#   tags: [essential, OWASP-ASI03, ATLAS-AML.T0086, ATTACK-T1552, ATTACK-T1041, SOC2-CC6.7]
#   message: "This reads a credential and sends data to {host} in the same call."
#   remediation: say which service needs the credential and let a person configure it
secret_egress if {
	"network_request" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	e.class in {"credential", "env_file"}
	_shows(e)
	some sent in input.action.effects
	_away(sent)
	_takes_along(sent, e)
}

# The output of a secret store leaves the machine.
secret_egress if {
	"pipe_to_external" in input.action.signals
	input.phase == "pre"
	_shows_without_file
	not _stays_here
}

# Values in the arguments of a command that talks to another host leave with them, whatever the
# option: the whole content of a file with secrets, or the whole environment. A single value, and
# one where a client identifies itself, may be meant for that host: secret_elsewhere asks.
secret_egress if {
	input.phase == "pre"
	some f in input.action.flows
	f.what in {"file", "environment"}
	effects.leaves_machine(f)
	not f.part
	not f.login
	not f.image
}

# METADATA
# title: Data sent to another host
# related_resources: ["https://attack.mitre.org/techniques/T1048/"]
# custom:
#   severity: high
#   decision: ask
#   harm: exposure
#   tags: [essential, OWASP-ASI03, ATLAS-AML.T0086, ATTACK-T1048, SOC2-CC6.7]
#   message: "This sends files or command output to {host}."
#   remediation: name the file and the host to the user and let them send it
#   overridable: [organisation, user]
pipe_to_external if {
	"pipe_to_external" in input.action.signals
	input.phase == "pre"
	not _stays_here
	not _only_looked_up
	not _to_own_repository
	not _between_named_machines
}

# What one of the user's machines has, on another: both are named, and nothing of this machine goes with it.
_between_named_machines if {
	not _shows_something
	input.action.effects != []
	every e in input.action.effects { _of_named_machines(e) }
}

_of_named_machines(e) if effects.on_named_machine(e)

_of_named_machines(e) if {
	e.kind == "network"
	effects.named_machine(e.target)
}

# Issues, labels and pull requests of the workspace's own repository, with nothing from elsewhere in them.
_to_own_repository if {
	"own_forge" in input.action.signals
	object.get(input.session, "remotes", []) == [] # the session added none
	not _shows_something
	count([e | some e in input.action.effects; e.egress]) == 1
	every e in input.action.effects { _of_workspace(e) }
}

_shows_something if "credential_adjacent" in input.action.signals

_shows_something if "environment_dump" in input.action.signals

_of_workspace(e) if e.kind != "file_read"

_of_workspace(e) if {
	e.location in {"inside", "self", "worktree"}
	not effects.found_late(e)
}

_shows(e) if e.kind == "file_read"

_shows(e) if effects.displaced(e)

_away(e) if {
	e.kind == "network"
	e.egress
	effects.leaves_machine(e)
}

_takes_along(sent, _) if sent.verb != "exec"

_takes_along(sent, e) if object.get(sent, "host", "") == object.get(e, "host", "")

_shows_without_file if "environment_dump" in input.action.signals

_shows_without_file if {
	"credential_adjacent" in input.action.signals
	not effects.file_of_secrets
}

# Data is sent to this machine only. The listener may pass it on to anyone.
_stays_here if {
	some e in input.action.effects
	e.kind == "network"
	e.egress
	not _goes_elsewhere
}

_goes_elsewhere if {
	some e in input.action.effects
	_away(e)
}

_goes_elsewhere if {
	some e in input.action.effects
	e.kind == "network"
	e.verb == "listen"
}

# Only a name is looked up, so the server receives no other data.
_only_looked_up if {
	some e in input.action.effects
	e.verb == "look_up"
	not _sends_more
}

_sends_more if {
	some e in input.action.effects
	e.kind == "network"
	e.egress
	e.verb != "look_up"
}
