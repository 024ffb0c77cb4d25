package reviewer.spoken

import data.reviewer.scores

# METADATA
# title: Force push to a branch of everybody
# custom:
#   id: git_force_push_protected
speaks contains "git_force_push_protected" if {
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
# title: Uncommitted work is thrown away
# description: >-
#   Silent where nothing would be lost: the tree is known to be clean of what is
#   discarded, the session itself made it, or git put it aside just before.
# custom:
#   id: git_discard
speaks contains "git_discard" if {
	"git_discard" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "discard"
	not scores.step(e) in {"R0", "R1", "R2", "R3"}
}

# METADATA
# title: Uncommitted work is thrown away
# description: A side is taken of a file that is in no conflict, and has changed.
# custom:
#   id: git_discard
speaks contains "git_discard" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "resolve"
	e.git == "dirty"
	not scores.step(e) in {"R0", "R1", "R2", "R3"}
}

# METADATA
# title: Uncommitted work is thrown away
# description: What is discarded is not named, so all of it may be at stake.
# custom:
#   id: git_discard
speaks contains "git_discard" if {
	"git_discard" in input.action.signals
	input.phase == "pre"
	not _discards
}

_discards if {
	some e in input.action.effects
	e.verb == "discard"
}

# METADATA
# title: Branches or tags of the remote repository are deleted
# custom:
#   id: git_remote_delete
speaks contains "git_remote_delete" if {
	"git_history_rewrite" in input.action.signals
	input.phase == "pre"
	some c in input.action.commands
	c.name in {"git", "hub"}
	some sub in c.sub
	sub in {"push", "send-pack"}
	_deletes_refs(c)
}

_deletes_refs(c) if {
	some f in c.flags
	regex.match(`^(-[a-zA-Z]*d[a-zA-Z]*|--delete|--mirror|--prune)$`, f)
}

_deletes_refs(c) if {
	some o in c.operands
	regex.match(`^:.`, o)
}
