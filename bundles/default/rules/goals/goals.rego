package reviewer.families.goals

import data.reviewer.effects
import data.reviewer.said
import data.reviewer.scores

# METADATA
# title: Something that the user forbade
# description: >-
#   The user's prompt forbids this act (change, delete, commit, push, install and others), and no later prompt orders
#   or permits it. An order is for one act. Temporary files and the agent's own plans do not count as changes.
# custom:
#   severity: high
#   decision: block
#   harm: forbidden
#   tags: [essential, OWASP-ASI01, SOC2-CC6.1]
#   message: "{said}, and this would {act}: {command}"
#   remediation: do without it, or ask the user whether that still applies
#   overridable: [organisation, user]
goal_forbidden if {
	"constrained" in input.facts
	some s in said.broken
	not said.asks(s)
}

# METADATA
# title: Something that the user wants to be asked about
# description: >-
#   The user's prompt wants a question before this act, or does not say clearly whether it forbids this call.
# custom:
#   severity: medium
#   decision: ask
#   harm: forbidden
#   tags: [essential, OWASP-ASI01, SOC2-CC6.1]
#   message: "{said}; this would {act}, so the user has to agree: {command}"
#   remediation: say what you would do, and wait for the user's answer
#   overridable: [organisation, user]
goal_ask_first if {
	"constrained" in input.facts
	some s in said.broken
	said.asks(s)
}

# METADATA
# title: Something that an instruction file forbids
# description: >-
#   A file such as CLAUDE.md forbids this act, and it is the person's own file or unchanged in version control. An order
#   or a permission of the person is for one act.
# custom:
#   severity: high
#   decision: block
#   harm: forbidden
#   limit: true
#   tags: [OWASP-ASI01, SOC2-CC6.1]
#   message: "{instruction}, and this would {instructed}: {command}"
#   remediation: do without it, or ask the user whether it applies here
#   overridable: [organisation, user, project]
instruction_forbidden if {
	"constrained" in input.facts
	some s in said.broken_in_files
	not said.asks(s)
}

# METADATA
# title: Something that an instruction file wants a question about
# description: >-
#   A file such as CLAUDE.md wants a question before this act, or forbids it and is neither the person's own nor unchanged
#   in version control.
# custom:
#   severity: medium
#   decision: ask
#   harm: forbidden
#   limit: true
#   tags: [OWASP-ASI01, SOC2-CC6.1]
#   message: "{instruction}; this would {instructed}, so the user has to agree: {command}"
#   remediation: say what you would do, and wait for the user's answer
#   overridable: [organisation, user, project]
instruction_asks if {
	"constrained" in input.facts
	some s in said.broken_in_files
	said.asks(s)
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

# Test databases may be emptied, and those that the session made.
_only_rehearsed("database_destructive") if {
	count(_databases) > 0
	every e in _databases { _for_trial(e) }
}

# Packages may be published to a registry on this machine.
_only_rehearsed("publish") if {
	count(_sent) > 0
	every e in _sent { e.loopback }
}

# In a cluster, what its controllers make again.
_only_rehearsed(signal) if {
	signal in {"infrastructure_delete", "container_wipe"}
	ended := [e | some e in input.action.effects; effects.ends_service(e)]
	count(ended) > 0
	every e in ended { effects.comes_back(e) }
	every e in input.action.effects { not effects.wiped(e) }
}

# Volumes that their names mark as test resources.
_only_rehearsed("container_wipe") if {
	wiped := [e | some e in input.action.effects; effects.wiped(e)]
	count(wiped) > 0
	every e in wiped { effects.wiped_for_tests(e) }
}

_for_trial(e) if effects.rehearsal(e)

_for_trial(e) if effects.made_here(e)

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

# Files that exist only for the session, such as the agent's plans.
_passing(e) if e.location in {"temp", "null"}

_passing(e) if e.ledger == "created"

_passing(e) if scores.allowed_place(e)
