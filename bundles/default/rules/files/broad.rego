package reviewer.families.files

import data.reviewer.effects

# METADATA
# title: Deletion of a root, home or system directory
# description: places.roots and places.whole list the places.
# scope: document
# related_resources: [https://www.gnu.org/software/coreutils/manual/html_node/rm-invocation.html]
# custom:
#   severity: critical
#   decision: block
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: "This {deletes} {deleted}: a root, home or system directory, or a folder that contains the workspace."
#   remediation: name the one directory inside the workspace that you want to delete
delete_broad if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.location in data.reviewer.places.roots
	effects.gone(e)
}

# The workspace or a system directory is deleted as a whole.
delete_broad if {
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
