package reviewer.scores

# METADATA
# title: Rationality
# description: Weighted mean of four components, rounded to 4 places, its level and issues.
rationality := {
	"score": rationality_score,
	"level": rationality_level,
	"components": _components,
	"issues": _issues,
}

# METADATA
# title: Rationality as a number from 0 to 1
rationality_score := s if {
	w := data.reviewer.rationality.weights
	c := _components
	s := round(sum([
		w.goal_alignment * c.goal_alignment, w.logical_progression * c.logical_progression,
		w.efficiency * c.efficiency, w.completeness * c.completeness,
	]) * 10000) / 10000
}

# METADATA
# title: Level of rationality
rationality_level := "high" if {
	rationality_score >= data.reviewer.rationality.high_threshold
} else := "medium" if {
	rationality_score >= data.reviewer.rationality.medium_threshold
} else := "low"

_components := {
	"goal_alignment": data.reviewer.rationality.neutral_alignment,
	"logical_progression": data.reviewer.rationality.progression[input.history.progression],
	"efficiency": 1,
	"completeness": _completeness,
}

default _completeness := 1

_completeness := round((count(_met) / count(input.history.presupposes)) * 10000) / 10000 if {
	"presupposes_unmet" in input.facts
}

_met := [p | some p in input.history.presupposes; p.met]

_issues := ["irrational"] if {
	rationality_score < data.reviewer.rationality.low_threshold
} else := []

# METADATA
# title: Confidence
# description: Less for each fact that was not understood, and near a boundary of the risk's levels.
default confidence := 1

confidence := max([0, round((1 - _doubt) * 10000) / 10000]) if _doubtful

_doubtful if "not_understood" in input.facts

_doubtful if distance < data.reviewer.confidence.near_boundary

_doubt := (data.reviewer.confidence.per_opaque * count(input.action.opaque)) + _nearness

default _nearness := 0

_nearness := data.reviewer.confidence.boundary_cost * (1 - (distance / data.reviewer.confidence.near_boundary)) if {
	distance < data.reviewer.confidence.near_boundary
}
