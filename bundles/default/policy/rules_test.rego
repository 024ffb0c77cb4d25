package reviewer.fired_test

import data.reviewer.fired
import data.reviewer.given_test as given

_ids(rules) := [r.id | some r in rules]

# Strictest first, then the severest, then by name.
test_order if {
	got := fired.rules with input as given.call({})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.firing.ids as {"says_warn", "says_modify", "says_ask", "says_block", "says_more", "says_always"}
	_ids(got) == ["says_more", "says_block", "says_always", "says_ask", "says_modify", "says_warn"]
}

_row(id, decision, severity) := {"id": id, "decision": decision, "severity": severity, "tags": [], "overridable": [], "always": false}

_order(rows) := _ids(got) if {
	got := fired.rules with input as given.call({})
		with data.reviewer.catalog as {row.id: row | some row in rows}
		with data.reviewer.firing.ids as {row.id | some row in rows}
}

# No severity makes up for a stricter verdict, and no name for a severity.
# Unknown values count as the worst.
test_each_order_by_itself if {
	verdicts := [
		_row("e", "block", "low"), _row("d", "ask", "medium"), _row("c", "modify", "high"),
		_row("b", "warn", "critical"), _row("a", "allow", "critical"),
	]
	_order(verdicts) == ["e", "d", "c", "b", "a"]
	severities := [
		_row("d", "ask", "enormous"), _row("e", "ask", "critical"), _row("c", "ask", "high"),
		_row("b", "ask", "medium"), _row("a", "ask", "low"),
	]
	_order(severities) == ["d", "e", "c", "b", "a"]
}

# The rule that denied it is more useful than the fact that it was denied before;
# stricter answers still come first.
test_what_was_denied_already_comes_last if {
	rows := [_row("deny_workaround", "block", "critical"), _row("z", "block", "low"), _row("a", "ask", "critical")]
	_order(rows) == ["z", "deny_workaround", "a"]
}

test_what_a_rule_says if {
	got := fired.rules with input as given.call({}) with data.reviewer.catalog as given.catalog with data.reviewer.firing.ids as {"says_warn"}
	got == [{
		"id": "says_warn", "decision": "warn", "severity": "low", "message": "says_warn on {target}", "mode": "enforce",
		"remediation": "instead of says_warn", "firm": false, "harm": "closed", "limit": false, "unattended": "",
	}]
}

# A condition that is true makes its row fire, if that has a decision.
test_findings_speak if {
	got := fired.rules with input as given.call({"findings": ["says_ask", "says_nothing", "no_rule_at_all"]})
		with data.reviewer.catalog as given.catalog
	_ids(got) == ["says_ask"]
}

test_sets[name] if {
	some name, want in {
		"all": ["says_block", "says_always", "says_ask"],
		"essential": ["says_always", "says_ask"],
		"none": ["says_always"],
	}
	got := fired.rules with input as given.call({"findings": ["says_ask"]})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.firing.ids as {"says_block", "says_always"}
		with data.reviewer.rules.builtin as name
	want == _ids(got)
}

test_disabled if {
	got := fired.rules with input as given.call({"findings": ["says_ask", "says_block"]})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.firing.ids as {"says_warn", "says_always"}
		with data.reviewer.rules.disabled as ["says_ask", "says_warn", "says_always", "unknown"]
	_ids(got) == ["says_block", "says_always"]
}

# A layer's settings disable its own rules, but for those that always apply.
test_disabled_by_its_layer if {
	row := object.union(_row("ours", "block", "high"), {"disabled": true})
	got := fired.rules with input as given.call({"findings": ["ours", "firm"]})
		with data.reviewer.catalog as {}
		with data.policies as {"organisation": {"catalog": {"ours": row, "firm": object.union(row, {"id": "firm", "always": true})}}}
	_ids(got) == ["firm"]
}

# Rules that always apply do so even if the policy is disabled.
test_switched_off if {
	got := fired.rules with input as given.call({"findings": ["says_ask", "ours"]})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.enabled as false
		with data.reviewer.firing.ids as {"says_block", "says_always"}
		with data.policies as {"user": {"catalog": {"ours": {"id": "ours", "decision": "block", "message": "m"}}}}
	_ids(got) == ["says_always"]
}

# In another layer too; its access lists do not fire either.
test_switched_off_in_layers if {
	got := fired.rules with input as given.call({"findings": ["theirs", "held"]})
		with data.reviewer.catalog as {}
		with data.reviewer.enabled as false
		with data.policies as {"organisation": {
			"catalog": {"theirs": _row("theirs", "block", "high"), "held": object.union(_row("held", "block", "high"), {"always": true})},
			"access_lists": {"team": {"default": "deny", "rules": {}}},
		}}
	_ids(got) == ["held"]
}

# A row without a decision is a name for a condition, and decides nothing itself.
test_a_condition_of_a_layer_says_nothing if {
	got := fired.rules with input as given.call({"findings": ["condition"]})
		with data.reviewer.catalog as {}
		with data.policies as {"user": {"catalog": {"condition": {"id": "condition"}}}}
	got == []
}

# A rule's mode in the settings takes precedence over the one in its row.
test_mode_by_settings[name] if {
	some name, case in {
		"watched": {"bundle": "enforce", "settings": {"says_block": "observe"}, "mode": "observe"},
		"another": {"bundle": "enforce", "settings": {"says_ask": "observe"}, "mode": "enforce"},
		"not stricter than the bundle": {"bundle": "warn", "settings": {"says_block": "enforce"}, "mode": "warn"},
	}
	got := fired.rules with input as given.call({})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.enforcement as case.bundle
		with data.reviewer.rules.enforcement as case.settings
		with data.reviewer.firing.ids as {"says_block"}
	[case.mode] == [r.mode | some r in got]
}

# A rule of the organisation is firm unless its row lets users make exceptions.
test_firm[name] if {
	some name, case in {
		"organisation": {"layer": "organisation", "overridable": [], "firm": true, "harm": "closed", "limit": false, "unattended": ""},
		"organisation, for users": {"layer": "organisation", "overridable": ["user"], "firm": false, "harm": "closed", "limit": false, "unattended": ""},
		"user": {"layer": "user", "overridable": [], "firm": false, "harm": "closed", "limit": false, "unattended": ""},
	}
	row := {"id": "ours", "decision": "block", "message": "m", "overridable": case.overridable}
	got := fired.rules with input as given.call({"findings": ["ours"]})
		with data.reviewer.catalog as {}
		with data.policies as {case.layer: {"catalog": {"ours": row}}}
	[case.firm] == [r.firm | some r in got]
}

test_modes[name] if {
	some name, case in {
		"enforce": {"bundle": "enforce", "rule": "enforce", "mode": "enforce"},
		"enforce, rule warns": {"bundle": "enforce", "rule": "warn", "mode": "warn"},
		"enforce, rule watches": {"bundle": "enforce", "rule": "observe", "mode": "observe"},
		"warn, rule enforces": {"bundle": "warn", "rule": "enforce", "mode": "warn"},
		"warn": {"bundle": "warn", "rule": "warn", "mode": "warn"},
		"warn, rule watches": {"bundle": "warn", "rule": "observe", "mode": "observe"},
		"observe, rule enforces": {"bundle": "observe", "rule": "enforce", "mode": "observe"},
		"observe, rule warns": {"bundle": "observe", "rule": "warn", "mode": "observe"},
		"observe": {"bundle": "observe", "rule": "observe", "mode": "observe"},
		"no word of the rule's": {"bundle": "warn", "rule": null, "mode": "warn"},
	}
	row := object.union(given.catalog.says_block, {"enforcement": mode | mode := case.rule; mode != null})
	got := fired.rules with input as given.call({"findings": ["says_block"]})
		with data.reviewer.catalog as {"says_block": row}
		with data.reviewer.enforcement as case.bundle
	case.mode == got[0].mode
}

test_always_is_not_softened[mode] if {
	some mode in ["observe", "warn", "enforce"]
	row := object.union(given.catalog.says_always, {"enforcement": "observe"})
	got := fired.rules with input as given.call({})
		with data.reviewer.catalog as {"says_always": row}
		with data.reviewer.firing.ids as {"says_always"}
		with data.reviewer.rules as {"builtin": "none", "disabled": ["says_always"]}
		with data.reviewer.enforcement as mode
	["enforce"] == [r.mode | some r in got]
}

# An exception counts only where the rule lets its layer make one.
test_exceptions[name] if {
	some name, case in {
		"user": {"policies": {"user": {"exceptions": [{"rule": "says_block"}]}}, "left": ["says_more", "says_ask"]},
		"organisation": {"policies": {"organisation": {"exceptions": [{"rule": "says_block"}]}}, "left": ["says_more", "says_ask"]},
		"project": {"policies": {"project": {"exceptions": [{"rule": "says_block"}]}}, "left": ["says_more", "says_block", "says_ask"]},
		"not overridable": {"policies": {"user": {"exceptions": [{"rule": "says_more"}]}}, "left": ["says_more", "says_block", "says_ask"]},
		"several": {
			"policies": {"user": {"exceptions": [{"rule": "x"}, {"rule": "says_ask"}, {"rule": "says_block"}]}},
			"left": ["says_more", "says_ask"],
		},
		"none": {"policies": {"user": {"exceptions": []}}, "left": ["says_more", "says_block", "says_ask"]},
		"unreadable": {"policies": {"user": {"exceptions": ["says_block", {"id": "says_block"}]}}, "left": ["says_more", "says_block", "says_ask"]},
	}
	got := fired.rules with input as given.call({"findings": ["says_ask"]})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.firing.ids as {"says_block", "says_more"}
		with data.policies as case.policies
	case.left == _ids(got)
}

# An exception ends at its moment by the time of the event, and one whose end cannot be read has ended.
test_exceptions_end[name] if {
	stays := ["says_more", "says_block", "says_ask"]
	goes := ["says_more", "says_ask"]
	some name, case in {
		"before": {"end": "2026-03-02", "ms": 1772409599999, "left": goes},
		"at its moment": {"end": "2026-03-02", "ms": 1772409600000, "left": stays},
		"with an hour, before": {"end": "2026-03-02T12:00:00Z", "ms": 1772452799999, "left": goes},
		"with an hour, after": {"end": "2026-03-02T12:00:00Z", "ms": 1772452800001, "left": stays},
		"not a date": {"end": "next week", "ms": 1, "left": stays},
		"not a text": {"end": 1772452800000, "ms": 1, "left": stays},
	}
	got := fired.rules with input as object.union(given.call({"findings": ["says_ask"]}), {"time": {"ms": case.ms}})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.firing.ids as {"says_block", "says_more"}
		with data.policies as {"user": {"exceptions": [{"rule": "says_block", "expires_at": case.end}]}}
	case.left == _ids(got)
}

# A rule ends at its moment.
test_rules_end[name] if {
	some name, case in {
		"before": {"ms": 1772409599999, "left": ["says_block"]},
		"at its moment": {"ms": 1772409600000, "left": []},
	}
	got := fired.rules with input as object.union(given.call({"findings": []}), {"time": {"ms": case.ms}})
		with data.reviewer.catalog as {"says_block": object.union(given.catalog.says_block, {"expires": 1772409600000})}
		with data.reviewer.firing.ids as {"says_block"}
	case.left == _ids(got)
}

test_always_has_no_exceptions if {
	row := object.union(given.catalog.says_always, {"overridable": ["user"]})
	got := fired.rules with input as given.call({"findings": ["says_always"]})
		with data.reviewer.catalog as {"says_always": row}
		with data.policies as {"user": {"exceptions": [{"rule": "says_always"}]}}
	_ids(got) == ["says_always"]
}

# Other layers: rows with a condition, rows that only Rego fires, findings that
# provide the whole rule.
test_layers[name] if {
	some name, case in {
		"condition": {
			"findings": ["ours"],
			"policies": {"user": {"catalog": {"ours": {"id": "ours", "decision": "ask", "message": "m", "severity": "high", "remediation": "r"}}}},
			"rule": {"id": "ours", "decision": "ask", "message": "m", "severity": "high", "mode": "enforce", "remediation": "r", "firm": false, "harm": "closed", "limit": false, "unattended": ""},
		},
		"Rego with a row": {
			"findings": [],
			"policies": {"project": {"findings": [{"id": "ours"}], "catalog": {"ours": {"id": "ours", "decision": "warn", "message": "m"}}}},
			"rule": {"id": "ours", "decision": "warn", "message": "m", "severity": "medium", "mode": "enforce", "remediation": "", "firm": false, "harm": "closed", "limit": false, "unattended": ""},
		},
		"Rego by itself": {
			"findings": [],
			"policies": {"organisation": {"findings": [{"id": "ours", "decision": "block", "message": "m", "severity": "low", "enforcement": "warn"}]}},
			"rule": {"id": "ours", "decision": "block", "message": "m", "severity": "low", "mode": "warn", "remediation": "", "firm": true, "harm": "closed", "limit": false, "unattended": ""},
		},
		"Rego changes its row": {
			"findings": [],
			"policies": {"user": {"findings": [{"id": "ours", "message": "n"}], "catalog": {"ours": {"id": "ours", "decision": "warn", "message": "m"}}}},
			"rule": {"id": "ours", "decision": "warn", "message": "n", "severity": "medium", "mode": "enforce", "remediation": "", "firm": false, "harm": "closed", "limit": false, "unattended": ""},
		},
	}
	got := fired.rules with input as given.call({"findings": case.findings}) with data.policies as case.policies with data.reviewer.catalog as {}
	[case.rule] == got
}

# An invalid value in a layer counts as the strictest, and is never lost.
test_layers_fail_closed[name] if {
	some name, finding in {
		"unknown verdict": {"id": "ours", "decision": "deny"},
		"no verdict": {"id": "ours"},
		"unknown severity": {"id": "ours", "decision": "block", "severity": "enormous"},
		"unknown mode": {"id": "ours", "decision": "block", "enforcement": "sometimes"},
	}
	got := fired.rules with input as given.call({}) with data.policies as {"user": {"findings": [finding]}} with data.reviewer.catalog as {}
	[["ours", "block", "enforce"]] == [[r.id, r.decision, r.mode] | some r in got]
}

test_a_finding_without_a_name if {
	got := fired.rules with input as given.call({}) with data.policies as {"user": {"findings": [{"decision": "ask"}]}} with data.reviewer.catalog as {}
	[["user.unnamed", "ask"]] == [[r.id, r.decision] | some r in got]
}

# A layer's rule is overridable as its row says.
test_layers_rules_have_exceptions[name] if {
	some name, case in {
		"as the row says": {"overridable": ["user"], "left": []},
		"not": {"overridable": [], "left": ["by_condition", "by_rego"]},
		"always": {"overridable": ["user"], "always": true, "left": ["by_condition", "by_rego"]},
	}
	row := {"decision": "ask", "message": "m", "overridable": case.overridable, "always": object.get(case, "always", false)}
	got := fired.rules with input as given.call({"findings": ["by_condition"]})
		with data.reviewer.catalog as {}
		with data.policies as {
			"organisation": {
				"catalog": {id: object.union(row, {"id": id}) | some id in ["by_condition", "by_rego"]},
				"findings": [{"id": "by_rego"}],
			},
			"user": {"exceptions": [{"rule": "by_condition"}, {"rule": "by_rego"}]},
		}
	case.left == _ids(got)
}

# The user may switch a rule off for one workspace, if its row lets them make exceptions.
test_disabled_in[name] if {
	some name, case in {
		"here": {"place": "/srv/shop", "left": ["says_more", "says_ask"]},
		"above": {"place": "/srv/", "left": ["says_more", "says_ask"]},
		"a like name": {"place": "/srv/sho", "left": ["says_more", "says_block", "says_ask"]},
		"elsewhere": {"place": "/srv/other", "left": ["says_more", "says_block", "says_ask"]},
		"no exceptions": {"place": "/srv/shop", "ids": ["says_more"], "left": ["says_more", "says_block", "says_ask"]},
	}
	got := fired.rules with input as given.call({"findings": ["says_ask", "says_block", "says_more"]})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.rules.disabled_in as {case.place: object.get(case, "ids", ["says_block"])}
	_ids(got) == case.left
}
