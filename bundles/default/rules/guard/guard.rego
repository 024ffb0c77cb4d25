package reviewer.fired

import data.reviewer.scores

# METADATA
# title: Agent instructions changed
# description: Files that decide what agents may do belong to guard_tampering.
# custom:
#   id: agent_instructions
fires contains "agent_instructions" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	e.class == "agent_config"
	not _empty_folder(e)
	not "guard_tampering" in input.findings
}

_empty_folder(e) if {
	e.verb == "create"
	input.action.commands[e.command].name in {"mkdir", "md"}
}

# METADATA
# title: Client settings changed in another folder
# custom:
#   id: agent_settings_elsewhere
fires contains "agent_settings_elsewhere" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	e.guard == "elsewhere"
	not _copied(e)
}

# The session's own settings are copied as they are.
_copied(e) if {
	input.action.commands[e.command].name in {"cp", "rsync", "ditto", "robocopy", "xcopy"}
	some r in input.action.effects
	r.kind == "file_read"
	r.command == e.command
	r.class == "agent_config"
	r.certainty == "exact"
	r.location in {"inside", "home", "self"}
}

# METADATA
# title: CI check weakened
# custom:
#   id: ci_weakened
fires contains "ci_weakened" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.class == "ci_config"
	_weakens(e)
}

_weakens(e) if {
	e.kind == "file_delete"
	not e.ledger == "created"
}

_weakens(e) if {
	e.kind == "file_write"
	some id, _ in input.action.detected
	startswith(id, "ci.")
}

# METADATA
# title: Audit traces removed
# custom:
#   id: trace_removal
fires contains "trace_removal" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	_replaces(e)
	scores.below(e, data.reviewer.guard.traces)
}

_replaces(e) if e.kind == "file_delete"

# Appending removes nothing.
_replaces(e) if {
	e.kind == "file_write"
	not e.verb in {"append", "chmod", "chown", "restrict", "mkdir"}
}
