package reviewer.fired

import data.reviewer.effects

# METADATA
# title: Destructive database operation
# custom:
#   id: database_destructive
fires contains "database_destructive" if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	effects.loses_data(e)
	_severe(e)
}

# METADATA
# title: Irreversible database change
# description: >-
#   On this machine, by a tool that rebuilds the database, or in a way that loses no
#   data but opens it to others. A person who has a backup can approve.
# custom:
#   id: database_change
fires contains "database_change" if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	effects.loses_data(e)
	e.verb != "exec"
	not _severe(e)
	not _forced(e)
}

# METADATA
# title: Schema synchronization that accepts data loss
# custom:
#   id: database_forced
fires contains "database_forced" if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	effects.loses_data(e)
	_forced(e)
}

# METADATA
# title: Code run by a database server
# custom:
#   id: database_code
fires contains "database_code" if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	effects.loses_data(e)
	e.verb == "exec"
}

# METADATA
# title: Rows deleted or changed
# custom:
#   id: database_rows
fires contains "database_rows" if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "process"
	e.object == "rows"
	not effects.rehearsal(e)
}

# METADATA
# title: Unread script run against a database
# custom:
#   id: database_unseen
fires contains "database_unseen" if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "process"
	e.object == "script"
	not effects.rehearsal(e)
}

# The tool does not prompt, and its configuration names the database.
_forced(e) if {
	e.verb == "reset"
	e.forced
	not _local(e)
}

_severe(e) if effects.production(e)

_severe(e) if {
	e.verb in data.reviewer.databases.block
	not _local(e)
}

_local(e) if {
	effects.near(e)
	e.loopback
}

_local(e) if {
	effects.near(e)
	startswith(e.target, "sqlite:")
}

# The database cannot be identified: SQL in a program's code, or with no client at all.
_local(e) if {
	startswith(e.target, "sql:")
	not e.verb in data.reviewer.databases.block_unseen
}
