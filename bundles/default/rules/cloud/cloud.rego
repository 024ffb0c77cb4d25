package reviewer.fired

import data.reviewer.effects

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
	effects.ends_service(e)
	effects.reached(e)
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
	effects.wiped(e)
	effects.production(e)
}

# METADATA
# title: Destruction of infrastructure by a tool that can plan it first
# custom:
#   id: infrastructure_plan
fires contains "infrastructure_plan" if {
	"infrastructure_delete" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	effects.ends_service(e)
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
	effects.ends_service(e)
	effects.reached(e)
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
	effects.ends_service(e)
	effects.reached(e)
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
	effects.ends_service(e)
	effects.reached(e)
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
	effects.reached(e)
	not effects.of_repository(e)
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
	effects.reached(e)
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
	effects.reached(e)
}

_wide(e) if {
	e.verb in {"delete", "remove", "reset"}
	e.recursive
}

_wide(e) if {
	e.verb in {"delete", "remove", "reset"}
	e.object in data.reviewer.services.wide
}

_wide(e) if effects.production(e)

# METADATA
# title: A stack whose tool can plan the deletion instead
# description: If rewriting to a plan is disabled, deleting the stack is a deletion like any other.
_planned(e) if {
	e.object == "stack"
	data.reviewer.rewrite.destroy_plan
	input.action.commands[e.command].name in data.reviewer.rewrite.planners
	not "infrastructure_plan" in data.reviewer.rules.disabled
	not effects.production(e)
}

# One of the words in the object's name is in the list.
_about(e, list) if {
	some part in regex.split(`[^a-z]+`, e.object)
	part in list
}

_far_reaching(e) if e.object in data.reviewer.services.grants

# The permission is not known.
_far_reaching(e) if not e.object
