package reviewer.families.cloud

import data.reviewer.effects

# METADATA
# title: Destruction of infrastructure
# description: >-
#   Covers resources whose deletion takes others with them (a stack, an account, a cluster,
#   everything in a bucket, a backup) and anything marked as production.
# scope: document
# related_resources:
#   - https://attack.mitre.org/techniques/T1485/
#   - https://developer.hashicorp.com/terraform/cli/commands/plan
# custom:
#   severity: critical
#   decision: block
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, ATTACK-T1490, SOC2-CC7.5]
#   message: "This destroys infrastructure or cloud resources: {command}"
#   remediation: show what would be destroyed, with a plan where the tool has one, and let a person do it
#   overridable: [organisation]
infrastructure_delete if {
	# Resources whose deletion takes others with them (a stack, an account, a cluster, everything in a
	# bucket), and anything marked as production.
	"changes" in input.facts
	"network_request" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	effects.ends_service(e)
	effects.reached(e)
	_wide(e)
	not _planned(e)
}

# Volumes on this machine are not at a service, but may belong to production.
infrastructure_delete if {
	"container_wipe" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	effects.wiped(e)
	effects.production(e)
}

# METADATA
# title: Destruction of infrastructure by a tool that can plan it first
# description: >-
#   rewrite.planners lists the tools, and rewrite.destroy_plan sets whether the call runs as
#   a plan instead. Anything marked as production is blocked in any case.
# related_resources:
#   - https://developer.hashicorp.com/terraform/cli/commands/plan
#   - https://developer.hashicorp.com/terraform/cli/commands/destroy
# custom:
#   severity: critical
#   decision: modify
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, SOC2-CC8.1]
#   message: "This destroys a whole stack, and the plan should be reviewed first: {command}"
#   remediation: show the plan (`terraform plan -destroy`) and let a person apply it
infrastructure_plan if {
	"infrastructure_delete" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	effects.ends_service(e)
	_planned(e)
}

# METADATA
# title: Infrastructure change without a reviewed plan
# related_resources:
#   - https://developer.hashicorp.com/terraform/cli/commands/apply
#   - https://developer.hashicorp.com/terraform/tutorials/automation/automate-terraform
# custom:
#   severity: high
#   decision: ask
#   harm: outward
#   tags: [OWASP-ASI02, ATTACK-T1578, SOC2-CC8.1]
#   message: "This changes infrastructure before anyone has seen the plan: {command}"
#   remediation: save a plan (`terraform plan -out FILE`, `pulumi preview`, `cdk diff`), show it, and apply exactly that plan (`terraform apply FILE`)
#   overridable: [organisation, user, project]
infrastructure_apply if {
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
# description: >-
#   Deletes or disables a single resource. On this machine, only services that store data or
#   manage other systems count.
# related_resources:
#   - https://attack.mitre.org/techniques/T1485/
#   - https://genai.owasp.org/
# custom:
#   severity: high
#   decision: ask
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, SOC2-CC8.1]
#   message: "This deletes or disables a resource at a service, and it may not be recoverable: {command}"
#   remediation: list what would be deleted first, and let a person delete it
#   overridable: [organisation, user]
api_delete if {
	# A single resource is asked about. On this machine, only services that store data or manage
	# others count.
	"changes" in input.facts
	"network_request" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	effects.ends_service(e)
	effects.reached(e)
	not effects.comes_back(e)
	not _planned(e)
}

# METADATA
# title: Deletion by an unknown program
# description: >-
#   Nothing is known about the program except its arguments, which read like the delete
#   command of a service client. services.local lists programs that only manage this
#   machine.
# scope: document
# related_resources:
#   - https://genai.owasp.org/
# custom:
#   severity: high
#   decision: ask
#   harm: loss
#   tags: [OWASP-ASI02, ATTACK-T1485]
#   message: "Judging by its arguments, this deletes or disables something, and nothing else is known about the program: {command}"
#   remediation: list what would be deleted first, or ask the user to add the program to services.local if it only manages this machine
#   overridable: [organisation, user, project]
service_delete if {
	# Only the program's arguments are known. Programs that only manage this machine are listed in
	# data.
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "process"
	e.verb in data.reviewer.services.unknown_ends
	e.object != "rows"
	not _own_manager(e)
}

# A tool of a server stops a machine, by the tool's name.
service_delete if {
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
# description: >-
#   Backups, versioning, retention and deletion protection: services.recovery lists the
#   words. What is deleted afterwards cannot be restored.
# related_resources:
#   - https://attack.mitre.org/techniques/T1490/
#   - https://docs.aws.amazon.com/AmazonS3/latest/userguide/Versioning.html
# custom:
#   severity: high
#   decision: ask
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1490, SOC2-CC7.5]
#   message: "This disables a means of recovery (backups, versioning, retention, deletion protection): {command}"
#   remediation: leave it on; explain what it prevents, and let a person delete that one resource
#   overridable: [organisation, user]
recovery_off if {
	"infrastructure_delete" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	effects.ends_service(e)
	effects.reached(e)
	_about(e, data.reviewer.services.recovery)
}

# METADATA
# title: Audit logging disabled
# description: "Audit trails, recorders, detectors and log delivery: services.audit lists the words."
# related_resources:
#   - https://attack.mitre.org/techniques/T1562/008/
#   - https://docs.aws.amazon.com/awscloudtrail/latest/userguide/
# custom:
#   severity: critical
#   decision: block
#   harm: guard
#   tags: [essential, OWASP-ASI10, ATTACK-T1562.008, SOC2-CC7.2]
#   message: "This disables audit logging, the record of who did what: {command}"
#   remediation: leave logging on; if it costs too much, propose a filter to the user
#   overridable: [organisation]
audit_off if {
	"infrastructure_delete" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	effects.ends_service(e)
	effects.reached(e)
	_about(e, data.reviewer.services.audit)
}

# METADATA
# title: Resource exposed to the public
# related_resources:
#   - https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
#   - https://www.cisecurity.org/cis-benchmarks
# custom:
#   severity: high
#   decision: ask
#   harm: exposure
#   tags: [essential, OWASP-ASI03, ATTACK-T1530, SOC2-CC6.6]
#   message: "This lets anyone on the Internet reach or read a resource: {command}"
#   remediation: "give access only to those who need it: one address (--cidr 203.0.113.7/32), one account, or a link that expires (`aws s3 presign URL`)"
#   overridable: [organisation, user]
cloud_public if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "expose"
	effects.reached(e)
	not effects.of_repository(e)
}

# METADATA
# title: Broad access granted
# description: >-
#   Administrator roles, keys and logins, and access to a repository: services.grants lists
#   them. An unknown permission counts too.
# related_resources:
#   - https://attack.mitre.org/techniques/T1098/
#   - https://kubernetes.io/docs/concepts/security/rbac-good-practices/
# custom:
#   severity: high
#   decision: ask
#   harm: hold
#   tags: [essential, OWASP-ASI03, ATTACK-T1098, SOC2-CC6.1]
#   message: "This grants administrator rights or hands out a credential: {command}"
#   remediation: name the one permission that is needed, on the one resource, and let a person grant it
#   overridable: [organisation, user]
access_grant if {
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
# related_resources:
#   - https://attack.mitre.org/techniques/T1584/002/
#   - https://www.rfc-editor.org/rfc/rfc2136
# custom:
#   severity: high
#   decision: ask
#   harm: outward
#   tags: [OWASP-ASI02, ATTACK-T1584.002, SOC2-CC8.1]
#   message: "This changes where a DNS name points, for everyone who uses it: {command}"
#   remediation: show the records before and after (`dig NAME`), lower their TTL first, and let a person change them
#   overridable: [organisation, user]
dns_change if {
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
