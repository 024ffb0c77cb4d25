package reviewer.fired

import data.reviewer.scores

# METADATA
# title: Force push to a shared branch
# custom:
#   id: git_force_push_protected
fires contains "git_force_push_protected" if {
	"git_force_push" in input.action.signals
	input.phase == "pre"
	some c in input.action.commands
	c.name in {"git", "hub"}
	"push" in c.sub
	some spec in array.slice(c.operands, 1, count(c.operands))
	some pattern in data.reviewer.git.protected
	glob.match(pattern, ["/"], _pushed(spec))
}

# The branch that a refspec writes to: topic of +HEAD:refs/heads/topic.
_pushed(spec) := trim_prefix(parts[count(parts) - 1], "refs/heads/") if {
	parts := split(trim_prefix(spec, "+"), ":")
}

# METADATA
# title: Uncommitted work discarded
# description: >-
#   Does not fire where nothing would be lost: there is nothing to discard, the session
#   itself created it, git has just stashed it, or the same call copied it first.
# custom:
#   id: git_discard
fires contains "git_discard" if {
	"git_discard" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "discard"
	not scores.step(e) in {"R0", "R1", "R2", "R3"}
	not _copied_before(e)
}

_copied_before(e) if {
	e.certainty == "exact"
	not e.recursive
	some r in input.action.effects
	r.kind == "file_read"
	r.short == e.short
	r.command < e.command
	input.action.commands[r.command].name in {"cp", "copy", "copy-item"}
	some w in input.action.effects
	w.kind == "file_write"
	w.command == r.command
	w.certainty == "exact"
	w.short != e.short
	not _gone_after(w)
}

# A copy that the same call deletes, moves or overwrites does not count.
_gone_after(w) if {
	some other in input.action.effects
	other.kind in {"file_delete", "file_write"}
	other.short == w.short
	other.command > w.command
}

# METADATA
# title: Uncommitted work discarded
# description: One side is checked out of a file that has changes and no conflict.
# custom:
#   id: git_discard
fires contains "git_discard" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "resolve"
	e.git == "dirty"
	not scores.step(e) in {"R0", "R1", "R2", "R3"}
}

# METADATA
# title: Uncommitted work discarded
# description: What is discarded is not named, so all of it may be lost.
# custom:
#   id: git_discard
fires contains "git_discard" if {
	"git_discard" in input.action.signals
	input.phase == "pre"
	not _discards
}

_discards if {
	some e in input.action.effects
	e.verb == "discard"
}
