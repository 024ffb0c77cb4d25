package reviewer.spoken

# METADATA
# title: Several files are moved to one name
# description: >-
#   A pattern stands for several files, and the folder that they are to go into
#   is not there: moved one by one, each takes the name of the folder, and the
#   place of the one before. A trailing slash and -t say that a folder is meant;
#   then nothing is moved at all.
# custom:
#   id: move_into_missing
speaks contains "move_into_missing" if {
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

# The landing is the folder with a pattern in it, or the folder alone.
_of_many(e) if e.certainty == "glob"

_of_many(e) if {
	e.certainty == "exact"
	some away in input.action.effects
	_leaves(away)
	away.certainty == "glob"
	away.command == e.command
}

# One after the other, as a program that reads their names is told to.
_of_many(e) if {
	e.certainty == "exact"
	"xargs" in input.action.commands[e.command].via
	some away in input.action.effects
	_leaves(away)
	away.certainty in {"prefix", "unknown"}
	away.command == e.command
}

_leaves(e) if {
	e.verb == "move"
	e.kind == "file_delete"
}

_leaves(e) if e.verb == "rename"

_said_to_be_folder(e) if {
	operands := input.action.commands[e.command].operands
	endswith(operands[count(operands) - 1], "/")
}

# Where it is, and above it, there is one.
_said_to_be_folder(e) if {
	operands := input.action.commands[e.command].operands
	regex.match(`^(.*/)?\.\.?$`, operands[count(operands) - 1])
}

_said_to_be_folder(e) if {
	some f in input.action.commands[e.command].flags
	regex.match(`^(-[A-Za-z]*t|--target-directory)`, f)
}

# A pattern in the folder that the files are in: each gets another name there.
_next_to_it(e) if {
	e.certainty == "glob"
	some from in input.action.effects
	from.verb in {"move", "rename"}
	from.certainty == "glob"
	from.command == e.command
	from.target == e.target
	from != e
}

# A name is counted up, or made in another way: what is known is the first one.
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

# Something before it puts the folder there.
_made_meanwhile(e) if {
	some w in input.action.effects
	w.kind == "file_write"
	w.command < e.command
	startswith(concat("", [w.target, "/"]), concat("", [e.target, "/"]))
}

# METADATA
# title: A name in brackets is a pattern
# description: >-
#   Folders such as [id] and [...slug] are names in some projects; without quotes
#   the shell takes them for any one of their letters. Ranges, and a letter in
#   both its cases, are patterns that somebody meant.
# custom:
#   id: delete_bracketed_name
speaks contains "delete_bracketed_name" if {
	"deletes_recursive" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	e.recursive
	e.certainty == "glob"
	regex.match(`\[(\.{3}\w+|[a-z_][a-z_0-9]|[A-Za-z_]\w{2,})\]`, e.short)
}
