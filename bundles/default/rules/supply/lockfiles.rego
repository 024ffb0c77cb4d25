package reviewer.fired

# METADATA
# title: Lock file edited directly
# description: >-
#   By a tool of the agent, or by a program that is told what to write. Changing its
#   permissions or its name, or restoring the committed version, is not an edit.
# custom:
#   id: lockfile_edit
fires contains "lockfile_edit" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	e.location in {"inside", "worktree"}
	_base_name(e.short) in data.reviewer.packages.lockfiles
	not e.verb in {"rename", "move", "copy", "chmod", "chown", "restrict", "discard"}
}

_base_name(path) := parts[count(parts) - 1] if parts := split(path, "/")
