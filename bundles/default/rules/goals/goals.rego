package reviewer.spoken

# METADATA
# title: Something is changed that a person wants left alone
# custom:
#   id: goal_left_alone
speaks contains "goal_left_alone" if {
	_restrained("leave")
	some c in input.goal.constraints
	c.kind == "leave"
	c.touched
}

# METADATA
# title: Something is deleted, and a person said that nothing is to be
# custom:
#   id: goal_no_delete
speaks contains "goal_no_delete" if {
	_restrained("no_delete")
	"deletes" in input.facts
	some e in input.action.effects
	e.kind == "file_delete"
	not _passing(e)
}

# METADATA
# title: Something is changed, and a person said that nothing is to be
# custom:
#   id: goal_read_only
speaks contains "goal_read_only" if {
	_restrained("read_only")
	_changes_something
}

# METADATA
# title: A freeze is broken
# custom:
#   id: goal_freeze
speaks contains "goal_freeze" if {
	_restrained("freeze")
	some e in input.action.effects
	_seen_by_others(e)
}

# METADATA
# title: Something is changed, and a person asked for a plan
# custom:
#   id: goal_plan_only
speaks contains "goal_plan_only" if {
	_restrained("plan_only")
	_changes_something
}

# METADATA
# title: Something is sent out, and a person said that it is to stay here
# custom:
#   id: goal_local
speaks contains "goal_local" if {
	_restrained("local")
	some e in input.action.effects
	e.kind == "network"
	e.egress
	not e.loopback
}

# METADATA
# title: Far more than what was asked
# custom:
#   id: goal_disproportion
speaks contains "goal_disproportion" if {
	"goal" in input.facts
	"changes" in input.facts
	input.phase == "pre"
	count(input.goal.intents) > 0
	every intent in input.goal.intents {
		intent in data.reviewer.goals.harmless
	}
	some signal in input.action.signals
	signal in data.reviewer.goals.disproportionate
	not "dry_run" in input.action.signals
}

# METADATA
# title: Much is deleted in one session
# custom:
#   id: mass_deletion
speaks contains "mass_deletion" if {
	"deletes" in input.facts
	input.phase == "pre"
	input.session.deleted >= data.reviewer.session.max_deleted
	some e in input.action.effects
	e.kind == "file_delete"
	not _passing(e)
}

_restrained(kind) if {
	"constrained" in input.facts
	input.phase == "pre"
	some c in input.goal.constraints
	c.kind == kind
	c.touched
}

_changes_something if {
	"changes" in input.facts
	some e in input.action.effects
	e.kind in {"file_write", "file_delete", "system_call"}
	not _passing(e)
}

# What comes and goes with the session.
_passing(e) if e.location in {"temp", "null"}

_passing(e) if e.ledger == "created"

_passing(e) if {
	some place in data.reviewer.workspace.allowed
	startswith(e.short, place)
}

_seen_by_others(e) if {
	e.kind == "network"
	e.egress
	not e.loopback
}

_seen_by_others(e) if _loses(e)
