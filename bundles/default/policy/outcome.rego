# METADATA
# title: Outcome
# description: >-
#   Matrix, then its three corrections, then the rules of all layers: the
#   strictest wins. Verdicts are compared by strictness, allow 0 to block 4.
# scope: package
package reviewer.outcome

import data.reviewer.scores
import data.reviewer.spoken

_verdicts := ["allow", "warn", "modify", "ask", "block"]

_strictness := {"allow": 0, "warn": 1, "modify": 2, "ask": 3, "block": 4}

# METADATA
# title: What policy says
decision := "allow" if {
	quiet
} else := _feasible(_verdicts[max(array.concat([_strictness[own]], [_strictness[r.decision] | some r in spoken.rules]))])

# METADATA
# title: What is to be answered
# description: The same after the enforcement modes of the bundle and of each rule.
enforced := "allow" if {
	quiet
} else := _feasible(_verdicts[max(_softened)])

# METADATA
# title: No rule spoke and the scores have nothing against it
quiet if {
	own == "allow"
	spoken.rules == []
}

_softened := array.concat(
	[_soften(_strictness[own], data.reviewer.enforcement)],
	[_soften(_strictness[r.decision], r.mode) | some r in spoken.rules],
)

_soften(s, "enforce") := s

_soften(s, "warn") := min([s, 1])

_soften(_, "observe") := 0

# No rewriting is offered: where a call should run in another form, a person
# has to say so, and where nobody can be asked it does not run.
_feasible("modify") := "block" if {
	input.event.mode == "dontAsk"
} else := "ask"

_feasible(v) := v if v != "modify"

# METADATA
# title: The matrix's verdict after its corrections
# description: Only a call that has not run yet is judged by it.
own := "allow" if {
	input.phase != "pre"
} else := "block" if {
	scores.worst >= data.reviewer.side_effects.critical
} else := "allow" if {
	first_time_pardon
} else := "modify" if {
	_cell == "warn"
	_dangerous_pattern
} else := _cell

_cell := data.reviewer.matrix[scores.level][scores.rationality_level]

# METADATA
# title: A warning that is not given because nothing like it was done before
first_time_pardon if {
	_cell == "warn"
	input.history.first_time
	scores.score < data.reviewer.risk.high_threshold
}

_dangerous_pattern if {
	some f in input.finding
	f.level in {"high", "critical"}
}

# METADATA
# title: A rule's verdict is what led to the decision
as_strict(verdict) if _strictness[verdict] >= _strictness[own]
