# METADATA
# title: Reasons
# description: >-
#   Words for a decision: why, what would be safer, and what the agent is told.
#   All words are templates in data; a placeholder is {name}.
# scope: package
package reviewer.reasons

import data.reviewer.outcome
import data.reviewer.scores
import data.reviewer.spoken

_texts := data.reviewer.messages

# METADATA
# title: The primary reason
primary := all[0] if {
	all != []
} else := _texts.allowed

# METADATA
# title: All reasons
# description: In the order risk, rationality, side effects, rules.
all := [] if {
	_silent
} else := array.concat(array.concat(_risk, _rationality), array.concat(_effects, _rules))

# The common case: nothing is worth a word, and finding that out is cheap.
_silent if {
	outcome.quiet
	scores.score < data.reviewer.risk.risk_threshold
	scores.rationality_score >= data.reviewer.rationality.medium_threshold
	scores.worst < data.reviewer.side_effects.reason_from
	not outcome.first_time_pardon
}

_risk := [_fill(_texts.high_risk, {"factors": _risk_factors})] if {
	input.phase == "pre"
	scores.score >= data.reviewer.risk.risk_threshold
} else := []

_risk_factors := concat(", ", array.concat(_base_factor, scores.risk.factors))

_base_factor := [concat("+", input.action.types)]

_rationality := [_fill(_texts.low_rationality, {"issues": _progress})] if {
	input.phase == "pre"
	scores.rationality_score < data.reviewer.rationality.medium_threshold
} else := []

_progress := concat(", ", array.concat(scores.rationality.issues, [input.history.progression]))

_effects := [_fill(_texts.side_effects, {
	"kinds": concat(", ", scores.kinds),
	"severity": scores.side_effects.severity,
})] if {
	input.phase == "pre"
	scores.worst >= data.reviewer.side_effects.reason_from
} else := []

_rules := [_fill(r.message, object.union(_facts, {"rule": r.id})) | some r in spoken.rules]

# METADATA
# title: How the scores led to the decision
explanation := "" if {
	_silent
} else := concat("; ", array.concat(
	[_fill(_texts.matrix, {"risk": scores.level, "rationality": scores.rationality_level})],
	_pardon,
))

_pardon := [_texts.first_time] if {
	outcome.first_time_pardon
} else := []

# METADATA
# title: Safer ways
# description: Those of the rules that spoke, else those of the kinds of effects.
alternatives := [] if {
	outcome.decision == "allow"
} else := _safer if {
	_safer != []
} else := scores.side_effects.mitigations if {
	count(scores.side_effects.mitigations) > 0
} else := [_texts.no_alternative]

_safer := [_fill(r.remediation, _facts) | some r in spoken.rules; r.remediation != ""]

# METADATA
# title: The rules that spoke, as they are recorded
results := [_recorded(r) | some r in spoken.rules]

_recorded(r) := object.union(
	{
		"id": r.id, "decision": r.decision, "severity": r.severity,
		"message": _fill(r.message, _facts),
	},
	_mode(r),
)

_mode(r) := {"enforcement": r.mode} if {
	r.mode != "enforce"
} else := {}

# METADATA
# title: What the agent is told
# description: "{id} stands for the record's id, which only the log knows."
text := "" if {
	outcome.decision == "allow"
} else := _fill(_template, {
	"reason": _lead, "rule": _rule, "alternative": alternatives[0],
	"by": object.get(input.session, "stop_by", "a person"),
})

_template := _texts.stop if {
	input.session.stopped
} else := _texts.denial if {
	outcome.decision == "block"
} else := _texts.question if {
	outcome.decision == "ask"
} else := _texts.warning

# What the agent reads first is the strictest rule's message; the scores' own
# reason where no rule was as strict.
_lead := object.get(input.session, "stop_reason", "no reason given") if {
	input.session.stopped
} else := _rules[0] if {
	_rule != "matrix"
} else := all[0]

_rule := spoken.rules[0].id if {
	outcome.as_strict(spoken.rules[0].decision)
} else := "matrix"

# METADATA
# title: What is done about the run
# description: A session that was stopped ends at the next chance.
interventions := [{"kind": "emergency_stop", "reason": object.get(input.session, "stop_reason", "")}] if {
	input.session.stopped
} else := []

# What templates may name. A target that is not known says so.
_facts := {
	"target": _target,
	"command": input.action.resource,
	"tool": object.get(input.event, "tool", ""),
	"host": concat(", ", input.action.hosts),
	"opaque": concat(", ", {o.reason | some o in input.action.opaque}),
	"workspace": input.session.workspace,
	"operations": sprintf("%d", [input.session.file_ops]),
}

default _target := "something that is not known beforehand"

_target := concat(", ", array.slice(_targets, 0, 3)) if count(_targets) > 0

_targets := [t |
	some e in input.action.effects
	e.kind != "file_read"
	t := _name(e)
]

_name(e) := e.short if {
	e.short
} else := e.target

_fill(template, facts) := strings.replace_n({sprintf("{%s}", [k]): v | some k, v in facts}, template)
