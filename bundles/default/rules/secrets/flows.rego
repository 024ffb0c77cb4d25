package reviewer.spoken

# METADATA
# title: A secret leaves the machine
# description: >-
#   What is in the words of a command that talks to another host leaves with them,
#   by whatever option: all that a file with secrets holds, or the whole
#   environment. What was picked out of it, and what stands where a client says
#   who asks, may be meant for that host: secret_elsewhere asks.
# custom:
#   id: secret_egress
speaks contains "secret_egress" if {
	input.phase == "pre"
	some f in input.action.flows
	f.what in {"file", "environment"}
	_leaves_here(f)
	not f.part
	not f.login
	not f.image
}

# METADATA
# title: A secret goes to a host that it does not belong to
# custom:
#   id: secret_elsewhere
speaks contains "secret_elsewhere" if {
	input.phase == "pre"
	some f in input.action.flows
	_leaves_here(f)
	not f.own
	not _host_known(f)
	not f.image
	_goes_elsewhere_as(f)
}

_host_known(f) if _listed(f.host)

_goes_elsewhere_as(f) if {
	f.what in {"file", "environment"}
	not _into_store(f)
}

_goes_elsewhere_as(f) if {
	f.what == "store"
	not _signs_in(f)
	not _into_store(f)
}

# To a service a token goes in the open, unless it says who asks.
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

# At the service that a program speaks to anyway.
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

# What a commit says is read by others.
_goes_elsewhere_as(f) if {
	f.what == "variable"
	f.host == "git"
	some pattern in data.reviewer.secrets.variables
	regex.match(pattern, f.name)
}

# A variable whose name does not say whose it is, where a client says who asks:
# there is no telling that it is not for that host.
_unnamed_login(f) if {
	f.login
	some pattern in data.reviewer.secrets.unnamed
	regex.match(pattern, f.name)
}

# A variable is a secret by its name, by the file that sets it, or as far as
# anybody knows after a file with secrets was read.
_secret_variable(f) if f.class

_secret_variable(f) if {
	some pattern in data.reviewer.secrets.variables
	regex.match(pattern, f.name)
}

_secret_variable(_) if input.history.since.secret <= 20

# Secrets are what these subcommands are for.
_into_store(f) if {
	command := input.action.commands[f.command]
	some word in command.sub
	some known in data.reviewer.secrets.stores
	word == known
}
