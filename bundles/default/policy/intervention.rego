# METADATA
# title: Interventions
# description: >-
#   What is done about a session that goes wrong, beyond the answer to one call. An issue is
#   a pattern or rule that fires; its ladder lists the kinds of intervention in the order
#   in which they are tried. It depends only on data and on earlier interventions.
# scope: package
package reviewer.intervention

import data.reviewer.fired
import data.reviewer.outcome
import data.reviewer.prefilter
import data.reviewer.said
import data.reviewer.saving
import data.reviewer.scores

# METADATA
# title: The settings of interventions
settings := data.reviewer.interventions

_past := object.get(input.session, "interventions", [])

# METADATA
# title: The earlier interventions of this run
made := [i | some i in _past; i.run]

# METADATA
# title: The intervention, if there is one
# description: A stopped session is stopped again at the next opportunity.
chosen := {"kind": "emergency_stop", "reason": object.get(input.session, "stop_reason", "")} if {
	input.session.stopped
	not _passes
} else := object.union({"kind": "emergency_stop", "attempt": count(_about(_stop.issue)) + 1}, _stop) if {
	_stop
} else := object.union_n([{"kind": chosen_kind, "issue": _issue.id, "attempt": count(_about(_issue.id)) + 1}, factor_of_chosen, _request_of, _rollback_of, _offer_of, duties_of_chosen]) if {
	_issue
	not _waits
}

# METADATA
# title: The session has to stop
# description: A stop that is only offered to a person stops nothing.
# scope: document
stops if {
	chosen.kind == "emergency_stop"
	not chosen.asks
}

stops if "stop" in chosen.does

# METADATA
# title: The event is not stopped although the session is
# description: >-
#   A person's prompts never are. Once a person has written, neither are reads of files in the
#   workspace (interventions.stops.reads), nor the events after calls.
# scope: document
spared if input.phase == "prompt"

spared if {
	reads_open
	input.phase in {"post", "batch", "stop"}
}

spared if {
	reads_open
	input.phase == "pre"
	"reads_only" in input.facts
	input.action.types == ["file_read"]
	input.action.signals == []
	every e in input.action.effects { _readable(e) }
}

# METADATA
# title: A person has written since the stop, so files can be read
reads_open if {
	input.session.stop_heard
	not input.session.aborted
	settings.stops.reads != []
}

_readable(e) if {
	e.location in settings.stops.reads
	prefilter.ordinary(e)
	not e.secret
	not _shows_all_below(e)
}

# The contents of whatever is in a folder, which may be secrets. The agent's own search leaves out
# hidden and ignored files.
_shows_all_below(e) if {
	_below(e)
	not e.verb == "list"
	not _own_search(e)
}

_below(e) if e.recursive

_below(e) if e.entry == "dir"

_own_search(e) if {
	e.verb == "search"
	e.command < 0
}

# A call that anything else holds up is stopped, too.
_passes if {
	spared
	outcome.answered in {"allow", "warn"}
}

_acts if {
	fired.rules != []
	settings.enabled
	data.reviewer.enabled
	data.reviewer.enforcement != "observe"
	not outcome.allowed_by_person
}

_about(id) := [i | some i in _past; i.issue == id; i.agent == input.agent]

# Stops

_stop := {"issue": _again, "reason": filled(settings.texts.repeated, {"{rule}": _again})} if {
	_stoppable
} else := {"issue": _denying.id, "reason": filled(settings.texts.in_row, {"{rule}": _denying.id, "{count}": sprintf("%d", [_row])})} if {
	_stoppable
	_counted(_denying)
	_row >= settings.stops.in_row
} else := {"issue": _denying.id, "reason": filled(settings.texts.denials, {"{count}": sprintf("%d", [_denials])})} if {
	_stoppable
	_counted(_denying)
	_denials >= settings.stops.denials
} else := {"issue": _issue.id, "reason": filled(settings.texts.exhausted, {"{rule}": _issue.id, "{count}": sprintf("%d", [count(made)])})} if {
	_stoppable
	_exhausted
	_level in settings.stops.levels
} else := object.union(named_stop, {"issue": _issue.id, "reason": filled(settings.texts.ladder, {"{reason}": trim_suffix(data.reviewer.reasons.brief(_issue), ".")})}) if {
	_stoppable
	wants("stop")
	_stops_by_itself
}

# The last rung of a ladder acts for findings of these levels; for others, it offers the stop to a person.
_stops_by_itself if _weighed

_stops_by_itself if _level in settings.stops.levels

# No more interventions are tried for this prompt. As at the end of a ladder, what was found decides who stops.
_exhausted if {
	_issue
	count(made) >= settings.max_interventions_per_execution
}

_stoppable if {
	_acts
	settings.hard_stop
	data.reviewer.enforcement == "enforce"
}

# A rule that denies the call, and denied one a short while ago.
_again := [r.id |
	some r in fired.rules
	r.decision == "block"
	r.mode == "enforce"
	r.id in settings.stops.repeated
	some i in _past
	i.issue == r.id
	i.ago <= settings.stops.within
][0] if {
	input.phase == "pre"
}

# The rule that denies the call, even if other rules fired too. What the person ordered, and what is saved first, is not denied.
_denying := [r | some r in fired.rules; r.decision == "block"; r.mode == "enforce"; not _answered(r)][0] if {
	input.phase == "pre"
	fired.rules[0].decision == "block"
}

_answered(r) if {
	"permitted" in input.facts
	said.answers(r)
}

_answered(r) if saving.answers(r)

# The denials in a row that name such a harm, this one included.
_row := (1 + count(_harms)) - max(array.concat([0], [i | some j, harm in _harms; i := j + 1; not fired.counted_as(harm) in _stop_harms]))

_stop_harms := {fired.counted_as(harm) | some harm in settings.stops.harms}

_counted(r) if {
	not r.limit
	r.harm in _stop_harms
}

_counted(r) if {
	r.limit
	"limit" in _stop_harms
}

_harms := object.get(input.session, "denied_harms", [])

# The denials of the session, this one included. That a call was beyond a limit
# shows nothing about the agent's intent.
_denials := (input.session.denials + 1) - _beyond_limits

_beyond_limits := 0 if {
	"limit" in _stop_harms
} else := object.get(input.session, ["denied_by", "limit"], 0)

# Ladders

# The first rule that fires and has a ladder.
_issue := [r | some r in fired.rules; r.mode != "observe"; _laddered(r)][0] if _acts

_laddered(r) if settings.ladders[r.id]

_laddered(r) if _custom(r.id)

_laddered(r) if _repeated(r)

_laddered(r) if {
	r.decision == "warn"
	input.finding[r.id].level
}

_repeated(r) if {
	r.decision == "block"
	r.id in settings.stops.repeated
}

# METADATA
# title: The kind of intervention for the issue
chosen_kind := _kind if _issue

_kind := "soft_correction" if {
	# The first workaround for a denial is only denied.
	_repeated(_issue)
} else := "emergency_stop" if {
	_exhausted
} else := _by_severity if {
	_weighed
} else := _rungs[_rung]

_weighed if _issue.id in settings.immediate

_weighed if not _ladder

_ladder := settings.progressive if {
	settings.strategy == "progressive"
} else := _custom(_issue.id) if {
	true
} else := settings.ladders[_issue.id] if {
	true
} else := settings.ladders["*"]

# The ladder that a rule "ladders" of the organisation's or the user's layer gives an
# issue. A project's layer gives none: the agent can write its files.
_custom(id) := data.policies.organisation.ladders[id] if {
	settings.strategy == "custom"
} else := data.policies.user.ladders[id] if {
	settings.strategy == "custom"
}

_rungs := [kind | some kind in _ladder; _available(kind)]

_available("emergency_stop")

_available(kind) if settings[kind] == true

_available(kind) if tells(kind)

_available(kind) if may_do(kind) != set()

_level := object.get(input.finding, [_issue.id, "level"], _issue.severity)

_own := _about(_issue.id)

_last := _own[count(_own) - 1]

_rung := 0 if {
	_own == []
} else := _at if {
	not _moves_up
} else := min([_at + 1, count(_rungs) - 1])

# If the ladder has changed in the meantime, it starts again.
_at := max(array.concat([0], [i | some i, kind in _rungs; kind == _last.kind]))

_moves_up if {
	not _helps
	_may_move
}

_may_move if _last.ms >= settings.escalation_delay_seconds * 1000

_may_move if _uses(_last.kind) >= settings.max_attempts

_may_move if {
	restoring(_last.kind)
	rolled_back_enough
}

_helps if {
	uses := [i | some i in _own; i.kind == _last.kind]
	helped := [i | some i in uses; not _returned(i)]
	count(helped) >= settings.effectiveness_threshold * count(uses)
}

# The issue was found again too soon after the intervention, or is found now.
_returned(i) if i.back.actions <= settings.effectiveness.actions

_returned(i) if i.back.ms <= settings.effectiveness.seconds * 1000

_returned(i) if {
	not i.back
	i.ago <= settings.effectiveness.actions
}

_returned(i) if {
	not i.back
	i.ms <= settings.effectiveness.seconds * 1000
}

_uses(kind) := count([i | some i in _own; i.kind == kind])

# Messages wait for the cooldown; stricter kinds do not. A question and a denial have
# texts of their own, so the agent would not read the message.
_waits if {
	_message
	not _repeated(_issue)
	_too_soon
}

_waits if {
	outcome.answered != "warn"
	not _repeated(_issue)
}

# A rollback that a person is to make, or that is not possible, is no more than a message; and where the
# session could be stopped, it is (_stop).
_message if duties_done - {"remind"} == set()

# Each restores what the last one did.
_waits if {
	_restores_only
	rolled_back_enough
}

_restores_only if chosen_kind == "checkpoint_rollback"

_restores_only if {
	not tells(chosen_kind)
	may_do(chosen_kind) == {"restore"}
}

# METADATA
# title: No further rollback is tried
rolled_back_enough if count([i | some i in _own; restoring(i.kind)]) >= settings.max_retries

# An agent that ends its turn is made to continue once per prompt, by this or any other hook.
_waits if {
	input.phase == "stop"
	input.event.says.again
}

_waits if {
	input.phase == "stop"
	some i in _own
	i.run
}

_too_soon if _past[count(_past) - 1].ms < settings.intervention_cooldown_seconds * 1000

_too_soon if _uses(chosen_kind) >= settings.max_attempts

# Severity

_by_severity := [kind | some kind in settings.progressive; _fits(kind); _available(kind)][0]

_fits("emergency_stop") := true

_fits(kind) if _combined < settings.severity.below[kind]

_combined := ((_base * _confidence) * (1 + _impact)) + (settings.severity.escalation * count(_in_vain))

_base := settings.severity.base[_level]

_confidence := object.get(input.finding, [_issue.id, "confidence"], 1)

_impact := object.get(settings.severity.impact, scores.side_effects.severity, 0)

_in_vain := [i |
	some i in _own
	i.ms <= settings.severity.window_seconds * 1000
	_returned(i)
]

# Rollback

_rollback_of := {} if {
	not wants("restore")
} else := {} if {
	rolled_back_enough
} else := {"checkpoint": _suitable} if {
	restores_files
} else := {"checkpoint": _suitable, "asks": true} if {
	_suitable
} else := {}

# METADATA
# title: Files are restored without a question
# description: |-
#   At Stop nothing is restored, since the turn ends.
restores_files if {
	_suitable
	settings.auto_rollback
	data.reviewer.enforcement == "enforce"
	input.phase in {"pre", "post"}
}

# The most recent safe checkpoint from before the issue began.
_suitable := _near[max(_safe)].id

_safe := [i | some i, c in _near; _is_safe(c)]

_near := array.slice(_before, max([0, count(_before) - settings.max_rollback_depth]), count(_before))

_before := [c | some c in object.get(input.session, "checkpoints", []); c.call_ms >= _began]

# Milliseconds since the issue began: since its run-up, or that of an intervention after which it
# returned.
_began := max(array.concat([input.history.began], [i.began | some k, i in _own; _lasts(k)]))

# The issue returned after this intervention and each later one.
_lasts(k) if {
	every i in array.slice(_own, k, count(_own)) {
		_returned(i)
	}
}

_is_safe(c) if c.first

_is_safe(c) if {
	c.ran >= settings.safe_checkpoint_criteria.min_success_rate * (c.ran + c.failed)
	object.get(c, "clean_ms", _ever) >= settings.safe_checkpoint_criteria.no_errors_duration_seconds * 1000
}

# Milliseconds: longer than any session.
_ever := 1000000000000

# The stop is left to a person.
_offer_of := {"asks": true} if {
	wants("stop")
} else := {}

_rollback_text := texts.checkpoint_rollback if {
	restores_files
} else := texts.rollback_offered if {
	_suitable
} else := texts.rollback_unsuitable

# What the agent is told

# METADATA
# title: The text of the intervention
# description: >-
#   Only where the answer is no more than a warning: a denial or a question has its own
#   text. "{request}" stands for the user's words, which are in the transcript only.
template := texts.emergency_stop if {
	stops
	not input.session.stopped
} else := own_text if {
	own_kinds[chosen.kind]
} else := _kind_text if {
	outcome.answered == "warn"
	not stops
}

_kind_text := _rollback_text if {
	chosen.kind == "checkpoint_rollback"
} else := texts.stop_offered if {
	chosen.kind == "emergency_stop"
} else := texts[chosen.kind]

# METADATA
# title: The texts of interventions
texts := settings.texts

# METADATA
# title: What the person is told instead
notice := texts.stop_offered_notice if {
	outcome.answered == "warn"
	chosen.asks
	wants("stop")
}

# METADATA
# title: What the text's placeholders stand for
facts := {"{correction}": _correction, "{constraints}": _constraints, "{progress}": _progress, "{limits}": _limits_text, "{kind}": chosen.kind, "{checkpoint}": object.get(chosen, "checkpoint", "")}

_correction := concat("", [_strong, _advice, _example])

_example := concat("", [settings.examples[chosen.issue], " "]) if {
	wants("remind")
	settings.include_examples
} else := ""

_strong := texts.strong if {
	wants("remind")
	settings.reinforcement_strength == "strong"
} else := ""

# Advice about a known error is more specific than advice about the pattern.
_advice := _filled(settings.guidance[input.event.result.trouble]) if {
	true
} else := _filled(settings.corrections[chosen.issue]) if {
	true
} else := ""

# With the placeholders of messages, shortened in the same way.
_filled(text) := concat("", [data.reviewer.reasons.brief({"id": chosen.issue, "message": text}), " "])

_constraints := filled(texts.constraints, {"{constraints}": concat(", ", _said)}) if {
	settings.reinforcement_strength != "light"
	_said != []
} else := ""

# The record has numbers; the titles are in the transcript only.
_progress := texts.progress if {
	chosen.progress
	settings.reinforcement_strength != "light"
} else := ""

# What the call breaks comes first.
_said := array.concat(
	[_words(s) | some s in said.broken],
	[_words(s) | some s in input.goal.statements; s.kind == "forbids"; not s.from; not s in said.broken],
)

# In the person's own words, where they are kept. The latest prompt is quoted as the request.
_words(s) := sprintf("\"%s\"", [trim_right(s.text, ".")]) if {
	s.text
	s.prompt != input.session.prompts
} else := filled(_forbidden(s), {"{what}": concat(", ", s.objects)}) if {
	s.objects
} else := filled(_forbidden(s), {" ({what})": "", "{what}": ""})

_forbidden(s) := texts.constraint[s.act] if {
	true
} else := concat("", ["not to ", said.named(s), " ({what})"])

# The limits with this intervention's factor applied.
_limits_text := concat(", ", [limit_text(name, lowered(name, base, array.concat(throttlings, [chosen.factor]))) |
	some name, base in settings.limits
])

_request_of := object.union({"request": _unread}, _progress_of) if {
	wants("remind")
} else := {}

_progress_of := {"progress": filled(texts.tasks, {
	"{done}": sprintf("%d", [input.session.tasks_done]),
	"{open}": sprintf("%d", [input.session.tasks_open]),
})} if {
	input.session.tasks_done + input.session.tasks_open > 0
} else := {}

_unread := filled(texts.unread, {"{intents}": concat(", ", input.goal.intents)}) if {
	input.goal.intents != []
} else := texts.unknown

# METADATA
# title: A template with its placeholders filled
filled(template, facts) := strings.replace_n(facts, template)
