package reviewer.scores

# METADATA
# title: Rationality
# description: Weighted mean of four components, rounded to 4 places, its level and issues.
rationality := {"score": rationality_score, "level": "high", "components": _components, "issues": [], "suggestions": []} if {
	rationality_level == "high"
} else := {
	"score": rationality_score,
	"level": rationality_level,
	"components": _components,
	"issues": _issues,
	"suggestions": rationality_suggestions,
}

# METADATA
# title: How an action follows from earlier ones
# description: >-
#   The first of rationality.ladder that applies; an action to which none applies
#   explores. Looking again at something that changes by itself is not a repetition.
progression := word if {
	word := _following[0]
} else := "explores"

_following := [word |
	some word in data.reviewer.rationality.ladder
	word in input.history.follows
	not _looks_again(word)
] if {
	input.history.follows != []
} else := []

_looks_again("repeats") if input.action.watches

_components := {
	"goal_alignment": _alignment,
	"logical_progression": data.reviewer.rationality.progression[progression],
	"efficiency": _efficiency,
	"completeness": 1 - _missing,
}

# METADATA
# title: Rationality as a number from 0 to 1
# description: >-
#   The weighted mean, written so that complete components cost nothing: usually no
#   cheaper way is known, and nothing is missing.
rationality_score := score if {
	r := data.reviewer.rationality
	parts := [
		r.weights.goal_alignment * _alignment,
		r.weights.logical_progression * r.progression[progression],
		r.weights.efficiency,
		r.weights.completeness,
	]

	# Rounded to 4 places: formatting and parsing costs a third of multiplying and
	# dividing. %f refuses whole numbers, so a fraction is added that rounding removes
	# again.
	score := to_number(sprintf("%.4f", [sum(array.concat(parts, _losses)) + 0.0000001]))
}

# How well an action fits what the user asked for. In doubt it is aligned: most steps
# of a task touch something that nobody named.
_alignment := data.reviewer.rationality.neutral_alignment if not "goal" in input.facts

_alignment := round(sum([a.weights.named * _named, a.weights.kind * _kind, a.weights.words * _words]) * 10000) / 10000 if {
	"goal" in input.facts
	a := data.reviewer.rationality.alignment
}

default _named := 1

_named := data.reviewer.rationality.alignment.unnamed if not input.goal.named

# Reading is part of any work; what else belongs to it depends on the request.
default _kind := 0

_kind := 1 if "reads_only" in input.facts

_kind := 1 if input.goal.intents == []

_kind := 1 if {
	some intent in input.goal.intents
	every t in input.action.types {
		t in data.reviewer.rationality.alignment.kinds[intent]
	}
}

_words := min([1, a.unsaid + (((1 - a.unsaid) * input.goal.words) / a.full_words)]) if {
	a := data.reviewer.rationality.alignment
}

# The loss for a missing precondition or a known cheaper way: the latter is known only if nothing is missing.
default _losses := []

_losses := [data.reviewer.rationality.weights.completeness * (0 - _missing)] if {
	"presupposes_unmet" in input.facts
}

_losses := [data.reviewer.rationality.weights.efficiency * (_efficiency - 1)] if {
	"reads_only" in input.facts
	_cheaper_way
}

default _efficiency := 1

_efficiency := data.reviewer.rationality.cheaper_way_known if {
	"reads_only" in input.facts
	_cheaper_way
}

# Reading something unchanged again, when nothing failed since, costs more than using
# what is known.
_cheaper_way if {
	progression == "repeats"
	not "presupposes_unmet" in input.facts
}

# METADATA
# title: Level of rationality
rationality_level := "high" if {
	rationality_score >= data.reviewer.rationality.high_threshold
} else := "medium" if {
	rationality_score >= data.reviewer.rationality.medium_threshold
} else := "low"

# The share of the action's assumptions that the history does not support.
default _missing := 0

_missing := round((count([p | some p in input.history.presupposes; not p.met]) / count(input.history.presupposes)) * 10000) / 10000 if {
	"presupposes_unmet" in input.facts
}

# METADATA
# title: What would make more sense
# description: One for each component that is not above medium, if the total is not high.
rationality_suggestions := [data.reviewer.rationality.suggestions[component] | some component in _weak]

# METADATA
# title: A cheaper way to the same result
cheaper := [data.reviewer.rationality.suggestions.efficiency | _efficiency < 1]

# The components that are not above medium, if the total is not high.
_weak := [] if {
	rationality_level == "high"
} else := [component |
	some component in ["goal_alignment", "logical_progression", "efficiency", "completeness"]
	_components[component] <= data.reviewer.rationality.medium_threshold
]

_issues := array.concat(_irrational, [_issue(component) | some component in _weak])

_issue("logical_progression") := progression

_issue(component) := data.reviewer.rationality.issues[component]

_irrational := ["irrational"] if {
	rationality_level == "low"
	rationality_score < data.reviewer.rationality.low_threshold
} else := []

# METADATA
# title: Confidence
# description: Lower for each fact that could not be analysed, and near a boundary of the risk's levels.
# scope: document
default confidence := 1

confidence := max([0, round((1 - _doubt) * 10000) / 10000]) if _doubtful

_doubtful if "not_understood" in input.facts

_doubtful if near_boundary

_doubt := (data.reviewer.confidence.per_opaque * count(input.action.opaque)) + _nearness

default _nearness := 0

_nearness := data.reviewer.confidence.boundary_cost * (1 - (near_boundary / data.reviewer.confidence.near_boundary))
