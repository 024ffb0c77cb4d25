# METADATA
# title: What the person said
# description: |-
#   Which prohibitions of the person's prompts a call breaks, and which of their orders and permissions
#   it may use. What belongs to an act is the setting goals.acts.
# scope: package
package reviewer.said

import data.reviewer.acts
import data.reviewer.effects
import data.reviewer.requested
import data.reviewer.scores

# METADATA
# title: Prohibitions that the call breaks
# description: The latest comes first.
broken := [s | some s in _latest_first; not s.from; _breaks(s)] if {
	"constrained" in input.facts
	input.phase == "pre"
} else := []

# METADATA
# title: Prohibitions of instruction files that the call breaks
# description: In the order of the files and lines.
broken_in_files := [s | some s in input.goal.statements; s.from; s.kind == "forbids"; _breaks(s)] if {
	"constrained" in input.facts
	input.phase == "pre"
} else := []

# METADATA
# title: Prohibitions that need a question, not a denial
# description: The person wants to be asked, or the words do not say clearly whether they are about this call.
# scope: document
asks(s) if s.until in data.reviewer.goals.asks

asks(s) if acts.unclear(s)

# METADATA
# title: An order or a permission covers an act
# description: One that names objects covers only them.
allows(act) if {
	some s in _permissions
	s.act == act
	acts.about(s)
}

# METADATA
# title: An order or a permission of an act names one of some words
# scope: document
names(act, words) if {
	some s in _permissions
	s.act == act
	some o in s.objects
	lower(o) in words
}

# METADATA
# title: An order or a permission covers an act, and the call is about none but its numbers
# scope: document
allows_exactly(act) if {
	some s in _permissions
	s.act == act
	acts.about(s)
	requested.only_its_numbers(s)
}

# METADATA
# title: An order or a permission answers what a rule asks
# description: >-
#   It names the act and the thing, and the call does it to nothing else. Which rules an act answers is the
#   setting goals.answers: none about reviewer, secrets, closed places, keys, roles and agents' settings.
# scope: document
answers(r) if {
	not r.firm
	some s in _permissions
	r.id in data.reviewer.goals.answers[s.act]
	_exactly(s)
}

# Work on a machine, a device or a folder that the person named.
answers(r) if requested.answers(r)

_exactly(s) if s.act in data.reviewer.goals.answers_unnamed

# A message: the person wrote all of it, and to whom.
_exactly(s) if {
	s.act == "speak"
	startswith(input.event.tool, "mcp__")
	values := [v | walk(input.event.args, [_, v]); is_string(v)]
	count(values) > 1
	every v in values { _written(v, s.objects) }
}

# The same by one request whose data are those words, and nothing else. The service may be what the person named.
_exactly(s) if {
	s.act == "speak"
	count(input.action.commands) == 1
	every e in input.action.effects {
		e.kind == "network"
		not contains(e.target, "?")
	}
	flags := input.action.commands[0].flags
	every flag in flags { scores.matches(flag, data.reviewer.goals.sends) }
	values := [v | some flag in flags; some v in _sent_values(flag)]
	count(values) > 0
	every v in values { _written(v, s.objects) }
	every o in s.objects { _sends_object(o, values) }
}

_sends_object(o, values) if o in values

_sends_object(o, values) if trim_prefix(o, "#") in values

_sends_object(o, _) if {
	some e in input.action.effects
	lower(o) in split(regex.replace(e.target, `^[a-z]+://|[/?].*`, ""), ".")
}

_sent_values(flag) := values if {
	some pattern in data.reviewer.goals.sends
	text := regex.find_all_string_submatch_n(pattern, flag, 1)[0][1]
	values := [v | walk(_parsed(text), [_, v]); is_string(v)]
}

# A JSON document, or name=value.
_parsed(text) := json.unmarshal(text) if {
	json.is_valid(text)
} else := substring(text, indexof(text, "=") + 1, -1)

_exactly(s) if {
	s.act != "speak"
	s.objects
	_concerns(s)
	not _changes_more(s)
	_stays_within(s)
	every e in _ended { _ends_named(e, s.objects) }
	every e in _lost { _loses_named(e, s.objects) }
}

_changes_more(s) if {
	s.beyond
	not _only_logs(s)
}

# What starts again writes to a log.
_only_logs(s) if {
	s.act == "process"
	count(acts.changed_files) > 0
	every e in acts.changed_files { acts.passing(e) }
}

_concerns(s) if acts.about(s)

# Processes that the call names otherwise.
_concerns(s) if {
	s.act == "process"
	count(_ended) > 0
}

# All that stays after the session is the act itself, where the setting goals.answers_acting wants that.
_stays_within(s) if not s.act in data.reviewer.goals.answers_acting

_stays_within(s) if {
	acts.does(s)
	every e in _staying {
		_does_it(s.act, e.command)
		_named_or_itself(e, s.objects)
	}
	every e in _started_later { _is_named(e, s.objects) }
}

_written(v, objects) if v in objects

_written(v, objects) if sprintf("#%s", [v]) in objects

_staying := [e | some e in input.action.effects; e.persistence]

# What a schedule starts is not started by the call.
_started_later := [e |
	some e in input.action.effects
	e.verb == "exec"
	count(object.get(input.action.commands[e.command], "via", [])) > 0
]

_named_or_itself(e, _) if e.target == input.action.commands[e.command].name

_named_or_itself(e, objects) if _is_named(e, objects)

_is_named(e, objects) if {
	some o in objects
	endswith(concat("", ["/", e.target]), concat("", ["/", o]))
}

_does_it(act, i) if {
	some begin in data.reviewer.goals.acts[act].commands
	acts.begins(input.action.commands[i], begin)
}

_ended := [e | some e in input.action.effects; effects.ends_process(e)]

_ends_named(e, objects) if e.target in objects

_ends_named(e, objects) if sprintf("pid %s", [e.target]) in objects

# A port, with a program that ends what listens there.
_ends_named(e, objects) if {
	input.action.commands[e.command].name in data.reviewer.processes.by_port
	regex.replace(e.target, `^:|/(tcp|udp)$`, "") in objects
}

# A process that the session looked up by the port.
_ends_named(e, objects) if {
	some known in input.session.started
	known.listed
	e.target in known.processes
	some port in objects
	regex.match(`^[0-9]{2,5}$`, port)
	_lists_listeners(known.line, port)
}

# Nothing but lists of what listens on the port: another command could print the number of any process.
_lists_listeners(line, port) if {
	commands := [trim_space(c) | some c in regex.split(`[;&|()$]+`, line); trim_space(c) != ""]
	some c in commands
	_lists_port(c, port)
	every c in commands { _lists_only(c, port) }
}

_lists_only(c, port) if _lists_port(c, port)

_lists_only(c, _) if regex.match(`^ps( -[a-z]+| [a-z,=]+)*$`, c)

_lists_port(c, port) if {
	regex.match(`^lsof( -[tinP]+| -sTCP:LISTEN| (-i)?(tcp|TCP)?:[0-9]+| -[tnP]*i(tcp|TCP)?:[0-9]+)+$`, c)
	contains(c, " -sTCP:LISTEN")
	ports := {n | some n in regex.find_n(`[0-9]+`, c, -1)}
	ports == {port}
}

_lists_port(c, port) if c == sprintf("fuser %s/tcp", [port])

_lost := [e | some e in input.action.effects; _loses(e)]

_loses(e) if effects.loses_data(e)

_loses(e) if effects.wiped(e)

# A database of the usual server on this machine. Another one may have one of the same name.
_loses_named(e, objects) if {
	e.verb == "drop"
	e.object == "database"
	not e.server
	not e.host
	not effects.production(e)
	some name in objects
	regex.replace(e.target, `^[a-z]+:///`, "") == name
}

_loses_named(e, objects) if {
	e.verb == "wipe"
	e.object == "volume"
	not e.host
	every volume in input.action.commands[e.command].operands { volume in objects }
}

# METADATA
# title: Acts for which the call uses a permission that counts once
# description: A permission for a named thing is not used up, where the act can hardly be done to it twice.
uses contains s.act if {
	some s in _lifting
	_once(s)
	acts.does(s)
	not _lasts(s)
}

_once(s) if not s.until

_once(s) if _unclear_permission(s)

# A message that the person dictated is sent once.
uses contains s.act if {
	some s in _lifting
	s.act == "speak"
	not s.until
	_exactly(s)
}

# METADATA
# title: A sentence of the person, as a denial quotes it
quote(s) := concat(" ", array.concat([sprintf("You said: \"%s\"", [_short(s.text)])], _number(s))) if {
	s.text
} else := concat(" ", array.concat(["You said so"], _number(s)))

# A text that nobody typed can forbid too, and has no number.
_number(s) := [sprintf("(prompt %d)", [s.prompt])] if {
	s.prompt > 0
} else := []

# METADATA
# title: A sentence of an instruction file, as a denial quotes it
quote_of_file(s) := sprintf("%s says: \"%s\"", [s.from, _short(s.text)]) if {
	s.text
} else := sprintf("%s says so", [s.from])

# METADATA
# title: The act of a statement, in words
named(s) := name if {
	name := data.reviewer.goals.names[s.act]
} else := sprintf("%s elsewhere", [data.reviewer.goals.names[trim_prefix(s.act, "only_")]]) if {
	startswith(s.act, "only_")
} else := s.act

_short(text) := text if {
	count(text) <= 160
} else := concat("", [substring(text, 0, 159), "…"])

_latest_first := array.reverse([s | some s in input.goal.statements; s.kind == "forbids"])

_lifting := [s | some s in input.goal.statements; s.kind in {"orders", "permits"}] if {
	"permitted" in input.facts
	input.phase == "pre"
} else := []

# Not all words of some permissions were understood. They lift what was forbidden, and answer no rule.
_permissions := [s | some s in _lifting; not _unclear_permission(s)]

_unclear_permission(s) if s.until in data.reviewer.goals.asks

_breaks(s) if {
	acts.does(s)
	not _revoked(s)
	not _permitted(s)
}

# A later order or permission of the same act. Who was to wait, or to change nothing, may do what is ordered.
_permitted(s) if {
	some p in _lifting
	p.prompt >= s.prompt
	_answers(p, s)
	acts.about(p)
}

# A file that may be changed besides those that changes were limited to.
_permitted(s) if {
	s.act == "only_in"
	some p in _lifting
	p.act == "change"
	p.objects
	p.prompt >= s.prompt
	every e in acts.changed_files { _passing_or_in(e, array.concat(s.objects, p.objects)) }
}

_passing_or_in(e, _) if acts.passing(e)

_passing_or_in(e, objects) if {
	some o in objects
	_in_object(object.get(e, "short", e.target), trim_suffix(o, "/"))
}

_in_object(path, o) if trim_prefix(path, "./") == trim_prefix(o, "./")

_in_object(path, o) if endswith(path, concat("", ["/", o]))

_in_object(path, o) if startswith(path, concat("", [o, "/"]))

_in_object(path, o) if contains(path, concat("", ["/", o, "/"]))

_answers(p, s) if p.act == s.act

# An order for more than an act was limited to.
_answers(p, s) if s.act == sprintf("only_%s", [p.act])

# What the act cannot be done without (goals.needs), by no other command of the call.
_answers(p, s) if {
	s.act in data.reviewer.goals.needs[p.act]
	acts.does(p)
	every i, _ in input.action.commands { _only_with(i, s.act, p.act) }
}

_only_with(i, _, act) if acts.does_act(i, act)

_only_with(i, need, _) if not acts.does_act(i, need)

# Before it is pushed, a tag publishes nothing.
_answers(p, s) if {
	s.act == "release"
	p.act == "tag"
	acts.does(p)
	every e in input.action.effects { not e.egress }
}

# Others see a release, and get its tag, once it is published.
_answers(p, s) if {
	s.act in {"release", "tag"}
	requested.only_drafts(p)
}

# A command that a file forbids, where the person names the program.
_answers(p, s) if {
	s.act == "command"
	acts.does(p)
	some named in s.objects
	regex.match(sprintf(`(^|[^\w-])%s([^\w-]|$)`, [regex.replace(split(named, " ")[0], `[^\w-]`, ".")]), lower(p.text))
}

_answers(p, s) if {
	s.act in data.reviewer.goals.general
	not s.objects
	acts.does(p)
}

# Work on what is there, ordered later, revokes that nothing is to be changed.
_revoked(s) if {
	s.act in data.reviewer.goals.revoked_by_work
	not s.objects
	not s.never
	some intent in s.later
	intent in data.reviewer.goals.resumes
}

# A place outside the one where changes were in order, and that the person named with later work.
_revoked(s) if {
	s.act == "only_in"
	some intent in s.later
	intent in data.reviewer.goals.resumes
	every e in acts.changed_files { e.named }
}

_lasts(s) if {
	s.objects
	s.act in data.reviewer.goals.named_lasts
}
