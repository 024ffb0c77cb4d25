package reviewer.fired

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Backup deleted
# custom:
#   id: delete_backup
fires contains "delete_backup" if {
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
# title: File nearly emptied
# custom:
#   id: file_emptied
fires contains "file_emptied" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.lost >= data.reviewer.session.emptied_percent
	e.kind == "file_write"
	not _scratch(e)
	not effects.written_here(e)
	_only_there(e)
}

_scratch(e) if e.location in {"temp", "temp_root", "null"}

# In no commit. Of ignored files, only those with settings, keys or data count.
_only_there(e) if e.git in {"untracked", "dirty"}

_only_there(e) if e.class in {"env_file", "credential", "database", "backup"}

_only_there(e) if {
	e.git == "ignored"
	effects.users_data(e)
}
