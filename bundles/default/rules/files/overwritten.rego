package reviewer.families.files

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Uncommitted file overwritten
# description: >-
#   A program or a redirection overwrites a file that is not committed and that the session
#   has neither created nor read. Of the files that git ignores, only credentials, environment
#   files, databases, backups and what places.data lists count.
# scope: document
# related_resources: [https://www.gnu.org/software/bash/manual/html_node/Redirections.html]
# custom:
#   severity: medium
#   decision: ask
#   harm: loss
#   tags: [OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: "This overwrites {target}, whose content is not committed."
#   remediation: write to another name, or read the file first (`cp FILE FILE.bak` keeps a copy)
#   overridable: [organisation, user, project]
file_overwritten if {
	# By a program or a server's tool; what the agent's own editing tools write is judged by what is
	# left (file_emptied).
	"changes_files" in input.facts
	input.phase == "pre"
	_program_or_server
	some e in input.action.effects
	e.kind == "file_write"
	e.verb in data.reviewer.lists.overwriting_verbs
	_lost_if_overwritten(e)
	_writes_over(e)
	not _read_before(e)
}

_program_or_server if input.action.name == "code.exec"

# A server's tool that writes one file. Of two, one may only be read (copy).
_program_or_server if {
	"mcp_call" in input.action.types
	count([e | some e in input.action.effects; e.kind == "file_write"; not e.location == "null"]) == 1
}

_lost_if_overwritten(e) if {
	e.exists == "yes"
	e.entry == "file"
	e.certainty == "exact"
	e.location in {"inside", "worktree"}
	not _known_to_session(e)
	_irreplaceable(e)
}

_known_to_session(e) if e.ledger in {"read", "created", "written", "moved_into"}

# In no commit, or changed since. Of ignored files, those that hold data.
_irreplaceable(e) if {
	e.git in {"untracked", "dirty"}
	not e.class == "generated"
}

_irreplaceable(e) if {
	e.git == "ignored"
	e.class in {"env_file", "credential", "database", "backup"}
}

_irreplaceable(e) if {
	e.git == "ignored"
	effects.users_data(e)
}

# A program that overwrites the file it is given, or a shell that redirects output there.
# Others (compilers, formatters, archivers) write their own files, or change a part.
_writes_over(e) if {
	c := input.action.commands[e.command]
	_overwriter(c)
	not _leaves_old(e, c)
}

_writes_over(e) if {
	c := input.action.commands[e.command]
	not _overwriter(c)
	not _is_told_of(c, e)
}

_writes_over(e) if e.command < 0

# Which file is unknown, since the archive's contents are; an option overwrites without asking.
file_overwritten if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	e.verb == "write"
	e.forced
	e.recursive
	e.location in {"inside", "worktree"}
	not e.class == "generated"
	input.action.commands[e.command].name in data.reviewer.places.unpackers
}

_leaves_old(e, c) if {
	e.verb in {"move", "write", "copy"}
	c.name in {"mv", "cp", "ln", "install", "rsync"}
	some f in c.flags
	scores.matches(f, data.reviewer.lists.keeping_options)
}

_leaves_old(e, _) if {
	e.verb == "link"
	not e.forced
}

_is_told_of(c, e) if {
	base := regex.replace(e.short, `^.*/`, "")
	some word in array.concat(object.get(c, "operands", []), object.get(c, "flags", []))
	contains(word, base)
}

# The same call read or copied the content: it is changed, not lost.
_read_before(e) if {
	not e.lost
	some r in input.action.effects
	r.kind == "file_read"
	r.verb != "list"
	r.target == e.target
}

# Each file that a pattern matches is emptied.
file_overwritten if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	e.verb == "truncate"
	e.certainty in {"glob", "prefix"}
	e.location in {"inside", "self", "worktree", "outside", "home"}
	not e.class == "generated"
	not e.git == "clean"
	not e.exists == "no"
}

# METADATA
# title: Ignored or untracked data deleted
# description: Databases, and files in folders that places.data lists, where git ignores or does not track them.
# related_resources: [https://attack.mitre.org/techniques/T1485/]
# custom:
#   severity: high
#   decision: ask
#   harm: loss
#   tags: [OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: "This deletes uncommitted data that cannot be regenerated: {deleted}"
#   remediation: move it to the trash (`reviewer trash FILE`), or ask the user whether it is still needed
#   overridable: [organisation, user, project]
delete_data if {
	# Databases, and folders of files that people put there: git ignores or does not track them, and
	# nothing can regenerate them.
	"deletes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	e.verb in {"delete", "discard"}
	e.exists == "yes"
	e.location in {"inside", "self", "worktree"}
	scores.known_path(e)
	e.git in {"ignored", "untracked"}
	not effects.written_here(e)
	_holds_data(e)
}

_holds_data(e) if e.class == "database"

_holds_data(e) if effects.users_data(e)

_overwriter(c) if c.name in data.reviewer.places.overwriters
