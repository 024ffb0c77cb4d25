package reviewer.rewriting_test

import data.reviewer.firing
import data.reviewer.given_test as given
import data.reviewer.rewriting

_destroyed(command, patch) := given.call({"action": {
	"types": ["network_request"],
	"signals": ["infrastructure_delete"],
	"commands": [object.union({"name": "terraform", "sub": [], "flags": [], "operands": []}, command)],
	"effects": [given.request(object.union({"verb": "delete", "object": "stack", "target": "terraform", "recursive": true}, patch))],
}})

_plans(at) := [{"op": "replace_arg", "command": 0, "arg": at, "value": "plan"}, {"op": "set_flag", "command": 0, "flag": "-destroy"}]

_without(flag) := {"op": "drop_flag", "command": 0, "flag": flag}

test_plan[name] if {
	some name, case in {
		"as it is": {"command": {"sub": ["destroy"]}, "operations": _plans(1)},
		"agreed beforehand": {"command": {"sub": ["destroy"], "flags": ["-auto-approve", "-lock=false"]}, "operations": array.concat(_plans(1), [_without("-auto-approve")])},
		"with a value": {"command": {"sub": ["destroy"], "flags": ["--auto-approve=true", "-force"]}, "operations": array.concat(_plans(1), [_without("--auto-approve=true"), _without("-force")])},
		"applied": {"command": {"sub": ["apply"], "flags": ["-destroy"]}, "operations": _plans(1)},
		"of all stacks": {"command": {"sub": ["run-all"], "operands": ["destroy"]}, "operations": _plans(2)},
	}
	case.operations == rewriting.offers.infrastructure_plan with input as _destroyed(case.command, {})
}

test_planned[name] if {
	some name, case in {
		"a stack": {"command": {"sub": ["destroy"]}, "patch": {}, "fires": {"infrastructure_plan"}},
		"its state": {"command": {"sub": ["state", "rm"]}, "patch": {"object": "state", "recursive": false}, "fires": {"api_delete"}},
		"production, by a word": {"command": {"sub": ["destroy", "prod"]}, "patch": {}, "fires": {"api_delete", "infrastructure_delete"}},
		"no end": {"command": {"sub": ["apply"]}, "patch": {"verb": "send"}, "fires": set()},
		"production": {"command": {"sub": ["destroy"], "flags": ["-var-file=prod.tfvars"]}, "patch": {}, "fires": {"api_delete", "infrastructure_delete"}},
		"a tool without plans": {"command": {"name": "pulumi", "sub": ["destroy"]}, "patch": {}, "fires": {"api_delete", "infrastructure_delete"}},
	}
	ids := firing.ids with input as _destroyed(case.command, case.patch)
	case.fires == ids & {"infrastructure_plan", "infrastructure_delete", "api_delete"}
}

test_no_plan[name] if {
	some name, case in {
		"no end": {"verb": "send"},
		"its state": {"object": "state"},
		"a program's own": {"kind": "process"},
		"of no command": {"command": -1},
	}
	not rewriting.offers.infrastructure_plan with input as _destroyed({"sub": ["destroy"]}, case)
}

test_no_plan_of_a_tool_without_plans if {
	not rewriting.offers.infrastructure_plan with input as _destroyed({"name": "pulumi", "sub": ["destroy"]}, {})
}

test_no_plan_as_the_settings_say if {
	not rewriting.offers.infrastructure_plan with input as _destroyed({"sub": ["destroy"]}, {}) with data.reviewer.rewrite.destroy_plan as false
}

test_plan_that_has_happened_or_is_no_destruction[name] if {
	some name, patch in {"has happened": {"phase": "post"}, "no signal": {"action": {"signals": []}}}
	ids := firing.ids with input as object.union(_destroyed({"sub": ["destroy"]}, {}), patch)
	not "infrastructure_plan" in ids
}

# Whatever disables planning, a destruction stays a destruction.
test_unplanned[name] if {
	some name, reviewer in {
		"no plans": {"rewrite": object.union(data.reviewer.rewrite, {"destroy_plan": false})},
		"no tools": {"rewrite": object.union(data.reviewer.rewrite, {"planners": []})},
		"no rule": {"rules": object.union(data.reviewer.rules, {"disabled": ["infrastructure_plan"]})},
	}
	given_data := object.union({"rewrite": data.reviewer.rewrite, "rules": data.reviewer.rules}, reviewer)
	ids := firing.ids with input as _destroyed({"sub": ["destroy"]}, {})
		with data.reviewer.rewrite as given_data.rewrite
		with data.reviewer.rules as given_data.rules
	ids & {"infrastructure_plan", "infrastructure_delete"} == {"infrastructure_delete"}
}
