package reviewer.fired

import data.reviewer.effects

# METADATA
# title: Git's own data deleted
# description: By name, or as part of a directory that is deleted.
# custom:
#   id: git_data_delete
fires contains "git_data_delete" if {
	"changes_files" in input.facts
	input.phase == "pre"
	effects.loses_repository
}
