package reviewer.families.secrets

import data.reviewer.effects

# METADATA
# title: Secret sent to a host it does not belong to
# description: >-
#   A token, a secret variable, the output of a secret store, or one value of a file with
#   secrets. A token may go to the hosts of its issuer (words flows.owners), to those of
#   hosts.known and to this machine; a variable also to the domain in its name.
# related_resources: ["https://attack.mitre.org/techniques/T1041/"]
# custom:
#   severity: high
#   decision: ask
#   harm: exposure
#   tags: [essential, OWASP-ASI03, ATLAS-AML.T0086, ATTACK-T1041, SOC2-CC6.7]
#   message: "This sends a secret to a host it is not known to belong to: {command}"
#   remediation: send it only to the service that issued it, or let the user list the host in hosts.known
#   overridable: [organisation, user]
secret_elsewhere if {
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
