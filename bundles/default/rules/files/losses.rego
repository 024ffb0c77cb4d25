package reviewer.families.files

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Backup deleted
# description: >-
#   Recognises backups by name: the copies that remain when the data itself is lost. Ignores
#   what this session created, what git tracks and what is in a temporary directory.
# related_resources: [https://attack.mitre.org/techniques/T1490/]
# custom:
#   severity: high
#   decision: ask
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1490, SOC2-CC7.5]
#   message: "This deletes a backup, possibly the last copy: {deleted}"
#   remediation: keep it until a person has checked what it contains, or move it to the trash (`reviewer trash FILE`)
#   overridable: [organisation, user, project]
delete_backup if {
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
# description: >-
#   A tenth or less of the file's content is left, and no commit contains it. Applies to
#   files that the session did not create or write before.
# related_resources: [https://attack.mitre.org/techniques/T1485/]
# custom:
#   severity: high
#   decision: ask
#   harm: loss
#   tags: [OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: "{target} would lose nearly all its content, which is not committed."
#   remediation: read it first and change only the part you mean, or commit or copy it first
#   overridable: [organisation, user, project]
file_emptied if {
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
