package reviewer.access_test

import data.reviewer.access
import data.reviewer.given_test as given

_rules := {
	"access.team.shell": {"effect": "require_approval"},
	"access.team.secrets": {"effect": "deny"},
	"access.team.ours": {"effect": "deny", "message": "{command} is ours"},
	"access.team.rest": {"effect": "allow"},
}

_team(default_effect) := {"team": {"default": default_effect, "rules": _rules}}

_results(findings, lists) := results if {
	results := access.results with input as given.call({"findings": findings})
		with data.reviewer.access_lists as lists
}

_said(results) := {r.id: r.decision | some r in results}

test_no_lists_no_say if {
	results := access.results with input as given.call({"findings": ["access.team.secrets"]})
		with data.reviewer.access_lists as {}
		with data.policies as {}
	results == set()
}

# The rule that was found answers for its list; an allow has no effect, and
# keeps the default from applying.
test_the_rule_that_was_found[finding] if {
	some finding, want in {
		"access.team.shell": {"access.team.shell": "ask"},
		"access.team.secrets": {"access.team.secrets": "block"},
		"access.team.rest": {},
	}
	want == _said(_results([finding, "another.rule"], _team("deny")))
}

test_default[effect] if {
	some effect, want in {
		"deny": {"access.team.default": "block"},
		"require_approval": {"access.team.default": "ask"},
		"allow": {},
	}
	want == _said(_results(["another.rule", "access.other.rest"], _team(effect)))
}

test_an_effect_that_nobody_knows_denies if {
	_said(_results([], _team("perhaps"))) == {"access.team.default": "block"}
}

test_what_a_rule_says if {
	_results(["access.team.ours"], _team("deny")) == {{
		"id": "access.team.ours", "decision": "block", "severity": "medium", "message": "{command} is ours",
		"mode": "enforce", "remediation": "", "firm": false,
	}}
}

test_words[name] if {
	some name, case in {
		"denied": {"findings": ["access.team.secrets"], "want": "access_denied"},
		"approval": {"findings": ["access.team.shell"], "want": "access_approval"},
		"default": {"findings": [], "want": "access_default"},
	}
	{data.reviewer.messages[case.want]} == {r.message | some r in _results(case.findings, _team("deny"))}
}

# A rule that cannot be evaluated denies, whatever it or the default says.
test_failed[id] if {
	some id, _ in _rules
	results := access.results with input as given.call({"findings": [id], "finding": {id: {"failed": true}}})
		with data.reviewer.access_lists as _team("allow")
	{[id, "block", data.reviewer.messages.access_failed]} == {[r.id, r.decision, r.message] | some r in results}
}

# Every list of every layer counts. No person can allow what the
# organisation's lists hold up.
test_layers if {
	results := access.results with input as given.call({"findings": ["access.team.rest", "access.ours.a"]})
		with data.reviewer.access_lists as _team("deny")
		with data.policies as {
			"organisation": {"access_lists": {"ours": {"default": "allow", "rules": {"access.ours.a": {"effect": "deny"}}}}},
			"user": {"access_lists": {
				"mine": {"default": "require_approval", "rules": {}},
				"more": {"default": "deny", "rules": {}},
			}},
			"project": {"catalog": {}},
		}
	{[r.id, r.decision, r.firm] | some r in results} == {
		["access.ours.a", "block", true],
		["access.mine.default", "ask", false],
		["access.more.default", "block", false],
	}
}

# Only what has not run yet can be denied.
test_before_the_call_only[phase] if {
	some phase in ["post", "prompt", "stop"]
	results := access.results with input as given.call({"phase": phase})
		with data.reviewer.access_lists as _team("deny")
		with data.policies as {"user": {"access_lists": {"mine": {"default": "deny", "rules": {}}}}}
	results == set()
}

test_mode[mode] if {
	some mode in ["observe", "warn", "enforce"]
	results := access.results with input as given.call({})
		with data.reviewer.access_lists as _team("deny")
		with data.reviewer.enforcement as mode
	{mode} == {r.mode | some r in results}
}
