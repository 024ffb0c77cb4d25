package reviewer.spoken

# METADATA
# title: Somebody may log in here
# description: On this machine; who hands out keys on others is asked there.
# custom:
#   id: login_granted
speaks contains "login_granted" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	some name in data.reviewer.inbound.logins
	some place in _spellings(e)
	endswith(place, concat("", ["/", name, "/"]))
}

# METADATA
# title: A tunnel into this machine
# description: A service elsewhere hands on what comes in.
# custom:
#   id: tunnel
speaks contains "tunnel" if {
	"network_request" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "listen"
	e.egress
}

# METADATA
# title: A tunnel into this machine
# description: A program that connects to another machine opens it on the way.
# custom:
#   id: tunnel
speaks contains "tunnel" if {
	"network_request" in input.action.types
	input.phase == "pre"
	some c in input.action.commands
	c.name in data.reviewer.inbound.hops
	_forwards(c)
}

# The letters before it have no value.
_forwards(c) if {
	some f in c.flags
	regex.match(`^-[46AaCfGgKkMNnqsTtVvXxYy]*[RDw]`, f)
}

# A port of the other side, for all who can reach this machine.
_forwards(c) if {
	some f in c.flags
	regex.match(`^-[46AaCfGgKkMNnqsTtVvXxYy]*L`, f)
	some g in c.flags
	regex.match(`^-[46AaCfGKkMNnqsTtVvXxYy]*g`, g)
}

# METADATA
# title: A tunnel into this machine
# description: The system hands on a port.
# custom:
#   id: tunnel
speaks contains "tunnel" if {
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "system_call"
	e.verb == "set"
	e.target == "portproxy"
}

# METADATA
# title: A listener that others can reach
# custom:
#   id: inbound_listener
speaks contains "inbound_listener" if {
	"network_request" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "listen"
	not e.egress
	not e.target in data.reviewer.inbound.local
}

# METADATA
# title: A listener that others can reach
# description: A folder is shared with other machines.
# custom:
#   id: inbound_listener
speaks contains "inbound_listener" if {
	"changes" in input.facts
	"share" in _system_verbs
}
