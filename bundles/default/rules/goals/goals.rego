package reviewer.families.goals

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Change to something the user wants left alone
# custom:
#   severity: high
#   decision: block
#   harm: forbidden
#   tags: [essential, OWASP-ASI01, SOC2-CC6.1]
#   message: "The user said to leave {place} alone, and this changes it: {command}"
#   remediation: do without it, or ask the user whether that still applies
#   overridable: [organisation, user]
goal_left_alone if {
	"constrained" in input.facts
	_restrained("leave")
}

# METADATA
# title: Deletion after the user said not to delete
# custom:
#   severity: high
#   decision: block
#   harm: forbidden
#   tags: [essential, OWASP-ASI01, SOC2-CC6.1]
#   message: "The user said not to delete anything here: {command}"
#   remediation: leave it, or ask the user whether that still applies
#   overridable: [organisation, user]
goal_no_delete if {
	"constrained" in input.facts
	_restrained("no_delete")
	some e in input.action.effects
	_deletes(e)
	not _passing(e)
}

# METADATA
# title: Change after the user said not to change anything
# description: Temporary files and the agent's own plans do not count as changes.
# custom:
#   severity: high
#   decision: block
#   harm: forbidden
#   tags: [essential, OWASP-ASI01, SOC2-CC6.1]
#   message: "The user said not to change anything, and this makes a change: {command}"
#   remediation: say what you would change, and let the user decide
#   overridable: [organisation, user]
goal_read_only if {
	"constrained" in input.facts
	_restrained("read_only")
	_changes_something
}

# METADATA
# title: Change during a freeze
# description: During a freeze, nothing that others can see may change, such as branches, services or databases.
# custom:
#   severity: critical
#   decision: block
#   harm: forbidden
#   tags: [essential, OWASP-ASI01, SOC2-CC8.1]
#   message: "The user announced a freeze, and this changes something that others see: {command}"
#   remediation: prepare the change on a branch of your own, and let the user decide when to release it
#   overridable: [organisation, user]
goal_freeze if {
	"constrained" in input.facts
	_restrained("freeze")
	some e in input.action.effects
	_seen_by_others(e)
}

# METADATA
# title: Change although the user asked for a plan
# custom:
#   severity: medium
#   decision: ask
#   harm: forbidden
#   tags: [OWASP-ASI01, SOC2-CC8.1]
#   message: "The user asked only for a plan, and this changes something: {command}"
#   remediation: say what you would do, and wait for the user's approval
#   overridable: [organisation, user, project]
goal_plan_only if {
	"constrained" in input.facts
	_restrained("plan_only")
	_changes_something
}

# METADATA
# title: Publication after the user said to keep it local
# custom:
#   severity: high
#   decision: block
#   harm: forbidden
#   tags: [OWASP-ASI01, SOC2-CC6.7]
#   message: "The user said not to push, publish or deploy anything: {command}"
#   remediation: commit it here, and let the user send it
#   overridable: [organisation, user]
goal_local if {
	"constrained" in input.facts
	_restrained("local")
	some e in input.action.effects
	_sent_out(e)
}

# METADATA
# title: Action far beyond the request
# description: >-
#   The user asked to look, explain, fix or test, but this deletes a resource, empties a
#   database, publishes something, or rewrites shared history.
# custom:
#   severity: high
#   decision: ask
#   harm: loss
#   tags: [essential, OWASP-ASI01, OWASP-ASI02, SOC2-CC7.2]
#   message: "This goes far beyond what the user asked for, and it cannot be undone: {command}"
#   remediation: say why it is needed and let the user decide
#   overridable: [organisation, user]
goal_disproportion if {
	"goal" in input.facts
	"changes" in input.facts
	input.phase == "pre"
	count(input.goal.intents) > 0
	every intent in input.goal.intents {
		intent in data.reviewer.goals.harmless
	}
	some harm in _harms
	harm in data.reviewer.goals.disproportionate
}

_harms contains signal if {
	some signal in input.action.signals
	not _only_rehearsed(signal)
}

# Test databases may be emptied.
_only_rehearsed("database_destructive") if {
	count(_databases) > 0
	every e in _databases { effects.rehearsal(e) }
}

# Packages may be published to a registry on this machine.
_only_rehearsed("publish") if {
	count(_sent) > 0
	every e in _sent { e.loopback }
}

_sent contains e if {
	some e in input.action.effects
	e.kind == "network"
	e.egress
}

_databases contains e if {
	some e in input.action.effects
	e.kind == "system_call"
	e.object
}

_harms contains "permission_broad" if effects.opens_widely

_harms contains "git_data_delete" if effects.loses_repository

# METADATA
# title: Mass deletion in one session
# description: The session has already deleted session.max_deleted files or more that it did not create, and this call deletes another.
# custom:
#   severity: high
#   decision: ask
#   harm: loss
#   unattended: allow
#   tags: [OWASP-ASI02, SOC2-CC7.2]
#   message: "This session has deleted {deletions} files that it did not create."
#   remediation: commit the current state, list what else has to be deleted, and let the user check
#   overridable: [organisation, user, project]
mass_deletion if {
	"deletes" in input.facts
	input.phase == "pre"
	input.session.deleted >= data.reviewer.session.max_deleted
	some e in input.action.effects
	e.kind == "file_delete"
	not _passing(e)
}

# A constraint that the action touches.
_restrained(kind) if {
	input.phase == "pre"
	some c in input.goal.constraints
	c.kind == kind
	c.touched
	not _taken_back(c)
}

# A user who asked to change nothing and later orders work on what is there has lifted
# that constraint. A constraint on one thing, a freeze or a plan is not lifted by it.
_taken_back(c) if {
	c.kind == "read_only"
	not c.what
	some intent in c.later
	intent in data.reviewer.goals.resumes
}

_changes_something if {
	some e in input.action.effects
	_changes(e)
	not _passing(e)
}

_changes(e) if e.kind in {"file_write", "file_delete", "system_call"}

_changes(e) if _sent_out(e)

_deletes(e) if e.kind == "file_delete"

# Deletions of tables, volumes and services that cannot be undone.
_deletes(e) if {
	e.kind in {"system_call", "network"}
	e.reversibility in {"R4", "R5"}
	e.verb != "send"
}

# Files that exist only for the session, such as the agent's plans.
_passing(e) if e.location in {"temp", "null"}

_passing(e) if e.ledger == "created"

_passing(e) if scores.allowed_place(e)

_sent_out(e) if {
	e.kind == "network"
	e.egress
	not e.loopback
}

_seen_by_others(e) if _sent_out(e)

_seen_by_others(e) if effects.loses_data(e)
