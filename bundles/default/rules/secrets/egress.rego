package reviewer.fired

import data.reviewer.effects

# METADATA
# title: Secret exfiltration
# description: >-
#   A file with secrets is read or moved, and data leaves the machine. A request that
#   takes code to another machine does not carry the files that the code reads there.
# custom:
#   id: secret_egress
fires contains "secret_egress" if {
	"network_request" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	e.class in {"credential", "env_file"}
	_shows(e)
	some sent in input.action.effects
	_away(sent)
	_takes_along(sent, e)
}

# METADATA
# title: Secret exfiltration
# description: The output of a secret store leaves the machine.
# custom:
#   id: secret_egress
fires contains "secret_egress" if {
	"pipe_to_external" in input.action.signals
	input.phase == "pre"
	_shows_without_file
	not _stays_here
}

# METADATA
# title: Data sent to another host
# custom:
#   id: pipe_to_external
fires contains "pipe_to_external" if {
	"pipe_to_external" in input.action.signals
	input.phase == "pre"
	not _stays_here
	not _only_looked_up
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
