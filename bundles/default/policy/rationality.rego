package reviewer.scores

# METADATA
# title: Rationality
# description: Weighted mean of four components, rounded to 4 places, its level and issues.
rationality := {
	"score": rationality_score,
	"level": rationality_level,
	"components": {
		"goal_alignment": data.reviewer.rationality.neutral_alignment,
		"logical_progression": data.reviewer.rationality.progression[input.history.progression],
		"efficiency": _efficiency,
		"completeness": 1 - _missing,
	},
	"issues": _issues,
}

# METADATA
# title: Rationality as a number from 0 to 1
# description: >-
#   The weighted mean, written so that what is whole costs nothing: mostly no
#   cheaper way is known, and nothing is missing.
rationality_score := score if {
	r := data.reviewer.rationality
	parts := [
		r.weights.goal_alignment * r.neutral_alignment,
		r.weights.logical_progression * r.progression[input.history.progression],
		r.weights.efficiency,
		r.weights.completeness,
	]

	# To 4 places: a text in between costs a third of multiplying and dividing.
	score := to_number(sprintf("%.4f", [sum(array.concat(parts, _losses))]))
}

# What is lost of either: a cheaper way is known only where nothing is missing.
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

# To look again at what did not change, when nothing went wrong since, is dearer
# than to use what is known.
_cheaper_way if {
	input.history.progression == "repeats"
	not "presupposes_unmet" in input.facts
}

# METADATA
# title: Level of rationality
rationality_level := "high" if {
	rationality_score >= data.reviewer.rationality.high_threshold
} else := "medium" if {
	rationality_score >= data.reviewer.rationality.medium_threshold
} else := "low"

# The share of what the action takes for granted that the history does not show.
default _missing := 0

_missing := round((count([p | some p in input.history.presupposes; not p.met]) / count(input.history.presupposes)) * 10000) / 10000 if {
	"presupposes_unmet" in input.facts
}

_issues := ["irrational"] if {
	rationality_level == "low"
	rationality_score < data.reviewer.rationality.low_threshold
} else := []

# METADATA
# title: Confidence
# description: Less for each fact that was not understood, and near a boundary of the risk's levels.
default confidence := 1

confidence := max([0, round((1 - _doubt) * 10000) / 10000]) if _doubtful

_doubtful if "not_understood" in input.facts

_doubtful if near_boundary

_doubt := (data.reviewer.confidence.per_opaque * count(input.action.opaque)) + _nearness

default _nearness := 0

_nearness := data.reviewer.confidence.boundary_cost * (1 - (near_boundary / data.reviewer.confidence.near_boundary))
