package reviewer.fired

import data.reviewer.scores

# METADATA
# title: Recursive deletion
# custom:
#   id: prevent_recursive_deletion
fires contains "prevent_recursive_deletion" if {
	"deletes_recursive" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	e.recursive
	not scores.own_host(e) # see delete_elsewhere
	not _can_be_got_back(e)
}

_can_be_got_back(e) if {
	scores.known_path(e)
	scores.in_scope(e)
	scores.step(e) in {"R0", "R1", "R2", "R3"}
}

# A single file has a rule of its own (delete_untracked): -r makes no difference to it.
_can_be_got_back(e) if {
	e.entry == "file"
	scores.known_path(e)
	scores.in_scope(e)
}

# What does not exist cannot be lost.
_can_be_got_back(e) if {
	e.exists == "no"
	scores.in_scope(e)
}

# A temporary directory of the machine; its owner was not recorded. A name of which
# not even the beginning is known may be empty, so the target may be all of it.
_can_be_got_back(e) if {
	e.location == "temp"
	not endswith(e.short, "/?")
}

_can_be_got_back(e) if {
	e.location == "beside"
	_made_by_call(e)
}

# METADATA
# title: Deletion outside the workspace
# custom:
#   id: delete_outside_scope
fires contains "delete_outside_scope" if {
	"deletes" in input.facts
	input.phase == "pre"
	input.session.workspace != ""
	some e in input.action.effects
	e.kind == "file_delete"
	e.location in {"outside", "home", "temp_root", "home_root", "root", "ancestor", "system", "device"}
	not scores.own_host(e) # see delete_elsewhere
	not _not_there(e)
	not scores.own_file(e)
	not scores.cache(e)
	not scores.ordered(e)
}

# METADATA
# title: Deletion of a path outside the workspace, named in a prompt
# description: A prompt can be forged, so this asks.
# custom:
#   id: delete_named
fires contains "delete_named" if {
	"deletes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	scores.ordered(e)
	not _not_there(e)
	not scores.own_file(e)
}

# METADATA
# title: Deletion outside the workspace
# description: Next to a workspace among temporary files, only what the session created may be deleted.
# custom:
#   id: delete_outside_scope
fires contains "delete_outside_scope" if {
	"deletes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	e.location == "beside"
	not _made_here(e)
	not _not_there(e)
}

_made_here(e) if {
	e.ledger == "created"
	scores.known_path(e)
}

_made_here(e) if _made_by_call(e)

# A name that the same call created, such as one from mktemp.
_made_by_call(e) if {
	some w in input.action.effects
	w.kind == "file_write"
	w.verb in {"create", "mkdir"}
	w.command < e.command
	w.short == e.short
	not w.exists == "yes"
}

# No file has that name, or a name that the pattern matches.
_not_there(e) if {
	e.exists == "no"
	not e.recursive
	e.certainty == "exact"
	e.location in {"outside", "home", "beside"}
}

# METADATA
# title: Deletion in a container or virtual machine
# custom:
#   id: delete_elsewhere
fires contains "delete_elsewhere" if {
	"deletes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	scores.own_host(e)
	e.location != "temp"
}

# METADATA
# title: Deletion of an unknown target
# custom:
#   id: delete_unknown_target
fires contains "delete_unknown_target" if {
	"unknown_target" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.certainty in {"unknown", "prefix"}
	e.location == "unknown"
	_destroys(e)
}

_destroys(e) if e.kind == "file_delete"

_destroys(e) if e.verb == "truncate"
