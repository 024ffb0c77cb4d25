# METADATA
# title: Scores
# description: >-
#   Risk, and the side effects that would remain. The formulas are here; every
#   number in them is data. A rule begins with a test on input.facts if it can: most
#   calls only read, and what cannot apply to them is skipped.
# scope: package
package reviewer.scores

import data.reviewer.run

_cfg := data.reviewer.risk

# METADATA
# title: Risk
# description: clamp01(base + modifiers), rounded to 4 places, its level, and the factors that moved it.
risk := {"score": score, "level": level, "factors": sort(object.keys(object.remove(_modifiers, ["base"])))}

# METADATA
# title: Risk as a number from 0 to 1
score := _clamp(sum([m | some m in _modifiers]) * _together)

_clamp(raw) := 0 if {
	raw <= 0
} else := 1 if {
	raw >= 1
} else := to_number(sprintf("%.4f", [raw]))

default _together := 1

# Patterns that are worse in combination.
_together := run.factor if {
	some f in input.finding
	f.level
}

# METADATA
# title: Level of the risk
level := _level(score)

_level(s) := "minimal" if {
	s < _cfg.low_threshold
} else := "low" if {
	s < _cfg.medium_threshold
} else := "medium" if {
	s < _cfg.high_threshold
} else := "high" if {
	s < _cfg.critical_threshold
} else := "critical"

# METADATA
# title: Level of the risk of the call itself
# description: Without the factors that only describe the session before it (risk.soft).
own_level := _level(_clamp(sum([m | some m in object.remove(_modifiers, _cfg.soft)]) * _own_together)) if {
	_softened
} else := level

_softened if {
	some name, _ in _modifiers
	name in _cfg.soft
}

_softened if {
	_together != 1
	"composite" in _cfg.soft
}

_own_together := 1 if {
	"composite" in _cfg.soft
} else := _together

# METADATA
# title: The risk is near a boundary of its level
# description: The distance. A risk of 0 is near no boundary.
near_boundary := _distance if {
	score != 0
	_distance < data.reviewer.confidence.near_boundary
}

_distance := _cfg.low_threshold - score if {
	level == "minimal"
} else := min([score - _cfg.low_threshold, _cfg.medium_threshold - score]) if {
	level == "low"
} else := min([score - _cfg.medium_threshold, _cfg.high_threshold - score]) if {
	level == "medium"
} else := min([score - _cfg.high_threshold, _cfg.critical_threshold - score]) if {
	level == "high"
} else := score - _cfg.critical_threshold

# The highest of the action's types.
_modifiers["base"] := max([_cfg.base[t] | some t in input.action.types])

_modifiers["out_of_scope"] := _cfg.out_of_scope if out_of_scope

_modifiers["privileged"] := _cfg.privileged if "privileged" in input.facts

_modifiers["failed_before"] := _cfg.failed_similar[min([input.history.similar.failed, count(_cfg.failed_similar) - 1])] if {
	"failed_before" in input.facts
}

# A pattern that asks or blocks has a verdict of its own, so it does not raise the risk too.
_modifiers["active_pattern"] := max(_added) if {
	some f in input.finding
	f.level
	_added != []
}

_added := [_cfg.active_pattern[f.level] | some id, f in input.finding; not _decides(id)]

_decides(id) if data.reviewer.catalog[id].decision in {"modify", "ask", "block"}

_decides(id) if {
	some layer
	data.policies[layer].catalog[id].decision in {"modify", "ask", "block"}
}

# What the findings of other layers add.
_modifiers[concat(":", ["rule", id])] := _cfg.added[id] if some id in input.findings

_modifiers[concat(":", ["rule", id])] := amount if {
	some layer
	some f in data.policies[layer].findings
	some id, amount in _cfg.added
	f.id == id
}

_modifiers["reads_only"] := _cfg.reversibility.R0 if {
	"reads_only" in input.facts
	not out_of_scope
}

# The worst effect counts. Reversibility lowers the risk only in scope, and only if
# everything was analysed; an unknown one neither raises nor lowers it.
_modifiers["reversibility"] := m if {
	"changes" in input.facts
	m := max([object.get(_cfg.reversibility, s, 0) | some s in steps])
	_counts(m)
}

_counts(m) if m > 0

_counts(m) if {
	m < 0
	not out_of_scope
	not "not_understood" in input.facts
}

# METADATA
# title: The action touches a path outside the session's scope
# description: If no scope is known, nothing is outside it.
out_of_scope if {
	"outside_workspace" in input.facts
	input.session.workspace != ""
	some e in input.action.effects
	_weighs(e)
	not in_scope(e)
}

# If an action does more than read, its reads do not show how much is lost: rules judge
# what leaves the machine (upload_outside, secret_egress).
_weighs(e) if {
	e.kind != "file_read"
	not not_there(e)
}

_weighs(_) if "reads_only" in input.facts
