# METADATA
# title: Patterns of the session
# description: >-
#   What the patterns found, taken together. A pattern is active if it is found now, or
#   was found so few actions ago that it would not be reported again.
# scope: package
package reviewer.run

# METADATA
# title: The pattern is found, or was found recently
# scope: document
active(id) if id in input.findings

active(id) if input.history.fired[id].ago <= _quiet(data.reviewer.catalog[id])

# METADATA
# title: By how much patterns that are active together multiply the risk
# scope: document
default factor := 1

factor := max(_factors) if count(_factors) > 0

_factors := [c.factor | some c in data.reviewer.patterns.composites; _all_active(c)]

_all_active(c) if {
	every id in c.of {
		active(id)
	}
}

# METADATA
# title: The agent was already told this
# description: >-
#   A warning is not repeated for a while, unless it gets worse. A question or a denial
#   is repeated each time, unless its row has a hysteresis of its own.
told(id, row) if {
	_rests(row)
	before := input.history.fired[id]
	before.told <= _quiet(row)
	_no_worse(id, before)
}

_rests(row) if row.decision == "warn"

_rests(row) if row.hysteresis

_no_worse(id, before) if _rank[input.finding[id].level] <= _rank[before.told_level]

_quiet(row) := object.get(row, "hysteresis", data.reviewer.patterns.hysteresis)

_rank := {"low": 0, "medium": 1, "high": 2, "critical": 3}
