package reviewer.early_test

import data.reviewer.early
import data.reviewer.given_test as given

_clean := {"git": "clean", "reversibility": "R2"}

_edit(patch) := given.action("file_modification", [given.effect("file_write", object.union(_clean, patch))])

_with(doc, patch) := given.call(object.union(doc, patch))

test_answered_early if {
	early.decision.source == "async" with input as _edit({}) with data.reviewer.mode as "async"
	early.decision.obligations == ["checkpoint"] with input as _edit({}) with data.reviewer.mode as "async"
}

test_reads_need_no_checkpoint if {
	doc := given.action("file_read", [given.effect("file_read", {"verb": "read"})])
	early.decision.obligations == [] with input as doc with data.reviewer.mode as "async"
}

test_blocking_waits if {
	early.decision == null with input as _edit({})
	not early.available
}

test_switched_off if {
	early.decision == null with input as _edit({}) with data.reviewer.mode as "async" with data.reviewer.enabled as false
	not early.available with data.reviewer.mode as "async" with data.reviewer.enabled as false
}

test_threshold if {
	early.decision == null with input as _edit({})
		with data.reviewer.mode as "async"
		with data.reviewer.performance.async_threshold as 0.1
	early.decision.source == "async" with input as _edit({})
		with data.reviewer.mode as "async"
		with data.reviewer.performance.async_threshold as 0.1001
}

test_effects_that_wait[name] if {
	some name, patch in {
		"protected by the guard": {"guard": "is"},
		"privileged": {"privileged": true},
		"on another machine": {"host": "container:web"},
		"outside": {"location": "outside"},
		"cannot be undone": {"reversibility": "R4", "git": "untracked"},
		"of an unknown class": {"class": "agent_config"},
		"sends": {"egress": true},
		"a process": {"kind": "process"},
		"the network": {"kind": "network"},
	}
	early.decision == null with input as _edit(patch) with data.reviewer.mode as "async"
}

test_sessions_that_wait[name] if {
	some name, patch in {
		"stopped": {"stopped": true},
		"resumed with limits": {"resumed": "limits"},
		"supervised": {"resumed": "supervise"},
		"restored": {"restored": true},
		"something was found late": {"late": {"decision": "block"}},
		"allowed by a person": {"allowed": "once"},
		"throttled": {"interventions": [{"kind": "throttle"}]},
	}
	early.decision == null with input as _with(_edit({}), {"session": patch}) with data.reviewer.mode as "async"
}

test_calls_that_wait[name] if {
	some name, patch in {
		"a finding": {"findings": ["loop"]},
		"a result": {"phase": "post"},
		"a signal": {"action": {"signals": ["obfuscated_execution"]}},
		"another type": {"action": {"types": ["file_modification", "system_command"]}},
		"no effect": {"action": {"effects": []}},
	}
	early.decision == null with input as _with(_edit({}), patch) with data.reviewer.mode as "async"
}

test_facts_that_wait[fact] if {
	some fact in ["constrained", "denied_before", "carries", "obeys", "inherits", "unread_code", "check_edited", "unheard_of"]
	doc := _edit({})
	early.decision == null with input as object.union(doc, {"facts": array.concat(doc.facts, [fact])}) with data.reviewer.mode as "async"
}

# A rule that always applies and that nobody considered here.
test_unknown_rule if {
	early.available with data.reviewer.mode as "async" with data.reviewer.catalog as {}
	not early.available with data.reviewer.mode as "async" with data.reviewer.catalog as {"new": {"always": true}}
	not early.available with data.reviewer.mode as "async" with data.policies as {"user": {"catalog": {"mine": {"always": true}}}}
}

test_access_list if {
	early.decision == null with input as _edit({})
		with data.reviewer.mode as "async"
		with data.reviewer.access_lists as {"team": {"default": "deny", "rules": {}}}
}

test_rule_of_a_layers_rego if {
	early.decision == null with input as _edit({})
		with data.reviewer.mode as "async"
		with data.policies as {"user": {"findings": [{"id": "mine", "always": true}]}}
	early.decision.source == "async" with input as _edit({})
		with data.reviewer.mode as "async"
		with data.policies as {"user": {"findings": [{"id": "mine"}]}}
}
