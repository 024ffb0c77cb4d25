# METADATA
# title: How the run goes
# scope: package
package reviewer.run_test

import data.reviewer.fired
import data.reviewer.given_test as given
import data.reviewer.run
import data.reviewer.scores

_found(ids) := given.call({"findings": [id | some id in ids], "finding": {id: {"level": "medium"} | some id in ids}})

_fired(id, level, ago) := {"history": {"fired": {id: {"ago": ago, "level": level, "told": ago, "told_level": level, "times": 1}}}}

_both := given.call({"findings": ["one"], "finding": {"one": {"level": "medium"}}})

_rows := {"one": {"id": "one", "decision": "warn"}, "other": {"id": "other", "decision": "warn"}, "short": {"id": "short", "decision": "warn", "hysteresis": 3}}

test_active[name] if {
	some name, case in {
		"found now": {"doc": _found(["one"]), "active": true},
		"a short while ago": {"doc": given.call(_fired("one", "low", 10)), "active": true},
		"long ago": {"doc": given.call(_fired("one", "low", 11)), "active": false},
		"never": {"doc": given.call({}), "active": false},
		"another": {"doc": _found(["other"]), "active": false},
	}
	is := [true | run.active("one")] with input as case.doc with data.reviewer.catalog as _rows with data.reviewer.patterns.hysteresis as 10
	is == [true | case.active]
}

# A row may set for how long it is not repeated.
test_active_by_the_row[name] if {
	some name, case in {"just": {"ago": 3, "active": true}, "no more": {"ago": 4, "active": false}}
	is := [true | run.active("short")] with input as given.call(_fired("short", "low", case.ago)) with data.reviewer.catalog as _rows
	is == [true | case.active]
}

_composites := [{"of": ["one", "other"], "factor": 1.5}, {"of": ["one", "short"], "factor": 2}]

test_factor[name] if {
	some name, case in {
		"none": {"found": [], "factor": 1},
		"one of two": {"found": ["one"], "factor": 1},
		"both": {"found": ["one", "other"], "factor": 1.5},
		"the highest counts": {"found": ["one", "other", "short"], "factor": 2},
	}
	case.factor == run.factor with input as _found(case.found)
		with data.reviewer.catalog as _rows
		with data.reviewer.patterns.composites as _composites
}

test_factor_with_what_was_before if {
	doc := object.union(_both, _fired("other", "low", 2))
	run.factor == 1.5 with input as doc
		with data.reviewer.catalog as _rows
		with data.reviewer.patterns.composites as _composites
}

test_composites_that_ship[name] if {
	some name, case in {
		"errors and wandering": {"of": ["repetitive_errors", "exploration_wandering"], "factor": 1.5},
		"growth and drift": {"of": ["resource_spiral", "goal_drift"], "factor": 2},
		"what is not there and spread": {"of": ["hallucination", "scope_creep"], "factor": 1.8},
	}
	case.factor == run.factor with input as _found(case.of)
}

# What is active multiplies the risk only where something is found now.
test_factor_multiplies_the_risk if {
	doc := given.call({"findings": ["one"], "finding": {"one": {"level": "medium"}}, "action": {"types": ["file_creation"]}})
	alone := scores.score with input as doc with data.reviewer.patterns.composites as _composites with data.reviewer.catalog as _rows
	together := scores.score with input as object.union(doc, _fired("other", "low", 1))
		with data.reviewer.patterns.composites as _composites
		with data.reviewer.catalog as _rows
	abs(together - (alone * 1.5)) < 0.001
	quiet := scores.score with input as object.union(given.call({"action": {"types": ["file_creation"]}}), {"history": {"fired": {
		"one": {"ago": 1, "level": "low", "times": 1},
		"other": {"ago": 1, "level": "low", "times": 1},
	}}})
		with data.reviewer.patterns.composites as _composites
		with data.reviewer.catalog as _rows
	bare := scores.score with input as given.call({"action": {"types": ["file_creation"]}})
	quiet == bare
}

test_told[name] if {
	some name, case in {
		"the first time": {"fired": {}, "level": "medium", "told": false},
		"just before": {"fired": {"one": {"ago": 1, "level": "critical", "told": 1, "told_level": "medium", "times": 1}}, "level": "medium", "told": true},
		"at the end of the quiet": {"fired": {"one": {"ago": 1, "level": "critical", "told": 10, "told_level": "medium", "times": 1}}, "level": "medium", "told": true},
		"after it": {"fired": {"one": {"ago": 1, "level": "critical", "told": 11, "told_level": "medium", "times": 1}}, "level": "medium", "told": false},
		"it got worse": {"fired": {"one": {"ago": 1, "level": "critical", "told": 1, "told_level": "medium", "times": 1}}, "level": "high", "told": false},
		"worse still": {"fired": {"one": {"ago": 1, "level": "critical", "told": 1, "told_level": "high", "times": 1}}, "level": "critical", "told": false},
		"from low": {"fired": {"one": {"ago": 1, "level": "critical", "told": 1, "told_level": "low", "times": 1}}, "level": "medium", "told": false},
		"it got better": {"fired": {"one": {"ago": 1, "level": "critical", "told": 1, "told_level": "critical", "times": 1}}, "level": "high", "told": true},
		"only others had it": {"fired": {"one": {"ago": 1000, "level": "", "told": 1000, "told_level": "", "times": 4}}, "level": "low", "told": false},
	}
	doc := given.call({"findings": ["one"], "finding": {"one": {"level": case.level}}, "history": {"fired": case.fired}})
	is := [true | run.told("one", {"decision": "warn"})] with input as doc with data.reviewer.patterns.hysteresis as 10
	is == [true | case.told]
}

# Questions and denials are repeated each time, unless the row names a hysteresis.
test_told_warnings_only[decision] if {
	some decision in ["ask", "block", "modify"]
	doc := object.union(_both, _fired("one", "critical", 1))
	not run.told("one", {"decision": decision}) with input as doc
}

test_told_question_once[name] if {
	some name, case in {
		"just before": {"fired": _fired("one", "medium", 1), "told": true},
		"at the end of the quiet": {"fired": _fired("one", "medium", 3), "told": true},
		"after it": {"fired": _fired("one", "medium", 4), "told": false},
		"never": {"fired": {}, "told": false},
		"it got worse": {"fired": _fired("one", "low", 1), "told": false},
	}
	doc := object.union(_both, case.fired)
	is := [true | run.told("one", {"decision": "ask", "hysteresis": 3})] with input as doc
	is == [true | case.told]
}

test_told_is_not_said_again if {
	doc := object.union(_both, _fired("one", "medium", 1))
	rows := {"one": {
		"id": "one", "decision": "warn", "severity": "medium", "tags": [], "overridable": [], "always": false,
		"message": "one", "remediation": "", "title": "one",
	}}
	[r.id | some r in fired.rules] == ["one"] with input as _both with data.reviewer.catalog as rows
	[r.id | some r in fired.rules] == [] with input as doc with data.reviewer.catalog as rows
}
