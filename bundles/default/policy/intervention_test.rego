# METADATA
# title: What is done about a run
# scope: package
package reviewer.intervention_test

import data.reviewer.given_test as given
import data.reviewer.intervention

_rows := {
	"one": {"id": "one", "decision": "warn"},
	"harm": {"id": "harm", "decision": "block", "harm": "loss"},
	"around": {"id": "around", "decision": "block", "harm": "loss"},
}

_ladder := ["soft_correction", "context_reinforcement", "emergency_stop"]

_settings := object.union(data.reviewer.interventions, {
	"enabled": true,
	"ladders": {"one": _ladder},
	"stops": {"repeated": ["around"], "within": 50, "harms": ["loss"], "in_row": 3, "denials": 20, "levels": ["medium"]},
})

_found(id, session) := given.call({
	"findings": [id], "finding": {id: {"level": "medium", "confidence": 1}}, "session": session,
	"history": {"windows": {"metrics": {"events": 9, "denied": 2, "by_type": {"network_request": 4}}}},
})

# An earlier intervention about "one", with the issue found again after two actions.
_made(kind, seconds, back) := object.union(
	{
		"kind": kind, "issue": "one", "agent": "main", "ago": 20, "ms": seconds * 1000, "run": true,
		"back": {"actions": back, "ms": back * 1000},
	},
	object.filter({"factor": 0.5}, {"factor" | kind == "resource_throttling"}),
)

_soft(seconds) := _made("soft_correction", seconds, 2)

_kind(doc) := kind if {
	kind := intervention.chosen.kind with input as doc
		with data.reviewer.catalog as _rows
		with data.reviewer.interventions as _settings
} else := "none"

test_ladder[name] if {
	some name, case in {
		"first": {"before": [], "kind": "soft_correction"},
		"too soon after the last one": {"before": [_soft(20)], "kind": "none"},
		"before the next rung is due": {"before": [_soft(40)], "kind": "soft_correction"},
		"the next rung": {"before": [_soft(130)], "kind": "context_reinforcement"},
		"it helped": {"before": [_made("soft_correction", 130, 200)], "kind": "soft_correction"},
		"it helped seldom": {"before": [_made("soft_correction", 900, 200), _soft(400), _soft(130)], "kind": "context_reinforcement"},
		"it helped often": {"before": [_soft(900), _made("soft_correction", 400, 200), _made("soft_correction", 130, 200)], "kind": "none"},
		"used too often": {"before": [_soft(90), _soft(60), _soft(40)], "kind": "context_reinforcement"},
		"the last rung": {"before": [_soft(400), _made("context_reinforcement", 130, 2)], "kind": "emergency_stop"},
		"too many": {"before": [_soft(n * 200) | some n in numbers.range(1, 10)], "kind": "emergency_stop"},
	}
	case.kind == _kind(_found("one", {"interventions": case.before}))
}

# An agent that wants to stop continues once per prompt, but not where a hook has made it
# continue already.
test_stop_of_the_agent[name] if {
	some name, case in {
		"told nothing yet": {"before": [], "says": {"claims": ["tests"]}, "kind": "soft_correction"},
		"told since the prompt": {"before": [_soft(400)], "says": {"claims": ["tests"]}, "kind": "none"},
		"told before the prompt": {
			"before": [object.union(_made("soft_correction", 400, 200), {"run": false})],
			"says": {"claims": ["tests"]}, "kind": "soft_correction",
		},
		"it goes on already": {"before": [], "says": {"claims": ["tests"], "again": true}, "kind": "none"},
	}
	doc := object.union(_found("one", {"interventions": case.before}), {"phase": "stop", "event": {"says": case.says}})
	case.kind == _kind(doc)
}

_denied(session) := given.call({"findings": ["harm"], "finding": {"harm": {}}, "session": session})

_around(before) := given.call({"findings": ["around"], "finding": {"around": {}}, "session": {"interventions": before}})

# At the end of its ladder, a finding of a lower level offers the stop to a person.
test_not_grave_enough if {
	doc := object.union(_found("one", {"interventions": [_soft(400), _made("context_reinforcement", 130, 2)]}), {"finding": {"one": {"level": "low"}}})
	_kind(doc) == "emergency_stop"
	not intervention.stops with input as doc with data.reviewer.catalog as _rows with data.reviewer.interventions as _settings
	intervention.chosen.asks with input as doc with data.reviewer.catalog as _rows with data.reviewer.interventions as _settings
}

test_stops[name] if {
	some name, case in {
		"one denial": {"doc": _denied({}), "kind": "none"},
		"the second": {"doc": _denied({"denied_harms": ["loss"]}), "kind": "none"},
		"the third": {"doc": _denied({"denied_harms": ["loss", "loss"]}), "kind": "emergency_stop"},
		"the third, with another harm in between": {"doc": _denied({"denied_harms": ["loss", "limit"]}), "kind": "none"},
		"the twentieth": {"doc": _denied({"denials": 19}), "kind": "emergency_stop"},
		"the twentieth, one of them by a limit": {"doc": _denied({"denials": 19, "denied_by": {"limit": 1, "loss": 18}}), "kind": "none"},
		"twenty besides those by a limit": {"doc": _denied({"denials": 24, "denied_by": {"limit": 5, "loss": 19}}), "kind": "emergency_stop"},
		"the first way around": {"doc": _around([]), "kind": "soft_correction"},
		"the second way around": {"doc": _around([{"kind": "soft_correction", "issue": "around", "agent": "main", "ago": 50, "ms": 1, "run": true}]), "kind": "emergency_stop"},
		"long after the first": {"doc": _around([{"kind": "soft_correction", "issue": "around", "agent": "main", "ago": 51, "ms": 1, "run": true}]), "kind": "soft_correction"},
	}
	case.kind == _kind(case.doc)
}

# Rules and settings of layers, and records, may have the words of earlier versions. Limits count only if
# the settings name them.
test_harms_that_stop[name] if {
	some name, case in {
		"earlier words in settings and records": {"harms": ["secret"], "rule": {"harm": "exposure"}, "before": ["secret", "exposure"], "kind": "emergency_stop"},
		"an earlier word in a rule": {"harms": ["foreign_code"], "rule": {"harm": "code"}, "before": ["foreign_code", "code"], "kind": "emergency_stop"},
		"earlier words for one harm": {"harms": ["place"], "rule": {"harm": "closed"}, "before": ["policy", "place"], "kind": "emergency_stop"},
		"a rule without a harm": {"harms": ["closed"], "rule": {}, "before": ["closed", "closed"], "kind": "emergency_stop"},
		"another harm": {"harms": ["loss"], "rule": {"harm": "machine"}, "before": ["loss", "loss"], "kind": "none"},
		"a limit is not closed": {"harms": ["closed"], "rule": {"harm": "closed", "limit": true}, "before": ["closed", "closed"], "kind": "none"},
		"a limit by its earlier word": {"harms": ["closed"], "rule": {"harm": "limit"}, "before": ["closed", "closed"], "kind": "none"},
		"limits before it": {"harms": ["closed"], "rule": {"harm": "closed"}, "before": ["limit", "limit"], "kind": "none"},
		"limits by a setting": {"harms": ["limit"], "rule": {"harm": "closed", "limit": true}, "before": ["limit", "limit"], "kind": "emergency_stop"},
		"limits by a setting, and none": {"harms": ["limit"], "rule": {"harm": "closed"}, "before": ["limit", "limit"], "kind": "none"},
		"a question": {"harms": ["loss"], "rule": {"harm": "loss", "decision": "ask"}, "before": ["loss", "loss"], "kind": "none"},
		"another way, by its earlier word": {"harms": ["none"], "rule": {"harm": "repeat"}, "before": ["none", "repeat"], "kind": "emergency_stop"},
	}
	row := object.union({"id": "harm", "decision": "block"}, case.rule)
	stops := object.union(_settings.stops, {"harms": case.harms})
	kinds := {kind |
		kind := intervention.chosen.kind with input as _denied({"denied_harms": case.before})
			with data.reviewer.catalog as {"harm": row}
			with data.reviewer.interventions as object.union(_settings, {"stops": stops})
	}
	kinds == {case.kind} - {"none"}
}

test_only_a_person_stops if {
	doc := _denied({"denied_harms": ["loss", "loss"]})
	not intervention.stops with input as doc
		with data.reviewer.catalog as _rows
		with data.reviewer.interventions as object.union(_settings, {"hard_stop": false})
}

test_observed if {
	doc := _found("one", {})
	not intervention.chosen with input as doc
		with data.reviewer.catalog as _rows
		with data.reviewer.interventions as _settings
		with data.reviewer.enforcement as "observe"
}

test_severity[name] if {
	some name, case in {
		"mild": {"base": 0.2, "before": [], "kind": "soft_correction"},
		"moderate": {"base": 0.4, "before": [], "kind": "context_reinforcement"},
		"with one that did not help": {"base": 0.2, "before": [_soft(200)], "kind": "resource_throttling"},
		"the worst": {"base": 1, "before": [], "kind": "emergency_stop"},
	}
	settings := object.union(_settings, {"immediate": ["one"], "severity": {"base": {"medium": case.base}}})
	doc := _found("one", {"interventions": case.before})
	case.kind == intervention.chosen.kind with input as doc
		with data.reviewer.catalog as _rows
		with data.reviewer.interventions as settings
}

_throttled(n) := [object.union(_made("resource_throttling", 130, 200), {"issue": "other"}) | some _ in numbers.range(1, n)]

test_limits[name] if {
	some name, case in {
		"not throttled": {"n": 0, "limits": {}},
		"once": {"n": 1, "limits": {"calls": 5, "requests": 2}},
		"twice": {"n": 2, "limits": {"calls": 2, "requests": 1}},
		"ten times": {"n": 10, "limits": {"calls": 1, "requests": 1}},
	}
	doc := _found("one", {"interventions": [i | some i in _throttled(case.n); case.n > 0]})
	limits := intervention.limits with input as doc
		with data.reviewer.interventions.limits as {"calls": 10, "requests": 4}
		with data.reviewer.interventions.enabled as true
	case.limits == object.filter(limits, ["calls", "requests"])
}

test_exceeded[name] if {
	some name, case in {
		"within": {"limits": {"calls": 16, "requests": 20}, "want": []},
		"calls": {"limits": {"calls": 14, "requests": 20}, "want": ["7 calls in 60 seconds"]},
		"requests": {"limits": {"calls": 16, "requests": 8}, "want": ["4 network requests in 60 seconds"]},
	}
	doc := object.union(_found("one", {"interventions": _throttled(1)}), {"action": {"types": ["network_request"]}})
	case.want == intervention.exceeded with input as doc
		with data.reviewer.interventions.limits as case.limits
		with data.reviewer.interventions.enabled as true
}

# A session that was throttled has no limits once interventions are switched off.
test_no_limits_where_off if {
	doc := _found("one", {"interventions": _throttled(1)})
	intervention.limits == {} with input as doc with data.reviewer.interventions.enabled as false
}

test_factor[name] if {
	some name, case in {
		"nothing grows": {"ratios": [], "before": [], "factor": 1},
		"a little": {"ratios": [1.3], "before": [], "factor": 0.85},
		"much": {"ratios": [1.1, 1.6], "before": [], "factor": 0.7},
		"very much": {"ratios": [2.5], "before": [], "factor": 0.5},
		"again": {"ratios": [], "before": [_made("resource_throttling", 400, 2)], "factor": 0.25},
	}
	doc := _found("one", {"interventions": case.before, "growing": [{"ratios": case.ratios}]})
	case.factor == intervention.chosen.factor with input as doc
		with data.reviewer.catalog as _rows
		with data.reviewer.interventions as object.union(_settings, {"ladders": {"one": ["resource_throttling"]}})
}

test_texts[name] if {
	some name, case in {
		"medium": {"strength": "medium", "want": `They also said: delete nothing (users/), delete nothing, not to commit, "Leave billing/ alone", change nothing (docs/).
`},
		"light": {"strength": "light", "want": ""},
	}
	doc := object.union(_found("one", {"prompts": 2}), {"goal": {"statements": [
		{"kind": "forbids", "act": "delete", "objects": ["users/"]},
		{"kind": "orders", "act": "push"},
		{"kind": "forbids", "act": "delete"},
		{"kind": "forbids", "act": "commit"},
		{"kind": "forbids", "act": "change", "objects": ["billing/"], "text": "Leave billing/ alone.", "prompt": 1},
		{"kind": "forbids", "act": "change", "objects": ["docs/"], "text": "Leave docs/ alone.", "prompt": 2},
	]}})
	facts := intervention.facts with input as doc
		with data.reviewer.catalog as _rows
		with data.reviewer.interventions as object.union(_settings, {"reinforcement_strength": case.strength})
	facts["{constraints}"] == case.want
}

_paging := object.union(_settings, {
	"ladders": {"one": ["soft_correction", "page"]},
	"kinds": {"page": {"command": ["/usr/local/bin/page"]}, "mail": {"webhook": "https://mail.example.com", "text": "mailed"}},
})

# A kind of the organisation's own is a rung like others, and waits as messages do.
test_own_kind[name] if {
	some name, case in {
		"after a correction": {"before": [_soft(130)], "kind": "page"},
		"again, as the last rung": {"before": [_soft(400), _made("page", 130, 2)], "kind": "page"},
		"too soon": {"before": [_soft(400), _made("page", 20, 2)], "kind": "none"},
		"used too often": {"before": [_made("page", 400, 2), _made("page", 300, 2), _made("page", 200, 2)], "kind": "none"},
	}
	doc := _found("one", {"interventions": case.before})
	case.kind == _own(doc)
}

_own(doc) := kind if {
	kind := intervention.chosen.kind with input as doc
		with data.reviewer.catalog as _rows
		with data.reviewer.interventions as _paging
} else := "none"

_told(ladder) := text if {
	text := intervention.template with input as _found("one", {})
		with data.reviewer.catalog as _rows
		with data.reviewer.interventions as object.union(_paging, {"ladders": {"one": ladder}})
}

test_own_text if {
	_told(["mail"]) == "mailed"
	_told(["page"]) == data.reviewer.interventions.texts.own
	_told(["soft_correction"]) == data.reviewer.interventions.texts.soft_correction
}

test_unknown_kind_is_left_out if _told(["beep", "soft_correction"]) == data.reviewer.interventions.texts.soft_correction

# With the strategy custom, a rule of a layer gives the ladder.
test_custom[name] if {
	some name, case in {
		"the organisation's": {"policies": {"organisation": {"ladders": {"one": ["page"]}}, "user": {"ladders": {"one": ["mail"]}}}, "kind": "page"},
		"the user's": {"policies": {"user": {"ladders": {"one": ["mail"]}}}, "kind": "mail"},
		"another issue's": {"policies": {"user": {"ladders": {"two": ["mail"]}}}, "kind": "soft_correction"},
		"a project's": {"policies": {"project": {"ladders": {"one": ["mail"]}}}, "kind": "soft_correction"},
	}
	case.kind == intervention.chosen.kind with input as _found("one", {})
		with data.reviewer.catalog as _rows
		with data.reviewer.interventions as object.union(_paging, {"strategy": "custom"})
		with data.policies as case.policies
}
