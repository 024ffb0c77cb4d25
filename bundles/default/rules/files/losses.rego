package reviewer.spoken

import data.reviewer.scores

# METADATA
# title: A backup is deleted
# custom:
#   id: delete_backup
speaks contains "delete_backup" if {
	"deletes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	e.class == "backup"
	e.verb in {"delete", "discard"}
	not e.exists == "no"
	not _scratch(e)
	not scores.step(e) in {"R1", "R2"}
}

# METADATA
# title: Nearly all of a file goes
# custom:
#   id: file_emptied
speaks contains "file_emptied" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.lost >= data.reviewer.session.emptied_percent
	e.kind == "file_write"
	not _scratch(e)
	not _written_here(e)
	_only_there(e)
}

_scratch(e) if e.location in {"temp", "temp_root", "null"}

_written_here(e) if e.ledger in {"created", "written", "moved_into"}

# In no commit. Of what git was told to leave alone, only what holds settings,
# keys or data is missed.
_only_there(e) if e.git in {"untracked", "dirty"}

_only_there(e) if e.class in {"env_file", "credential", "database", "backup"}
