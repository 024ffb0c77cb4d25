package reviewer.fired

# METADATA
# title: Destruction of infrastructure
# description: >-
#   Resources whose deletion takes others with them (a stack, an account, a cluster,
#   everything in a bucket), and anything marked as production.
# custom:
#   id: infrastructure_delete
fires contains "infrastructure_delete" if {
	"changes" in input.facts
	"network_request" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	_ends(e)
	_reached(e)
	_wide(e)
	not _planned(e)
}

# METADATA
# title: Destruction of infrastructure
# description: Volumes on this machine are not at a service, but may belong to production.
# custom:
#   id: infrastructure_delete
fires contains "infrastructure_delete" if {
	"container_wipe" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	_wiped(e)
	_production(e)
}

# METADATA
# title: Destruction of infrastructure by a tool that can plan it first
# custom:
#   id: infrastructure_plan
fires contains "infrastructure_plan" if {
	"infrastructure_delete" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	_ends(e)
	_planned(e)
}

# METADATA
# title: Infrastructure change without a reviewed plan
# custom:
#   id: infrastructure_apply
fires contains "infrastructure_apply" if {
	"confirmation_skipped" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "network"
	e.verb == "send"
	e.object == "stack"
	e.forced
}

# METADATA
# title: Resource deleted or disabled at a service
# description: A single resource is asked about. On this machine, only services that store data or manage others count.
# custom:
#   id: api_delete
fires contains "api_delete" if {
	"changes" in input.facts
	"network_request" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	_ends(e)
	_reached(e)
	not _planned(e)
}

# METADATA
# title: Deletion by an unknown program
# description: Only the program's arguments are known. Programs that only manage this machine are listed in data.
# custom:
#   id: service_delete
fires contains "service_delete" if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "process"
	e.verb in data.reviewer.services.unknown_ends
	e.object != "rows"
	not _own_manager(e)
}

# METADATA
# title: Deletion by an unknown program
# description: A tool of a server stops a machine, by the tool's name.
# custom:
#   id: service_delete
fires contains "service_delete" if {
	"stop" in input.verbs
	input.phase == "pre"
	input.action.name != "code.exec"
	some e in input.action.effects
	e.kind == "process"
	e.verb == "stop"
	e.object
	not _own_manager(e)
}

# An effect without a target is not one of a program that only manages this machine.
_own_manager(e) if e.target in data.reviewer.services.local

# METADATA
# title: Backup or recovery disabled
# custom:
#   id: recovery_off
fires contains "recovery_off" if {
	"infrastructure_delete" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	_ends(e)
	_reached(e)
	_about(e, data.reviewer.services.recovery)
}

# METADATA
# title: Audit logging disabled
# custom:
#   id: audit_off
fires contains "audit_off" if {
	"infrastructure_delete" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	_ends(e)
	_reached(e)
	_about(e, data.reviewer.services.audit)
}

# METADATA
# title: Resource exposed to the public
# custom:
#   id: cloud_public
fires contains "cloud_public" if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "expose"
	_reached(e)
	not _code(e)
}

# METADATA
# title: Broad access granted
# custom:
#   id: access_grant
fires contains "access_grant" if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "network"
	e.verb == "grant"
	_reached(e)
	_far_reaching(e)
}

# METADATA
# title: DNS record changed
# custom:
#   id: dns_change
fires contains "dns_change" if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "network"
	e.verb != "fetch"
	e.object in data.reviewer.services.names
	_reached(e)
}

_ends(e) if {
	e.kind == "network"
	e.verb in data.reviewer.services.ends
}

_reached(e) if {
	not e.loopback
	not _own_cluster(e)
}

_reached(e) if not _near(e)

# These count on this machine too.
_reached(e) if {
	regex.find_all_string_submatch_n(_port, e.target, 1)[0][1] in data.reviewer.services.stores
}

# An effect on another machine is not local, whatever its address is there.
_near(e) if not e.host

_near(e) if strings.any_prefix_match(e.host, data.reviewer.scope.hosts)

# A cluster on this machine, by every context that the command names. A server or
# cluster that it also names takes precedence over a context.
_own_cluster(e) if {
	e.target == "kubernetes"
	named := _values_of(e, `^--(?:kube-)?context=(.*)$`)
	named != set()
	every context in named { strings.any_prefix_match(context, data.reviewer.markers.clusters) }
	_values_of(e, `^(?:-s|--(?:server|cluster|kube-apiserver)=)(.*)`) == set()
}

# The values that an expression finds in the flags of an effect's command.
_values_of(e, expression) := {found[1] |
	some flag in input.action.commands[e.command].flags
	some found in regex.find_all_string_submatch_n(expression, flag, 1)
}

_port := `^(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:[^/?#\\\s]*@)?(?:\[[^\]]*\]|[^/?#\\\s:@]+):([0-9]+)`

_wide(e) if {
	e.verb in {"delete", "remove", "reset"}
	e.recursive
}

_wide(e) if {
	e.verb in {"delete", "remove", "reset"}
	e.object in data.reviewer.services.wide
}

_wide(e) if _production(e)

# METADATA
# title: A stack whose tool can plan the deletion instead
# description: If rewriting to a plan is disabled, deleting the stack is a deletion like any other.
_planned(e) if {
	e.object == "stack"
	data.reviewer.rewrite.destroy_plan
	input.action.commands[e.command].name in data.reviewer.rewrite.planners
	not "infrastructure_plan" in data.reviewer.rules.disabled
	not _production(e)
}

# One of the words in the object's name is in the list.
_about(e, list) if {
	some part in regex.split(`[^a-z]+`, e.object)
	part in list
}

_code(e) if e.object in {"repo", "repository"}

_far_reaching(e) if e.object in data.reviewer.services.grants

# The permission is not known.
_far_reaching(e) if not e.object

# METADATA
# title: An effect concerns production
# description: By its target, or by any word of the command.
_production(e) if {
	some text in array.concat([e[k] | some k in ["target", "host"]], _said(e))
	_marked(text, data.reviewer.markers.production)
}

# An effect that belongs to no command has none (-1).
_said(e) := [word |
	some k in ["sub", "flags", "operands"]
	some word in input.action.commands[e.command][k]
]

_marked(text, words) if {
	some w in regex.split(`[^a-z0-9]+`, lower(text))
	w in words
}
