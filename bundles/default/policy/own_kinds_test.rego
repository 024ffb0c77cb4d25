# METADATA
# title: What the organisation's own kinds of intervention do
# scope: package
package reviewer.own_kinds_test

import data.reviewer.given_test as given
import data.reviewer.intervention
import data.reviewer.outcome

_rows := {"one": {"id": "one", "decision": "warn", "message": "one happened"}, "waits_for_person": {"id": "waits_for_person", "decision": "ask"}}

_base := object.union(data.reviewer.interventions, {
	"enabled": true,
	"ladders": {"one": ["own"]},
	"auto_rollback": true,
	"stops": {"levels": ["medium"]},
	"texts": {"duties": {
		"remind": "reminded ", "limit": "limited ", "wait": "waits ", "wait_next": "the next waits ", "restore": "restored ",
		"restore_offered": "offered ", "restore_unsuitable": "unsuitable ", "stop_offered": "stop offered ",
	}},
})

_with(does, patch) := object.union_n([_base, {"kinds": {"own": {"does": does}}}, patch])

_doc(patch) := object.union(
	given.call({
		"findings": ["one"], "finding": {"one": {"level": "medium", "confidence": 1}},
		"session": {"interventions": [], "checkpoints": [{"id": "s-2", "call_ms": 9000, "first": true}]},
		"history": {"began": 5000},
	}),
	patch,
)

_past(kind, patch) := object.union({"kind": kind, "issue": "one", "agent": "main", "ago": 20, "ms": 200000, "run": true, "began": 4000, "back": {"actions": 2, "ms": 1000}}, patch)

_chosen(doc, settings) := c if {
	c := intervention.chosen with input as doc with data.reviewer.catalog as _rows with data.reviewer.interventions as settings
} else := {}

# What it does is what the settings for the built-in kinds allow.
test_does[name] if {
	some name, case in {
		"all but a stop": {"does": ["remind", "limit", "restore"], "want": ["remind", "limit", "restore"], "checkpoint": "s-2"},
		"a question": {"does": ["wait"], "want": ["wait"]},
		"a question in case a rollback fails": {"does": ["wait", "restore"], "want": ["wait", "restore"], "checkpoint": "s-2"},
		"no reminders": {"does": ["remind", "limit"], "settings": {"context_reinforcement": false}, "want": ["limit"]},
		"no limits": {"does": ["remind", "limit"], "settings": {"resource_throttling": false}, "want": ["remind"]},
		"no rollbacks": {"does": ["limit", "restore"], "settings": {"checkpoint_rollback": false}, "want": ["limit"]},
		"a person restores": {"does": ["limit", "restore"], "settings": {"auto_rollback": false}, "want": ["limit"], "asks": true, "checkpoint": "s-2"},
		"restored often enough": {
			"does": ["limit", "restore"], "settings": {"max_retries": 1}, "before": [_past("checkpoint_rollback", {})],
			"want": ["limit"],
		},
		"a stop that acts": {"does": ["limit", "stop"], "want": ["stop"]},
		"a stop for a lower level": {"does": ["limit", "stop"], "settings": {"stops": {"levels": ["high"]}}, "want": ["limit"], "asks": true},
		"only people stop": {"does": ["limit", "stop"], "settings": {"hard_stop": false}, "want": ["limit"], "asks": true},
		"after a call": {"does": ["wait", "restore"], "phase": "post", "want": ["wait", "restore"], "checkpoint": "s-2"},
		"nothing that is allowed": {"does": ["remind"], "settings": {"context_reinforcement": false}, "want": [], "kind": "none"},
	}
	settings := _with(case.does, object.get(case, "settings", {}))
	c := _chosen(_doc({"phase": object.get(case, "phase", "pre"), "session": {"interventions": object.get(case, "before", [])}}), settings)
	object.get(c, "does", []) == case.want
	object.get(c, "asks", false) == object.get(case, "asks", false)
	object.get(c, "kind", "none") == object.get(case, "kind", "own")
	object.get(case, "checkpoint", "") == object.get(c, "checkpoint", "")
}

# Only what an own kind does is listed: the name of a built-in kind says it.
test_does_is_absent[name] if {
	some name, case in {
		"limits": {"ladder": ["resource_throttling"], "kind": "resource_throttling"},
		"a stop": {"ladder": ["emergency_stop"], "kind": "emergency_stop"},
		"a kind that only tells somebody": {"ladder": ["page"], "kind": "page"},
	}
	settings := object.union(_base, {"ladders": {"one": case.ladder}, "kinds": {"page": {"command": ["/bin/page"]}}})
	c := _chosen(_doc({}), settings)
	c.kind == case.kind
	not "does" in object.keys(c)
}

# Where the policy only warns, neither a question nor a rollback is made.
test_warns if {
	c := intervention.chosen with input as _doc({})
		with data.reviewer.catalog as _rows
		with data.reviewer.interventions as _with(["limit", "wait", "restore"], {})
		with data.reviewer.enforcement as "warn"
	c.does == ["limit"]
}

# Messages wait; what does more does not.
test_cooldown[name] if {
	some name, case in {
		"a reminder": {"does": ["remind"], "kind": "none"},
		"limits": {"does": ["limit"], "kind": "own"},
		"a question": {"does": ["wait"], "kind": "own"},
		"a rollback": {"does": ["restore"], "kind": "own"},
		"a rollback by a person": {"does": ["restore"], "settings": {"auto_rollback": false}, "kind": "none"},
		"a rollback too many": {"does": ["restore"], "settings": {"max_retries": 1}, "kind": "none"},
		"a stop by a person": {"does": ["stop"], "settings": {"hard_stop": false}, "kind": "none"},
	}
	settings := _with(case.does, object.get(case, "settings", {}))
	doc := _doc({"session": {"interventions": [_past("own", {"ms": 1000})]}})
	object.get(_chosen(doc, settings), "kind", "none") == case.kind
}

_answer(doc, settings, mode) := answer if {
	answer := outcome.enforced with input as object.union(doc, {"event": {"mode": mode}})
		with data.reviewer.catalog as _rows
		with data.reviewer.interventions as settings
}

# The answer is never milder than without the kind, and where nobody can be asked, the call does not run.
test_answers[name] if {
	some name, case in {
		"a message": {"does": ["limit"], "want": "warn"},
		"a question": {"does": ["wait"], "want": "ask"},
		"a question to nobody": {"does": ["wait"], "mode": "bypassPermissions", "want": "block"},
		"a stop": {"does": ["stop"], "want": "block"},
		"a question in case a rollback fails": {"does": ["wait", "restore"], "want": "ask"},
		"a question after a call": {"does": ["wait"], "phase": "post", "want": "warn"},
	}
	_answer(_doc({"phase": object.get(case, "phase", "pre")}), _with(case.does, {}), object.get(case, "mode", "default")) == case.want
}

# Whatever a kind does, and whatever other rules say.
test_never_milder[name] if {
	some decision in ["warn", "ask", "block"]
	some phase in ["pre", "post"]
	some n in numbers.range(1, 31)
	name := sprintf("%s, %s, %d", [decision, phase, n])
	does := [what | some i, what in ["remind", "limit", "wait", "restore", "stop"]; bits.and(n, bits.lsh(1, i)) != 0]
	doc := _doc({"phase": phase, "findings": ["one", "other"]})
	rows := object.union(_rows, {"other": {"id": "other", "decision": decision}})
	with_it := outcome.enforced with input as doc with data.reviewer.catalog as rows with data.reviewer.interventions as _with(does, {})
	_strictness[with_it] >= _strictness[decision]
}

_strictness := {"allow": 0, "warn": 1, "modify": 2, "ask": 3, "block": 4}

_next(patch) := _doc({"findings": [], "finding": {}, "session": {"interventions": [_past("own", object.union({"next": true}, patch))]}})

_awaited(doc, settings) if {
	intervention.awaited with input as doc with data.reviewer.interventions as settings
}

test_awaited if _awaited(_next({}), _with(["wait"], {}))

test_not_awaited[name] if {
	some name, case in {
		"another call came since": {"past": {"next": false}},
		"a person wrote since": {"past": {"run": false}},
		"another agent": {"past": {"agent": "helper"}},
		"the kind asks nobody": {"does": ["limit"]},
		"turned off": {"settings": {"enabled": false}},
	}
	not _awaited(_next(object.get(case, "past", {})), _with(object.get(case, "does", ["wait"]), object.get(case, "settings", {})))
}

# Limits come from the factor, whatever the kind is called.
test_limits_of_an_own_kind if {
	settings := _with(["limit"], {"limits": {"calls": 10}, "resource_throttling": true})
	doc := _doc({"session": {"interventions": [_past("own", {"factor": 0.5})]}})
	limits := intervention.limits with input as doc with data.reviewer.interventions as settings
	limits.calls == 5
}

_told(does, kind, patch, doc) := text if {
	text := intervention.template with input as doc
		with data.reviewer.catalog as _rows
		with data.reviewer.interventions as object.union(_with(does, patch), {"kinds": {"own": kind}})
}

test_texts[name] if {
	some name, case in {
		"what is done follows the text": {"does": ["remind", "limit"], "kind": {"text": "told."}, "want": "told.\nreminded limited"},
		"or is in it": {"does": ["limit"], "kind": {"text": "first {duties}then"}, "want": "first limited then"},
		"a question": {"does": ["wait"], "kind": {"text": "{duties}"}, "want": "waits "},
		"a question about the next call": {"does": ["wait"], "kind": {"text": "{duties}"}, "phase": "post", "want": "the next waits "},
		"a rollback": {"does": ["restore"], "kind": {"text": "{duties}"}, "want": "restored "},
		"nobody is asked about a call that does not run": {"does": ["wait", "restore"], "kind": {"text": "{duties}"}, "want": "restored "},
		"one by a person": {"does": ["restore"], "kind": {"text": "{duties}"}, "settings": {"auto_rollback": false}, "want": "offered "},
		"one that is not possible": {"does": ["restore"], "kind": {"text": "{duties}"}, "checkpoints": [], "want": "unsuitable "},
		"one too many": {
			"does": ["limit", "restore"], "kind": {"text": "{duties}"}, "settings": {"max_retries": 1},
			"before": [_past("checkpoint_rollback", {})], "want": "limited ",
		},
		"a question that nobody can answer": {
			"does": ["limit", "wait"], "kind": {"text": "told"}, "mode": "bypassPermissions",
			"want": concat("", [data.reviewer.messages.denial, "\nlimited"]),
		},
		"a stop by a person": {"does": ["stop"], "kind": {"text": "{duties}"}, "settings": {"hard_stop": false}, "want": "stop offered "},
		"a stop": {"does": ["stop"], "kind": {"text": "told"}, "want": data.reviewer.interventions.texts.emergency_stop},
		"a kind without a text": {"does": ["limit"], "kind": {}, "want": replace(data.reviewer.interventions.texts.own_duties, "{duties}", "limited ")},
		"one that tells somebody": {"does": ["limit"], "kind": {"command": ["/bin/page"]}, "want": concat("", [data.reviewer.interventions.texts.own, "\nlimited"])},
	}
	given_doc := _doc({
		"phase": object.get(case, "phase", "pre"),
		"event": {"mode": object.get(case, "mode", "default")},
		"session": {"interventions": object.get(case, "before", [])},
	})
	doc := object.union(given_doc, object.filter({"session": {"checkpoints": []}}, {"session" | case.checkpoints}))
	_told(case.does, case.kind, object.get(case, "settings", {}), doc) == case.want
}
