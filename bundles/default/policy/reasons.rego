# METADATA
# title: Reasons
# description: >-
#   Texts for a decision: why, what would be safer, and what the agent is told.
#   All texts are templates in data; a placeholder is {name}.
# scope: package
package reviewer.reasons

import data.reviewer.effects
import data.reviewer.families.execution
import data.reviewer.families.workspace
import data.reviewer.fired
import data.reviewer.intervention
import data.reviewer.outcome
import data.reviewer.said
import data.reviewer.scores

_texts := data.reviewer.messages

# METADATA
# title: The primary reason
primary := _texts.disabled if {
	not data.reviewer.enabled
	fired.rules == []
} else := _fill(_texts.allowed_by_person, {"{by}": object.get(input.session, "allowed_by", "a person")}) if {
	outcome.allowed_by_person
} else := all[0] if {
	all != []
} else := _texts.allowed

# METADATA
# title: All reasons
# description: In the order risk, rationality, side effects, rules.
all := array.flatten([_scores, _effects, _rules])

# METADATA
# title: There is nothing to report
# description: The common case, and cheap to detect.
silent if {
	outcome.quiet
	scores.score < data.reviewer.risk.risk_threshold
	scores.rationality_level != "low"
	scores.worst < data.reviewer.side_effects.reason_from
	not outcome.first_time_pardon
	data.reviewer.enabled
}

# The objections of the scores. If neither is bad enough by itself, their cell in the
# matrix is the reason, also for a warning that was waived.
_scores := objections if {
	objections := array.concat(_risk, _rationality)
	objections != []
} else := [_matrix] if {
	outcome.objected
} else := []

_matrix := _fill(_texts.matrix, {"{risk}": scores.level, "{rationality}": scores.rationality_level})

_risk := [_fill(_texts.high_risk, {"{factors}": _risk_factors})] if {
	input.phase == "pre"
	scores.score >= data.reviewer.risk.risk_threshold
} else := []

_risk_factors := concat(", ", array.concat(_base_factor, scores.risk.factors))

_base_factor := [concat("+", input.action.types)]

_rationality := [_fill(_texts.low_rationality, {
	"{issues}": _progress,
	"{suggestions}": concat("; ", scores.rationality_suggestions),
})] if {
	input.phase == "pre"
	scores.rationality_level == "low"
} else := []

_progress := concat(", ", array.concat(scores.rationality.issues, [word | word := scores.progression; not word in scores.rationality.issues]))

_effects := [_fill(_texts.side_effects, {
	"{kinds}": concat(", ", scores.kinds),
	"{severity}": scores.side_effects.severity,
})] if {
	input.phase == "pre"
	scores.worst >= min([data.reviewer.side_effects.reason_from, data.reviewer.side_effects.critical])
} else := []

_rules := [_message(r) | some r in fired.rules]

_message(r) := _fill(r.message, _facts_of(r))

_facts_of(r) := object.union(_facts, {
	"{rule}": r.id,
	"{details}": object.get(input.finding, [r.id, "details"], ""),
})

# METADATA
# title: How the scores led to the decision
explanation := concat("; ", array.flatten([_matrix, _cap, _limit, _pardon]))

_cap := [_fill(_texts.soft_ceiling, {"{decision}": outcome.own})] if {
	outcome.capped
} else := []

_limit := [_fill(_texts.without_harm, {"{decision}": outcome.own})] if {
	outcome.limited
} else := []

_pardon := [_texts.first_time] if {
	outcome.first_time_pardon
} else := []

# METADATA
# title: Safer ways
# description: Those of the rules that fired, else those of the kinds of effects; and a known cheaper way.
alternatives := [] if {
	outcome.decision == "allow"
} else := _ways if {
	_ways != []
} else := [_texts.no_alternative]

_ways := array.concat(_instead, [way | some way in scores.cheaper; not way in _instead])

_instead := _safer if {
	_safer != []
} else := scores.mitigations

_safer := [way | some i, way in _remediations; not way in array.slice(_remediations, 0, i)]

_remediations := [_remediation(r) | some r in fired.rules; r.remediation != ""]

_remediation(r) := _fill(r.remediation, object.union(_facts, {"{rule}": r.id}))

# METADATA
# title: The rules that fired, as they are recorded
results := [_recorded(r) | some r in fired.rules]

_recorded(r) := object.union_n([
	{"id": r.id, "decision": r.decision, "severity": r.severity, "message": _message(r)},
	_mode(r),
	_harm(r),
	_limit_of(r),
])

_harm(r) := {"harm": object.get(r, "harm", "closed")} if {
	r.decision in {"block", "ask", "modify"}
} else := {}

_limit_of(r) := {"limit": true} if {
	r.limit
	r.decision in {"block", "ask", "modify"}
} else := {}

_mode(r) := {"enforcement": r.mode} if {
	r.mode != "enforce"
} else := {}

# METADATA
# title: What the agent is told
# description: >-
#   Text for the answer, which may be milder than the decision.
#   "{id}" stands for the record's id, which only the log knows.
text := "" if {
	outcome.enforced == "allow"
} else := _told(_template)

# METADATA
# title: What the agent is told if its call cannot run in a safer form
# description: '"{why}" stands for the obstacle.'
otherwise := _told(_texts.otherwise_denial) if {
	outcome.otherwise == "block"
} else := _told(_texts.otherwise_question)

# METADATA
# title: What the agent is told if the files that its call destroys cannot be saved
# description: '"{why}" stands for the reason.'
unsaved := _fill(template, object.union(_words, {
	"{reason}": brief(outcome.met[0]),
	"{rule}": outcome.met[0].id,
	"{alternative}": _remediation(outcome.met[0]),
	"{person}": _texts.person_may,
})) if {
	template := _unsaved_texts[outcome.unsaved]
}

_unsaved_texts := {"ask": data.reviewer.save.texts.asked, "block": data.reviewer.save.texts.denied}

# METADATA
# title: What the person is told instead
# description: >-
#   Where the agent shows people a text of their own. It names the command that lifts a stop, which
#   the agent's text never does; "{session}" stands for the session.
# scope: document
default notice := ""

notice := _fill(_stopped_texts.notice, object.union(_words, _stop_words)) if {
	_stopped_prompt
	outcome.enforced != "allow"
}

notice := _told(intervention.notice) if {
	not _stopped_prompt
	outcome.enforced != "allow"
}

_stopped_prompt if {
	input.session.stopped
	input.phase == "prompt"
}

_stopped_texts := _texts.stopped.aborted if {
	input.session.aborted
} else := _texts.stopped.again if {
	input.session.stop_heard
} else := _texts.stopped.first

_stop_words := {"{when}": _when, "{cause}": _cause, "{reads}": _reads_text, "{reason}": trim_suffix(_stop_reason, ".")}

# An agent reads the words of a stop only if a person signed it, or if policy stopped the session.
_stop_reason := data.reviewer.interventions.texts.unsigned if {
	input.session.stop_unsigned
} else := object.get(input.session, "stop_reason", "no reason given")

_stop_by := data.reviewer.interventions.texts.unsigned_by if {
	input.session.stop_unsigned
} else := object.get(input.session, "stop_by", "a person")

_cause := _fill(_texts.stopped.cause, {
	"{rule}": input.session.stop_rule,
	"{harm}": _harm_text,
}) if {
	input.session.stop_rule
} else := ""

# A layer's own text for an earlier word of the harm comes first.
_harm_text := array.concat(_former_texts, [object.get(_texts.stopped.harms, _stop_harm, _texts.stopped.no_harm)])[0]

_former_texts := [text |
	some word, text in _texts.stopped.harms
	fired.counted_as(word) == _stop_harm
	word != _stop_harm
]

_stop_harm := fired.counted_as(object.get(input.session, "stop_harm", ""))

_reads_text := _texts.stopped.reads if {
	data.reviewer.interventions.stops.reads != []
	not input.session.aborted
} else := ""

_when := _ago(floor(object.get(input.session, "stop_ms", 0) / 60000))

_ago(minutes) := _texts.stopped.now if {
	minutes < 2
} else := _fill(_texts.stopped.minutes, {"{count}": sprintf("%d", [minutes])}) if {
	minutes < 120
} else := _fill(_texts.stopped.hours, {"{count}": sprintf("%d", [floor(minutes / 60)])})

_told(template) := _fill(template, object.union(_words, _stop_words)) if {
	_stopped_prompt
} else := _fill(template, object.union(_words, {"{reason}": intervention.chosen.reason})) if {
	intervention.stops
	not input.session.stopped
} else := _fill(template, object.union(_words, intervention.facts)) if {
	intervention.chosen
} else := _fill(template, _words)

_words := {
	"{reason}": _lead, "{rule}": _rule, "{alternative}": _way, "{person}": _person,
	"{by}": _stop_by,
}

# What a person can still do. What they forbade in a prompt they can allow in another. Nobody can allow what
# protects reviewer itself, or what the organisation allows no exceptions to.
_person := _texts.person_may_not if {
	some r in _leading
	r.firm
} else := _texts.person_said if {
	said.broken[0].prompt > 0
	every r in _leading { r.harm == "forbidden" }
} else := _texts.person_may

_template := _stopped_texts.agent if {
	_stopped_prompt
} else := _texts.aborted if {
	intervention.stops
	input.session.aborted
} else := _texts.stop if {
	intervention.stops
	input.session.stopped
} else := intervention.template if {
	true
} else := _texts.denial if {
	outcome.enforced == "block"
} else := _texts.question if {
	outcome.enforced == "ask"
} else := _texts.modified if {
	outcome.enforced == "modify"
} else := _texts.warning_better if {
	_leading[0].remediation != ""
} else := _texts.warning

# The agent first reads the message of the strictest rule that led to the answer, or
# the scores' own reason if no rule was as strict.
_lead := _stop_reason if {
	intervention.stops
	input.session.stopped
} else := brief(_leading[0]) if {
	_leading != []
} else := primary

# METADATA
# title: A rule's message for the agent
# description: >-
#   The agent knows its own call, so a long value is shortened to its beginning and end.
#   The record has the whole value.
brief(r) := _fill(r.message, {name: _clip(facts[name], _longest(name)) | some name in regex.find_n(`\{[a-z_]+\}`, r.message, -1)}) if {
	facts := _facts_of(r)
}

# No word is cut, unless it is longer than what is shown.
_clip(value, longest) := value if {
	count(value) <= longest
} else := sprintf("%s … %s", [_part(`^(?s:.{1,60})(?:\s)`, value, substring(value, 0, 60)), _part(`\s(?s:.{1,37})$`, value, substring(value, count(value) - 37, -1))])

_part(form, value, otherwise) := array.concat([trim_space(part) | some part in regex.find_n(form, value, 1)], [otherwise])[0]

# With values of at most this length, no message of a built-in rule exceeds 500 characters.
# What was found is a sentence of the policy's own.
_longest(name) := 200 if {
	name in {"{details}", "{said}", "{instruction}"}
} else := 100

default _rule := "matrix"

_rule := _leading[0].id

_way := _remediation(_leading[0]) if {
	_leading[0].remediation != ""
} else := alternatives[0]

_leading := [r | some r in fired.rules; outcome.leads(r)]

# METADATA
# title: The patterns whose messages the agent was given
# description: >-
#   Of the patterns that fired, the one whose message is in the text of the answer, in whatever words. Where
#   nothing is answered, as with enforcement observe, it is the one whose message would have been given.
told := {"told": [r.id | r := _first_lead; input.finding[r.id].level]} if {
	some r in fired.rules
	input.finding[r.id].level
} else := {}

_first_lead := fired.rules[0] if {
	outcome.enforced == "allow"
} else := _leading[0]

# METADATA
# title: Interventions in the session
# description: At most one.
interventions := [intervention.chosen] if {
	intervention.chosen
} else := []

# The placeholders of templates. An unknown target is described as unknown.
_facts := {
	"{target}": _target,
	"{deleted}": _deleted,
	"{deletes}": _deletes,
	"{deletion}": _deletion,
	"{deleted_outside}": _deleted_outside,
	"{guarded}": _guarded,
	"{command}": input.action.resource,
	"{tool}": object.get(input.event, "tool", ""),
	"{host}": concat(", ", _hosts),
	"{opaque}": concat(", ", {o.reason | some o in input.action.opaque}),
	"{workspace}": input.session.workspace,
	"{limits}": concat(", ", intervention.exceeded),
	"{operations}": sprintf("%d", [input.session.file_ops]),
	"{tokens}": sprintf("%d", [object.get(input.session, "tokens", 0)]),
	"{seconds}": sprintf("%d", [floor(object.get(input.session, "busy", 0) / 1000)]),
	"{deletions}": sprintf("%d", [input.session.deleted]),
	"{place}": _place,
	"{said}": _said,
	"{act}": _act,
	"{instruction}": _instruction,
	"{instructed}": _instructed,
	"{late}": object.get(input.session, ["late", "call"], ""),
	"{late_reason}": object.get(input.session, ["late", "reason"], ""),
	"{written}": concat("; ", [sprintf("%s (%s)", [w.path, _objections(w)]) | some w in execution.objectionable_code]),
}

# The titles of the rules that objected to code when it was written.
_objections(w) := concat(", ", [lower(object.get(data.reviewer.catalog, [id, "title"], id)) | some id in w.rules]) if {
	w.rules != []
} else := "a high risk"

default _said := "The user said so"

_said := said.quote(said.broken[0]) if said.broken != []

# One that denies the call comes before one that asks.
_of_file := array.concat(
	[s | some s in said.broken_in_files; not said.asks(s)],
	said.broken_in_files,
)

default _instruction := "An instruction file says so"

_instruction := said.quote_of_file(_of_file[0]) if _of_file != []

default _instructed := "do that"

_instructed := said.named(_of_file[0]) if _of_file != []

default _act := "do that"

_act := said.named(said.broken[0]) if said.broken != []

# The place that workspace enforcement is about.
_place := _first(_places) if {
	count(_places) > 0
} else := "this"

_places := [_name(e) | some e in input.action.effects; _kept_out(e)]

_kept_out(e) if workspace.outside_place(e)

_kept_out(e) if workspace.denied_place(e)

_kept_out(e) if workspace.left_out(e)

default _target := "an unknown target"

_target := _first(_targets) if count(_targets) > 0

_targets := [_name(e) |
	some e in input.action.effects
	e.kind != "file_read"
]

# The targets that are deleted or moved away, if any.
_deleted := _first(_deletions) if {
	count(_deletions) > 0
} else := _target

_deletions := [_name(e) | some e in _gone]

_gone := [e | some e in input.action.effects; effects.gone(e)]

# What moves is not called a deletion.
_deletes := "moves away" if {
	_only_moves
} else := "deletes"

_deletion := "Moving whole folders away" if {
	_only_moves
} else := "Recursive deletion"

_only_moves if {
	_gone != []
	every e in _gone { effects.displaced(e) }
}

# Those of them that are outside the workspace.
_deleted_outside := _first(outside) if {
	outside := [_name(e) | some e in input.action.effects; e.kind == "file_delete"; e.location != "inside"]
	count(outside) > 0
} else := _deleted

# The first three names, each once.
_first(names) := concat(", ", array.slice(distinct, 0, 3)) if {
	distinct := [name | some i, name in names; not name in array.slice(names, 0, i)]
}

_name(e) := e.short if {
	e.short
} else := e.target

# What concerns reviewer itself, if it is known; it may only be read.
_guarded := _first(names) if {
	names := [_name(e) | some e in input.action.effects; e.guard]
	count(names) > 0
} else := _target

_hosts := input.action.hosts if {
	count(input.action.hosts) > 0
} else := ["an unknown host"]

_fill(template, facts) := strings.replace_n(facts, template)
