# METADATA
# title: What a call does, by the acts that people name
# description: |-
#   Whether a call does an act of the table of acts, such as commit or deploy, and whether a statement is about it. What belongs to
#   an act is the setting goals.acts.
# scope: package
package reviewer.acts

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: The statement is about what the call does
# description: >-
#   It names nothing, or something that the call concerns.
# scope: document
about(s) if s.touched

about(s) if {
	some thing in s.objects
	some word in data.reviewer.goals.synonyms[thing]
	some line in effects.lines
	_stands_in(word, line)
}

_stands_in(word, line) if effects.marked(line, {word})

# An address, also with a port.
_stands_in(word, line) if {
	some part in regex.split(`[\s/=,"'\[\]]+`, lower(line))
	startswith(part, word)
	regex.match(`^(:[0-9]+)?$`, substring(part, count(word), -1))
	regex.match(`[.:]`, word)
}

# METADATA
# title: The call does what a statement is about
# scope: document
does(s) if {
	s.act == "change"
	s.changes
	some e in input.action.effects
	_alters(e, s)
	not _discards_nothing
}

does(s) if {
	s.act == "delete"
	s.changes
	some e in input.action.effects
	_deletes(e)
	not passing(e)
}

does(s) if {
	s.act == "read"
	s.objects
	s.changes
}

does(s) if {
	s.act == "only_in"
	s.beyond
	some e in changed_files
	not passing(e)
	not _discards_nothing
}

does(s) if {
	s.act == "freeze"
	some e in input.action.effects
	_seen_by_others(e)
}

does(s) if {
	s.act in data.reviewer.goals.general
	s.act != "change"
	_changes_something
}

does(s) if {
	s.act == "wait"
	some act in data.reviewer.goals.waiting
	_acts(act)
}

does(s) if {
	s.act == "run"
	_runs(s)
}

does(s) if {
	s.act == "command"
	some named in s.objects
	some i, c in input.action.commands
	_is_command(c, split(named, " "))
	_acting(i)
}

# A command that is named with more than its program is meant, also where it only asks another machine for something.
does(s) if {
	s.act == "command"
	some named in s.objects
	contains(named, " ")
	some i, c in input.action.commands
	_is_command(c, split(named, " "))
	some e in input.action.effects
	e.command == i
	e.kind != "file_read"
}

does(s) if {
	s.act == "command"
	some named in s.objects
	some c in input.action.commands
	_is_started_by(c, split(named, " "))
}

# An act that was limited to what the statement names.
does(s) if {
	act := trim_prefix(s.act, "only_")
	act != s.act
	act in object.keys(data.reviewer.goals.acts)
	_acts(act)
	not about(s)
}

# Work that was limited to a target, and a command that names another one.
does(s) if {
	s.act == "only_at"
	not about(s)
	some i, c in input.action.commands
	some list in ["flags", "operands"] # those of a script are operands of what runs it
	some flag in object.get(c, list, [])
	_names_target(flag)
	_acting(i)
}

# So do programs that work on all hosts of a list, where nothing limits them to what was named.
does(s) if {
	s.act == "only_at"
	not about(s)
	some i, c in input.action.commands
	some begin in data.reviewer.goals.acts.only_at.commands
	begins(c, begin)
	_acting(i)
	not _only_shows(split(effects.line(c), " "))
}

# A short option needs a value with a letter: echo -n and xargs -n=1 name no target.
_names_target(flag) if {
	split(flag, "=")[0] in data.reviewer.goals.acts.only_at.words
	regex.match(`^--|=.*[A-Za-z]`, flag)
}

does(s) if {
	s.act != "only_at"
	_acts(s.act)
	about(s)
}

does(s) if {
	_acts(s.act)
	unclear(s)
}

# An option by itself, of any program.
does(s) if {
	s.act == "command"
	some named in s.objects
	startswith(named, "-")
	some i, c in input.action.commands
	own := _written(c)
	_has_word(named, own, {letter | some word in own; some letter in _letters(word)})
	_acting(i)
}

# A command as a text writes it: the program, and all of its words. Short flags may stand together or apart.
_is_command(c, words) if {
	_is_program(c, regex.replace(words[0], `^.*/`, ""))
	own := _written(c)
	not _only_shows(own)
	letters := {letter | some word in own; some name in object.get(data.reviewer.goals.short, word, [word]); some letter in _letters(name)}
	every word in array.slice(words, 1, count(words)) { _has_word(word, own, letters) }
}

# The words of a command, with the values of its options apart, and those of what it starts.
_written(c) := words if {
	started := [line | some other in input.action.commands; c.name in object.get(other, "wrappers", []); line := effects.line(other)]
	line := concat(" ", array.concat([effects.line(c)], started))
	words := array.concat(split(line, " "), regex.split(`[ =]`, line))
}

_is_program(c, name) if _same_word(c.name, name)

# A script, and the program that runs it.
_is_program(c, name) if regex.replace(c.operands[0], `^.*/`, "") == name

# A program that starts the command, and words of it: sudo apt. It has its rights also where it only reads.
_is_started_by(c, words) if {
	words[0] in c.wrappers
	own := split(effects.line(c), " ")
	not _only_shows(own)
	every word in array.slice(words, 1, count(words)) { _has_word(word, own, set()) }
}

_has_word(word, own, _) if {
	some other in own
	_same_word(other, word)
}

_has_word(word, _, letters) if {
	some name in object.get(data.reviewer.goals.short, word, [word])
	regex.match(`^-[A-Za-z]+$`, name)
	every letter in split(trim_left(name, "-"), "") { letter in letters }
}

# The same word, or two names of one program or option (goals.same_words).
_same_word(a, b) if a == b

_same_word(a, b) if {
	some names in data.reviewer.goals.same_words
	a in names
	b in names
}

_letters(name) := split(trim_left(name, "-"), "") if {
	regex.match(`^-[A-Za-z]+$`, name)
} else := []

_only_shows(own) if {
	some word in own
	word in {"--help", "--version", "-h"}
}

# METADATA
# title: The words leave open whether the call does it
# description: >-
#   A prohibition for one branch, and a command that does not name a branch.
# scope: document
unclear(s) if {
	s.act in data.reviewer.goals.implicit
	s.objects
	not about(s)
	some i, c in input.action.commands
	some begin in data.reviewer.goals.acts[s.act].commands
	begins(c, begin)
	_acting(i)
	count(object.get(c, "operands", [])) < 2
}

_acts(act) if {
	some i, _ in input.action.commands
	does_act(i, act)
}

_acts(act) if {
	some signal in data.reviewer.goals.acts[act].signals
	signal in input.action.signals
}

# What a tool does.
_acts(act) if {
	some wanted in data.reviewer.goals.acts[act].effects
	some e in input.action.effects
	not input.action.commands[e.command]
	_is_effect(e, wanted)
}

# METADATA
# title: A command of the call does an act
# description: >-
#   By the setting goals.acts: how it begins, its effects, flags and words. What signals and the name of a tool tell is not
#   known of one command.
# scope: document
does_act(i, act) if {
	c := input.action.commands[i]
	some begin in data.reviewer.goals.acts[act].commands
	begins(c, begin)
	_acting(i)
}

does_act(i, act) if {
	c := input.action.commands[i]
	some begin in data.reviewer.goals.acts[act].with_operands
	begins(c, begin)
	c.operands
	_acting(i)
}

does_act(i, act) if {
	scores.matches(effects.lines[i], data.reviewer.goals.acts[act].expressions)
	_acting(i)
}

does_act(i, act) if {
	c := input.action.commands[i]
	some begin in data.reviewer.goals.acts[act].sends
	begins(c, begin)
	some e in input.action.effects
	e.command == i
	e.egress
}

does_act(i, act) if {
	some wanted in data.reviewer.goals.acts[act].effects
	some e in input.action.effects
	e.command == i
	_is_effect(e, wanted)
}

does_act(i, act) if {
	c := input.action.commands[i]
	some word in array.concat([c.name], effects.arguments(c))
	word in data.reviewer.goals.acts[act].words
	_starts(i)
	not _names_a_branch(c, word)
}

_is_effect(e, wanted) if {
	every key, value in wanted { e[key] == value }
	not e.loopback
}

_names_a_branch(c, word) if {
	c.name in data.reviewer.lists.version_control
	not startswith(word, "-")
}

# A command that only reads, or only shows what it would do, is not the act.
_acting(i) if {
	some e in input.action.effects
	e.command == i
	not _asks(e)
}

_acting(_) if "not_understood" in input.facts

_asks(e) if e.kind == "file_read"

_asks(e) if {
	e.kind == "network"
	e.verb == "fetch"
	not e.egress
}

_starts(i) if {
	some e in input.action.effects
	e.command == i
	e.kind == "process"
	e.verb == "exec"
}

_starts(_) if "not_understood" in input.facts

_acts(act) if {
	parts := regex.split(`[^a-z]+`, lower(regex.replace(input.event.tool, `([a-z])([A-Z])`, "${1}_$2")))
	some words in data.reviewer.goals.acts[act].tools
	every word in words { word in parts }
	startswith(input.event.tool, "mcp__")
}

# METADATA
# title: A command begins with some words
# scope: document
begins(c, begin) if startswith(concat("", [effects.line(c), " "]), concat("", [begin, " "]))

# A flag with its value.
begins(c, begin) if startswith(effects.line(c), concat("", [begin, "="]))

# Programs run, but for those that the setting leaves out. Where tests or a server are named, what runs those.
_runs(s) if {
	not s.objects
	_started
}

_runs(s) if {
	s.objects
	s.touched
	_started
}

# A script whose commands are known.
_runs(s) if {
	s.objects
	s.touched
	some c in input.action.commands
	some way in c.via
	way in {"script", "pipe", "source", "file"}
}

_runs(s) if {
	some thing in s.objects
	thing in data.reviewer.goals.runs.tests
	input.action.check
}

_runs(s) if {
	some thing in s.objects
	thing in data.reviewer.goals.runs.servers
	some c in input.action.commands
	words := array.concat(object.get(c, "sub", []), object.get(c, "operands", []))
	some i, word in words
	word in data.reviewer.goals.runs.serves
	not _runs_another(words, i)
}

# npm run build runs what it names, and no server.
_runs_another(words, i) if {
	words[i] == "run"
	words[i + 1]
}

_runs(s) if {
	some thing in s.objects
	thing in data.reviewer.goals.runs.scripts
	some e in input.action.effects
	e.kind == "process"
	e.verb == "exec"
	regex.match(`[./]`, e.target)
}

_started if {
	some e in input.action.effects
	e.kind == "process"
	e.verb == "exec"
	not e.target in data.reviewer.goals.runs.without
}

_changes_something if {
	some e in input.action.effects
	_changes(e)
	not passing(e)
	not _discards_nothing
}

# Files that are as the last commit has them stay so: git checkout a.go.
_discards_nothing if {
	changing := [e | some e in input.action.effects; _changes(e)]
	count(changing) > 0
	every e in changing { _stays_as_it_is(e) }
}

_stays_as_it_is(e) if {
	e.verb == "discard"
	e.git == "clean"
	e.entry == "file"
	e.certainty == "exact"
	every flag in object.get(input.action.commands[e.command], "flags", []) { flag in {"-q", "--quiet", "-f", "--force"} }
	every o in input.action.commands[e.command].operands {
		endswith(concat("", ["/", e.target]), concat("", ["/", trim_prefix(o, "./")]))
	}
}

_alters(_, s) if s.objects

_alters(e, s) if {
	not s.objects
	_changes(e)
	not passing(e)
}

_changes(e) if e.kind in {"file_write", "file_delete", "system_call"}

_changes(e) if _sent_out(e)

# METADATA
# title: Files that the call changes
# scope: document
changed_files := [e | some e in input.action.effects; e.kind in {"file_write", "file_delete"}]

_deletes(e) if e.kind == "file_delete"

# Deletions of tables, volumes and services that cannot be undone.
_deletes(e) if {
	e.kind in {"system_call", "network"}
	e.reversibility in {"R4", "R5"}
	e.verb != "send"
}

# METADATA
# title: A file that exists for the session only
# description: >-
#   Files that exist only for the session, such as the agent's plans.
# scope: document
passing(e) if e.location in {"temp", "null"}

passing(e) if e.ledger == "created"

passing(e) if scores.allowed_place(e)

_sent_out(e) if {
	e.kind == "network"
	e.egress
	not e.loopback
}

_seen_by_others(e) if _sent_out(e)

_seen_by_others(e) if effects.loses_data(e)
