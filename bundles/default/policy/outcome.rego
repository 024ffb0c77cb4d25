# METADATA
# title: Outcome
# description: >-
#   The matrix, then its corrections, then the rules of all layers: the strictest
#   verdict applies. Verdicts are compared by strictness, allow 0 to block 4.
# scope: package
package reviewer.outcome

import data.reviewer.fired
import data.reviewer.intervention
import data.reviewer.requested
import data.reviewer.rewriting
import data.reviewer.said
import data.reviewer.saving
import data.reviewer.scores

_verdicts := ["allow", "warn", "modify", "ask", "block"]

_strictness := {"allow": 0, "warn": 1, "modify": 2, "ask": 3, "block": 4}

# METADATA
# title: The decision of the policy
decision := "allow" if {
	quiet
} else := "allow" if {
	allowed_by_person
} else := _verdicts[max(array.concat([_own, _stop, _wait], [_demand(r) | some r in fired.rules]))]

# METADATA
# title: The answer to give
# description: The decision after the enforcement modes of the bundle and of each rule.
enforced := answered if {
	not intervention.stops
	not intervention.holds
} else := "block" if {
	_soften(_stop, data.reviewer.enforcement) == _strictness.block
} else := _verdicts[max([_strictness[answered], _soften(_wait, data.reviewer.enforcement)])]

# METADATA
# title: The answer to the call alone
# description: Before an intervention stops the session, or has a person asked about the call.
answered := "allow" if {
	quiet
} else := "allow" if {
	allowed_by_person
} else := _verdicts[max(array.concat(
	[_soften(_own, data.reviewer.enforcement)],
	[_enforced(r) | some r in fired.rules],
))]

# METADATA
# title: No rule fired and the scores do not object
quiet if {
	own == "allow"
	fired.rules == []
}

# METADATA
# title: A person allowed exactly this call
# description: >-
#   This overrides scores and rules, except rules that always apply and those that the
#   organisation allows no exceptions to.
allowed_by_person if {
	"allowed_by_person" in input.facts
	not _adamant
}

_adamant if {
	some r in fired.rules
	r.firm
}

_own := _level(own) if own != "modify"

# The scores offer no form of their own: any form that the rules offer is reviewed
# again, by the same scores.
_own := _strictness.modify if {
	own == "modify"
	rewriting.possible
}

_own := _unmodified if {
	own == "modify"
	not rewriting.possible
}

# The call at which the session stops is denied.
_stop := _strictness.block if {
	intervention.stops
} else := _strictness.allow

# A call that waits for a person is treated as one that a rule asks about.
_wait := _unmodified if {
	intervention.holds
} else := _strictness.allow

_enforced(r) := _soften(_demand(r), r.mode)

_soften(s, "enforce") := s

_soften(s, "warn") := min([s, 1])

_soften(_, "observe") := 0

# Where nobody can be asked, a call that needs approval is blocked, unless the question can
# wait for a person outside the agent. This is applied before
# verdicts are compared, so that a rule that asks never makes the verdict milder.
_level(v) := _strictness[v] if not v in {"modify", "ask"}

_level(v) := _unmodified if v in {"modify", "ask"}

# METADATA
# title: The answer to a call whose files cannot be saved
unsaved := _verdicts[max(array.concat([_strictness[enforced]], [_own_demand(r) | some r in met]))]

# A rule asks, or denies: the safer form that it knows is no longer possible.
_own_demand(r) := _unmodified if {
	_unsaved(r) == _strictness.modify
} else := _unsaved(r)

# METADATA
# title: The rules whose objection is met by saving
met := [r | some r in fired.rules; saving.answers(r)]

# METADATA
# title: The answer to a call that cannot run in a safer form
otherwise := _verdicts[_unmodified]

_unmodified := _strictness.block if {
	_unattended
	not data.reviewer.approvals.queue in {"unattended", "always"}
} else := _strictness.ask

# A rule whose call should run in a safer form demands no more if it offered one.
_demand(r) := _strictness.allow if {
	"permitted" in input.facts
	said.answers(r)
} else := _strictness.allow if {
	saving.answers(r)
} else := _unsaved(r)

_unsaved(r) := _strictness.modify if {
	r.decision == "modify"
	rewriting.offered(r)
} else := _strictness.warn if {
	r.decision == "ask"
	_unattended
	object.get(r, "unattended", "") == "allow"
	scores.contained
} else := _level(r.decision)

_unattended if input.event.mode in data.reviewer.unattended_modes

# METADATA
# title: The matrix's verdict after its corrections
# description: >-
#   The matrix only judges calls that have not run yet. The most common outcome is tested
#   first: the clauses after it would give the same.
own := "allow" if {
	_cell == "allow"
	scores.worst < data.reviewer.side_effects.critical
} else := "allow" if {
	input.phase != "pre"
} else := "allow" if {
	not data.reviewer.enabled
} else := "block" if {
	scores.worst >= data.reviewer.side_effects.critical
	not requested.worst_named
} else := "allow" if {
	saving.used
	_strictness[_limited(_cell)] <= _strictness.warn
} else := "allow" if {
	first_time_pardon
} else := _limited(_held("modify")) if {
	_cell == "warn"
	_dangerous_pattern
} else := _limited(_cell)

# A score is not a harm. Where everything that the call does is known, rules name the harm
# and the scores alone stop nothing.
_limited(verdict) := _verdicts[min([_strictness[verdict], _strictness[_limit]])]

_limit := data.reviewer.matrix.without_harm if {
	_all_known
} else := data.reviewer.matrix.unknown_file if {
	_files_unknown
} else := "block"

# An action without effects is one whose effects nobody computed.
_all_known if {
	not "not_understood" in input.facts
	not "unknown" in input.action.types
	input.action.effects != []
	every e in input.action.effects {
		_known_or_named_later(e)
	}
}

_all_known if {
	"not_understood" in input.facts
	_only_targets_unknown
	every e in input.action.effects {
		_known_or_empty_folder(e)
	}
}

_known_or_named_later(e) if scores.known_path(e)

# A new file in a known folder whose name ends in something like a date.
_known_or_named_later(e) if {
	e.kind == "file_write"
	e.certainty == "prefix"
	e.location != "unknown"
}

_known_or_named_later(e) if {
	e.kind == "file_read"
	e.certainty == "prefix"
	e.location in {"inside", "temp"}
}

# A folder that the call itself made for temporary files.
_known_or_named_later(e) if {
	e.kind == "file_delete"
	e.certainty == "prefix"
	e.location == "temp"
	some made in input.action.effects
	made.kind == "file_write"
	made.verb == "create"
	made.command < e.command
	made.short == e.short
	every word in object.get(input.action.commands[e.command], "operands", []) {
		_stays_below(word)
	}
}

# What is unknown is only the end of the folder's own name, and nothing after it leads out of it.
_stays_below(word) if not contains(word, "?")

_stays_below(word) if {
	regex.match(`^[^?]*\?(/[^?]*)?$`, word)
	not contains(word, "/..")
}

_known_or_empty_folder(e) if scores.known_path(e)

# Nothing can be lost by creating an empty folder, wherever it is.
_known_or_empty_folder(e) if {
	e.kind == "file_write"
	e.verb == "create"
	input.action.commands[e.command].name == "mkdir"
}

# All that is unknown is which files are written. That alone is allowed, so together with
# something that is warned about it is at most a question.
_files_unknown if {
	"not_understood" in input.facts
	_only_targets_unknown
	every e in input.action.effects {
		_known_or_written(e)
	}
}

_only_targets_unknown if {
	not "unknown" in input.action.types
	every o in input.action.opaque {
		o.reason == "target"
	}
}

_known_or_written(e) if scores.known_path(e)

_known_or_written(e) if e.kind == "file_write"

# METADATA
# title: The matrix would be stricter if its verdict counted without a rule
limited if {
	objected
	_strictness[_limited(_cell)] < _strictness[_cell]
}

# The matrix's verdict.
_cell := _matrix_cell if {
	scores.own_level == scores.level
} else := _held(_matrix_cell)

_matrix_cell := data.reviewer.matrix[scores.level][scores.rationality_level]

# METADATA
# title: The scores would be stricter if the session's history counted in full
capped if {
	objected
	_strictness[_cell] < _strictness[_matrix_cell]
}

# Factors that only describe the session before the call (risk.soft) raise the matrix's
# verdict on the call itself to the ceiling at most.
_held(verdict) := _own_cell if {
	_strictness[verdict] <= _strictness[_own_cell]
} else := _verdicts[max([_strictness[_own_cell], min([_strictness[verdict], _ceiling])])]

_own_cell := data.reviewer.matrix[scores.own_level][scores.rationality_level]

_ceiling := min([_strictness[v] | some v in _ceilings])

_ceilings contains data.reviewer.risk.soft_ceiling[_own_cell]

_ceilings contains data.reviewer.risk.soft_ceiling.reads if scores.asks_service

_ceilings contains data.reviewer.risk.soft_ceiling.unattended if _unattended

# METADATA
# title: The matrix objects to the call, before its corrections
objected if {
	input.phase == "pre"
	data.reviewer.enabled
	_matrix_cell != "allow"
}

# METADATA
# title: A warning that is waived because nothing similar was done before
first_time_pardon if {
	_cell == "warn"
	data.reviewer.enabled
	input.phase == "pre"
	input.history.first_time
	scores.score < data.reviewer.risk.high_threshold
	scores.worst < data.reviewer.side_effects.critical
}

_dangerous_pattern if {
	some f in input.finding
	f.level in {"high", "critical"}
}

# METADATA
# title: A rule that leads to the answer
# description: The scores alone may lead to it too; the rule is named anyway.
# scope: document
leads(r) if _enforced(r) == _strictness[enforced]

leads(r) if {
	intervention.holds
	r.id == intervention.chosen.issue
}
