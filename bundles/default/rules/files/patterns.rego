package reviewer.families.files

# METADATA
# title: Several files moved to the same name
# description: >-
#   A pattern matches several files, and the destination folder does not exist: moved one by one, each
#   takes the name of the folder and overwrites the one before. With a trailing slash or -t, which
#   require a folder, nothing is moved at all.
# related_resources: [https://www.gnu.org/software/coreutils/manual/html_node/mv-invocation.html]
# custom:
#   severity: high
#   decision: block
#   harm: loss
#   tags: [OWASP-ASI02, ATTACK-T1485, SOC2-CC6.1]
#   message: "The destination folder does not exist, so each file would take its name and overwrite the one before: {target}"
#   remediation: create the folder first (`mkdir -p DIR`), check that it exists, and end its name with a slash
#   overridable: [organisation, user, project]
move_into_missing if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	e.verb == "move"
	e.exists == "no"
	_of_many(e)
	not _said_to_be_folder(e)
	not _made_meanwhile(e)
	not _next_to_it(e)
	not _each_its_own(e)
}

# The destination is the folder with a pattern in it, or the folder alone.
_of_many(e) if e.certainty == "glob"

_of_many(e) if {
	e.certainty == "exact"
	some away in input.action.effects
	_moves_away(away)
	away.certainty == "glob"
	away.command == e.command
}

# A program reads the names and moves the files one by one.
_of_many(e) if {
	e.certainty == "exact"
	"xargs" in input.action.commands[e.command].via
	some away in input.action.effects
	_moves_away(away)
	away.certainty in {"prefix", "unknown"}
	away.command == e.command
}

_moves_away(e) if {
	e.verb == "move"
	e.kind == "file_delete"
}

_moves_away(e) if e.verb == "rename"

_said_to_be_folder(e) if {
	operands := input.action.commands[e.command].operands
	endswith(operands[count(operands) - 1], "/")
}

# A folder exists there, or above it.
_said_to_be_folder(e) if {
	operands := input.action.commands[e.command].operands
	regex.match(`^(.*/)?\.\.?$`, operands[count(operands) - 1])
}

_said_to_be_folder(e) if {
	some f in input.action.commands[e.command].flags
	regex.match(`^(-[A-Za-z]*t|--target-directory)`, f)
}

# A pattern in the files' own folder: each gets another name there.
_next_to_it(e) if {
	e.certainty == "glob"
	some from in input.action.effects
	from.verb in {"move", "rename"}
	from.certainty == "glob"
	from.command == e.command
	from.target == e.target
	from != e
}

# The name is numbered or computed: only the first one is known.
_each_its_own(e) if {
	some other in input.action.effects
	other.kind == "file_write"
	other.verb == "move"
	other.certainty == "prefix"
	startswith(e.target, other.target)
	_same_form(input.action.commands[e.command], input.action.commands[other.command])
}

_same_form(a, b) if {
	a.name == b.name
	object.get(a, "flags", []) == object.get(b, "flags", [])
}

# An earlier command creates the folder.
_made_meanwhile(e) if {
	some w in input.action.effects
	w.kind == "file_write"
	w.command < e.command
	startswith(concat("", [w.target, "/"]), concat("", [e.target, "/"]))
}

# METADATA
# title: Unquoted brackets in a file name
# description: >-
#   Some projects have folders named [id] or [...slug]; without quotes the shell matches any one of
#   the letters instead. Ranges, and a letter in both cases, are intended patterns.
# related_resources: [https://www.gnu.org/software/bash/manual/html_node/Pattern-Matching.html]
# custom:
#   severity: medium
#   decision: ask
#   harm: loss
#   tags: [OWASP-ASI02, ATTACK-T1485, SOC2-CC6.1]
#   message: "Without quotes, {deleted} is a pattern that matches names other than its own."
#   remediation: put the name in single quotes
#   overridable: [organisation, user, project]
delete_bracketed_name if {
	"deletes_recursive" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	e.recursive
	e.certainty == "glob"
	regex.match(`\[(\.{3}\w+|[a-z_][a-z_0-9]|[A-Za-z_]\w{2,})\]`, e.short)
}
