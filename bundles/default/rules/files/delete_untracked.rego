package reviewer.families.files

import data.reviewer.scores

# METADATA
# title: Deletion of an untracked or changed file
# description: >-
#   git neither tracks nor ignores it, and this session did not create it; or it has uncommitted
#   changes that this session did not make. What is moved to the trash is not lost.
# related_resources: [https://specifications.freedesktop.org/trash-spec/latest/]
# custom:
#   severity: medium
#   decision: modify
#   harm: loss
#   tags: [OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: "This {deletes} files whose content is not committed: {deleted}"
#   remediation: move it to the trash (`reviewer trash FILE`), where a person can restore it
#   overridable: [organisation, user, project]
delete_untracked if {
	"deletes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	e.verb != "trash"
	_only_copy(e)
}

_only_copy(e) if {
	e.exists == "yes"
	e.entry == "file"
	e.location in {"inside", "self", "worktree"} # self: what a pattern stands for there
	scores.known_path(e)
	not _kept(e)
}

# Git has its content or ignores it, a tool can build it again, or this session created or changed it.
_kept(e) if e.git in {"clean", "ignored"}

_kept(e) if {
	e.git == "dirty"
	e.ledger in {"created", "written", "moved_into"}
}

_kept(e) if e.class == "generated"

_kept(e) if e.ledger == "created"
