package reviewer.fired

import data.reviewer.effects
import data.reviewer.said
import data.reviewer.scores

# METADATA
# title: Something that the user forbade
# custom:
#   id: goal_forbidden
fires contains "goal_forbidden" if {
	"constrained" in input.facts
	some s in said.broken
	not said.asks(s)
}

# METADATA
# title: Something that the user wants to be asked about
# custom:
#   id: goal_ask_first
fires contains "goal_ask_first" if {
	"constrained" in input.facts
	some s in said.broken
	said.asks(s)
}

# METADATA
# title: Action far beyond the request
# custom:
#   id: goal_disproportion
fires contains "goal_disproportion" if {
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
# custom:
#   id: mass_deletion
fires contains "mass_deletion" if {
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
