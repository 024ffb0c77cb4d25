package reviewer.fired

import data.reviewer.effects

# METADATA
# title: Deletion of a root, home or system directory
# description: places.roots and places.whole list the places.
# custom:
#   id: delete_broad
fires contains "delete_broad" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.location in data.reviewer.places.roots
	effects.gone(e)
}

# METADATA
# title: Deletion of a root, home or system directory
# description: The workspace or a system directory is deleted as a whole.
# custom:
#   id: delete_broad
fires contains "delete_broad" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.location in data.reviewer.places.whole
	_whole(e)
}

# Git keeps tracked files, and its own data.
_whole(e) if {
	effects.gone(e)
	_with_all(e)
	not _discarded_here(e)
	not _empty_folders(e)
}

# rmdir and find -empty leave everything that has contents.
_empty_folders(e) if {
	e.location == "self"
	e.certainty == "glob"
	e.verb == "delete"
	e.reversibility == "R3"
}

_with_all(e) if e.recursive

_with_all(e) if {
	effects.displaced(e)
	not _renamed_each(e)
}

_with_all(e) if {
	e.entry == "dir"
	e.location != "self"
}

_discarded_here(e) if {
	e.location == "self"
	e.verb == "discard"
}

# The files of a folder get other names and stay where they are.
_renamed_each(e) if {
	e.verb == "rename"
	e.certainty == "glob"
	e.location == "self"
}
