# METADATA
# title: Scores
# description: >-
#   How much could go wrong, and what would be left behind. The formulas are
#   here; every number in them is data. A rule begins with a test on
#   input.facts where it can: most calls only read, and what cannot apply to
#   them is not looked at.
# scope: package
package reviewer.scores

_cfg := data.reviewer.risk

# METADATA
# title: Risk
# description: clamp01(base + modifiers), rounded to 4 places, its level, and the factors that moved it.
risk := {"score": score, "level": level, "factors": [f | some f, _ in _modifiers]}

# METADATA
# title: Risk as a number from 0 to 1
score := 0 if {
	_raw <= 0
} else := 1 if {
	_raw >= 1
} else := round(_raw * 10000) / 10000

_raw := _base + sum([m | some m in _modifiers])

# METADATA
# title: Level of the risk
level := _band[0]

# METADATA
# title: Distance of the risk to the nearest boundary of its level
distance := _band[1]

_band := ["minimal", _cfg.low_threshold - score] if {
	score < _cfg.low_threshold
} else := ["low", min([score - _cfg.low_threshold, _cfg.medium_threshold - score])] if {
	score < _cfg.medium_threshold
} else := ["medium", min([score - _cfg.medium_threshold, _cfg.high_threshold - score])] if {
	score < _cfg.high_threshold
} else := ["high", min([score - _cfg.high_threshold, _cfg.critical_threshold - score])] if {
	score < _cfg.critical_threshold
} else := ["critical", score - _cfg.critical_threshold]

default _base := 0

_base := max([_cfg.base[t] | some t in input.action.types])

_modifiers["out_of_scope"] := _cfg.out_of_scope if out_of_scope

_modifiers["privileged"] := _cfg.privileged if "privileged" in input.facts

_modifiers["failed_before"] := _cfg.failed_similar[min([input.history.similar.failed, count(_cfg.failed_similar) - 1])] if {
	"failed_before" in input.facts
}

_modifiers["active_pattern"] := max([_cfg.active_pattern[f.level] | some f in input.finding]) if {
	some f in input.finding
	f.level
}

_modifiers["reads_only"] := _cfg.reversibility.R0 if {
	"reads_only" in input.facts
	not out_of_scope
}

# The worst effect counts. What can be undone lowers the risk only in scope;
# what is not known neither raises nor lowers it.
_modifiers["reversibility"] := m if {
	"changes" in input.facts
	m := max([object.get(_cfg.reversibility, step(e), 0) | some e in input.action.effects; e.kind != "file_read"])
	_counts(m)
}

_counts(m) if m > 0

_counts(m) if {
	m < 0
	not out_of_scope
}

# METADATA
# title: The action touches a path outside the session's scope
# description: Where no scope is known, nothing is.
out_of_scope if {
	"outside_workspace" in input.facts
	input.session.workspace != ""
	some e in input.action.effects
	not in_scope(e)
}

# METADATA
# title: An effect lies in the session's scope
# description: What is no path has no scope.
in_scope(e) if e.location in data.reviewer.scope.locations

in_scope(e) if not e.location

# METADATA
# title: How far an effect can be undone
# description: >-
#   The classifier's fact, corrected by what the session itself did to the path
#   and by classes of files that a tool makes again.
step(e) := "R0" if {
	e.location == "null"
} else := _cfg.ledger[e.ledger] if {
	true
} else := e.reversibility if {
	true
} else := _cfg.class[e.class] if {
	true
} else := "unknown"

# METADATA
# title: Side effects
# description: The worst severity, whether everything can be undone, and of what kinds they are.
side_effects := {
	"severity": data.reviewer.side_effects.names[worst],
	"reversible": _reversible,
	"kinds": kinds,
	"mitigations": [m | some k in kinds; m := data.reviewer.side_effects.mitigations[k]],
} if {
	"changes" in input.facts
} else := {"severity": "none", "reversible": true}

# METADATA
# title: Severity of the side effects as a number
# description: 0 none to 4 critical.
default worst := 0

worst := max([_severity(e) | some e in input.action.effects]) if "changes" in input.facts

_severity(e) := 0 if {
	e.location == "null"
} else := data.reviewer.side_effects.critical if {
	e.kind in {"file_write", "file_delete"}
	strings.any_prefix_match(e.short, data.reviewer.zones)
} else := data.reviewer.side_effects.loopback if {
	e.loopback
} else := data.reviewer.side_effects.severity[e.kind] + 1 if {
	e.kind in {"file_write", "file_delete"}
	step(e) in {"R4", "R5"}
	input.session.workspace != ""
	not in_scope(e)
} else := data.reviewer.side_effects.severity[e.kind]

# METADATA
# title: Kinds of effects that leave something behind
default kinds := []

kinds := sort({e.kind | some e in input.action.effects; e.kind != "file_read"}) if "changes" in input.facts

default _reversible := true

_reversible := false if {
	some e in input.action.effects
	e.kind != "file_read"
	not step(e) in {"R0", "R1", "R2", "R3"}
}
