package reviewer.spoken

# METADATA
# title: A secret leaves the machine
# description: >-
#   A file with secrets is read or moved, and data leaves. The request by which
#   code gets to another machine carries nothing that is read there.
# custom:
#   id: secret_egress
speaks contains "secret_egress" if {
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
# title: A secret leaves the machine
# description: What a store of secrets shows leaves the machine.
# custom:
#   id: secret_egress
speaks contains "secret_egress" if {
	"pipe_to_external" in input.action.signals
	input.phase == "pre"
	_shows_without_file
	not _stays_here
}

# METADATA
# title: Data is sent to another host
# custom:
#   id: pipe_to_external
speaks contains "pipe_to_external" if {
	"pipe_to_external" in input.action.signals
	input.phase == "pre"
	not _stays_here
	not _only_looked_up
}

_shows(e) if e.kind == "file_read"

_shows(e) if _displaced(e)

_away(e) if {
	e.kind == "network"
	e.egress
	_leaves_here(e)
}

# What goes to this machine itself stays here, unless whoever listens may hand it on.
_leaves_here(e) if not e.loopback

_leaves_here(_) if not data.reviewer.hosts.trust_loopback

_takes_along(sent, _) if sent.verb != "exec"

_takes_along(sent, e) if object.get(sent, "host", "") == object.get(e, "host", "")

_shows_without_file if "environment_dump" in input.action.signals

_shows_without_file if {
	"credential_adjacent" in input.action.signals
	not _file_of_secrets
}

# Data is sent to this machine only. Who listens hands them to whoever comes.
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

# A name that is looked up, and nothing beside it: whoever answers learns a name.
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
