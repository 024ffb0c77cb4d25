package reviewer.fired

# METADATA
# title: Git's own data deleted
# description: By name, or as part of a directory that is deleted.
# custom:
#   id: git_data_delete
fires contains "git_data_delete" if {
	"changes_files" in input.facts
	input.phase == "pre"
	_loses_repository
}

_loses_repository if {
	some e in input.action.effects
	_gone(e)
	not _left_behind(e)
	not _hook_file(e)
	_own_data(e)
}

_own_data(e) if e.class == "git_data"

_own_data(e) if e.repository

_own_data(e) if {
	e.class == "git_hook"
	contains(concat("", [e.target, "/"]), "/.git/")
}

# Lock files that a crashed git leaves behind.
_left_behind(e) if {
	endswith(e.target, ".lock")
	not e.recursive
}

# A single hook file.
_hook_file(e) if {
	e.certainty == "exact"
	not e.recursive
	regex.match(`/\.git/hooks/[^/]+$`, e.target)
}
