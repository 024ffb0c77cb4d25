package reviewer.fired

import data.reviewer.effects

# METADATA
# title: Secret exfiltration
# description: >-
#   Values in the arguments of a command that talks to another host leave with them,
#   whatever the option: the whole content of a file with secrets, or the whole
#   environment. A single value, and one where a client identifies itself, may be meant
#   for that host: secret_elsewhere asks.
# custom:
#   id: secret_egress
fires contains "secret_egress" if {
	input.phase == "pre"
	some f in input.action.flows
	f.what in {"file", "environment"}
	effects.leaves_machine(f)
	not f.part
	not f.login
	not f.image
}

# METADATA
# title: Secret sent to a host it does not belong to
# custom:
#   id: secret_elsewhere
fires contains "secret_elsewhere" if {
	input.phase == "pre"
	some f in input.action.flows
	effects.leaves_machine(f)
	not f.own
	not _host_known(f)
	not f.image
	_goes_elsewhere_as(f)
}

_host_known(f) if effects.known_host(f.host)

_goes_elsewhere_as(f) if {
	f.what in {"file", "environment"}
	not _into_store(f)
}

_goes_elsewhere_as(f) if {
	f.what == "store"
	not _signs_in(f)
	not _into_store(f)
}

# A token sent to a service is exposed, unless it authenticates the caller.
_goes_elsewhere_as(f) if {
	f.what == "token"
	contains(object.get(f, "host", ""), ".")
}

_goes_elsewhere_as(f) if {
	f.what == "token"
	not contains(object.get(f, "host", ""), ".")
	not _signs_in(f)
	not _into_store(f)
}

# The host is the service that the program talks to by default.
_signs_in(f) if {
	f.login
	not contains(object.get(f, "host", ""), ".")
}

_goes_elsewhere_as(f) if {
	f.what == "variable"
	contains(object.get(f, "host", ""), ".")
	_secret_variable(f)
	not _unnamed_login(f)
}

# A commit may be read by others.
_goes_elsewhere_as(f) if {
	f.what == "variable"
	f.host == "git"
	some pattern in data.reviewer.secrets.variables
	regex.match(pattern, f.name)
}

# A variable whose name does not show whose secret it is, used to authenticate:
# it may be meant for that host.
_unnamed_login(f) if {
	f.login
	some pattern in data.reviewer.secrets.unnamed
	regex.match(pattern, f.name)
}

# A variable is a secret by its name, by the file that sets it, or possibly because
# a file with secrets was read.
_secret_variable(f) if f.class

_secret_variable(f) if {
	some pattern in data.reviewer.secrets.variables
	regex.match(pattern, f.name)
}

_secret_variable(_) if input.history.since.secret <= 20

# These subcommands are meant for secrets.
_into_store(f) if {
	command := input.action.commands[f.command]
	some word in command.sub
	some known in data.reviewer.secrets.stores
	word == known
}
