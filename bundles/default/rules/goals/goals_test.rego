# METADATA
# title: What people said, held to
# description: Each rule and each of its helpers, with inputs for which it fires, and for which it does not.
# scope: package
package reviewer.goals_test

import data.reviewer.firing
import data.reviewer.given_test as given

_restrained(kind, effect) := given.call({
	"goal": {"known": true, "constraints": [{"kind": kind, "touched": true}]},
	"action": {"effects": [effect]},
})

_write := given.effect("file_write", {})

_delete := given.effect("file_delete", {})

_push := given.request({"egress": true, "verb": "send", "target": "origin", "reversibility": "R5"})

_gone := {"kind": "system_call", "verb": "wipe", "object": "volume", "target": "x", "certainty": "exact", "reversibility": "R4", "command": 0}

_said(doc) := {id | some id in firing.ids with input as doc; startswith(id, "goal_")}

_rules := {
	"leave": "goal_left_alone", "no_delete": "goal_no_delete", "read_only": "goal_read_only",
	"freeze": "goal_freeze", "plan_only": "goal_plan_only", "local": "goal_local",
}

# The answer of each kind of constraint to each kind of effect.
test_effects[name] if {
	some kind, id in _rules
	some what, case in {
		"a write": {"effect": _write, "fires": {"leave", "read_only", "plan_only"}},
		"a deletion": {"effect": _delete, "fires": {"leave", "no_delete", "read_only", "plan_only"}},
		"a push": {"effect": _push, "fires": {"leave", "read_only", "plan_only", "freeze", "local"}},
		"a push to this machine": {"effect": object.union(_push, {"loopback": true}), "fires": {"leave"}},
		"a download": {"effect": given.request({}), "fires": {"leave"}},
		"a volume of this machine": {"effect": _gone, "fires": {"leave", "no_delete", "read_only", "plan_only"}},
		"a table": {
			"effect": {"kind": "system_call", "verb": "drop", "object": "table", "target": "postgres:///shop", "certainty": "exact", "reversibility": "R5", "command": 0},
			"fires": {"leave", "no_delete", "read_only", "plan_only", "freeze"},
		},
		"a resource at a service": {
			"effect": given.request({"egress": true, "verb": "delete", "reversibility": "R5"}),
			"fires": {"leave", "no_delete", "read_only", "plan_only", "freeze", "local"},
		},
		"something that can be switched on again": {
			"effect": {"kind": "system_call", "verb": "stop", "target": "x", "certainty": "exact", "command": 0},
			"fires": {"leave", "read_only", "plan_only"},
		},
		"a program": {"effect": {"kind": "process", "verb": "exec", "target": "x", "certainty": "exact", "command": 0}, "fires": {"leave"}},
		"a temporary file": {"effect": object.union(_delete, {"location": "temp", "short": "/tmp/a"}), "fires": {"leave"}},
		"nothing": {"effect": object.union(_write, {"location": "null", "short": "/dev/null"}), "fires": {"leave"}},
		"what the session made": {"effect": object.union(_delete, {"ledger": "created"}), "fires": {"leave"}},
		"what the session wrote": {"effect": object.union(_delete, {"ledger": "written"}), "fires": {"leave", "no_delete", "read_only", "plan_only"}},
		"a plan of the agent's": {"effect": object.union(_write, {"location": "home", "short": "~/.claude/plans/a.md"}), "fires": {"leave"}},
		"a place that begins so": {
			"effect": object.union(_write, {"location": "home", "short": "~/.claude/plans-x/a.md"}),
			"fires": {"leave", "read_only", "plan_only"},
		},
	}
	name := concat(": ", [kind, what])
	_said(_restrained(kind, case.effect)) == {id | kind in case.fires}
}

# Whatever the effect is, a constraint that has nothing to do with it is silent,
# and so is one when the call is over.
test_silent[name] if {
	some kind, _ in _rules
	some what, doc in {
		"not touched": given.call({
			"goal": {"known": true, "constraints": [{"kind": kind, "touched": false}]},
			"action": {"effects": [_delete, _push, _gone]},
		}),
		"over": object.union(_restrained(kind, _delete), {"phase": "post"}),
		"none": given.call({"action": {"effects": [_delete, _push, _gone]}}),
	}
	name := concat(": ", [kind, what])
	_said(doc) == set()
}

test_the_place_that_is_left_alone if {
	doc := given.call({
		"goal": {"known": true, "constraints": [
			{"kind": "leave", "what": "src/a.go", "touched": true},
			{"kind": "leave", "what": "src/b.go", "touched": false},
			{"kind": "no_delete", "what": "src/c.go", "touched": true},
		]},
		"action": {"effects": [_write]},
	})
	"leave src/a.go" in data.reviewer.reasons.all with input as doc with data.reviewer.catalog as _left_alone
}

test_no_place_is_left_alone if {
	doc := _restrained("leave", _write)
	"leave this" in data.reviewer.reasons.all with input as doc with data.reviewer.catalog as _left_alone
}

_left_alone := {"goal_left_alone": {
	"id": "goal_left_alone", "decision": "block", "severity": "high", "message": "leave {place}", "remediation": "ask",
	"tags": [], "overridable": [], "always": false,
}}

_asked(intents, signals, patch) := given.call(object.union(
	{"goal": {"known": true, "intents": intents}, "action": {"signals": signals, "effects": [_gone]}},
	patch,
))

test_disproportion[name] if {
	some name, case in {
		"a question": {"doc": _asked(["explain"], ["infrastructure_delete"], {}), "fires": true},
		"each of them harmless": {"doc": _asked(["fix", "read", "test"], ["git_clean", "publish"], {}), "fires": true},
		"one is not": {"doc": _asked(["clean", "read"], ["infrastructure_delete"], {}), "fires": false},
		"nothing was asked": {"doc": _asked([], ["infrastructure_delete"], {}), "fires": false},
		"nothing is known": {"doc": _asked(["read"], ["infrastructure_delete"], {"goal": {"known": false}}), "fires": false},
		"no such thing": {"doc": _asked(["read"], ["git_clean"], {}), "fires": false},
		"nothing is changed": {"doc": _asked(["read"], ["publish"], {"action": {"effects": []}}), "fires": false},
		"over": {"doc": _asked(["read"], ["publish"], {"phase": "post"}), "fires": false},
	}
	_said(case.doc) == {"goal_disproportion" | case.fires}
}

# Settings decide what is harmless, and what is disproportionate.
test_disproportion_by_the_settings if {
	doc := _asked(["deploy"], ["git_clean"], {})
	_said(doc) == set()
	goals := {"harmless": ["deploy"], "disproportionate": ["git_clean"]}
	ids := firing.ids with input as doc with data.reviewer.goals as goals
	"goal_disproportion" in ids
}

test_mass_deletion[name] if {
	some name, case in {
		"as many": {"deleted": 25, "effect": _delete, "phase": "pre", "fires": true},
		"one less": {"deleted": 24, "effect": _delete, "phase": "pre", "fires": false},
		"a write": {"deleted": 25, "effect": _write, "phase": "pre", "fires": false},
		"a write next to another's deletion": {"deleted": 25, "effect": object.union(_delete, {"ledger": "created"}), "phase": "pre", "fires": false},
		"over": {"deleted": 25, "effect": _delete, "phase": "post", "fires": false},
	}
	doc := given.call({"phase": case.phase, "session": {"deleted": case.deleted}, "action": {"effects": [case.effect]}})
	ids := firing.ids with input as doc
	ids & {"mass_deletion"} == {"mass_deletion" | case.fires}
}
