package reviewer.outcome_test

import data.reviewer.given_test as given
import data.reviewer.outcome

_matrix := {
	"minimal": {"high": "allow", "medium": "allow", "low": "warn"},
	"low": {"high": "allow", "medium": "allow", "low": "warn"},
	"medium": {"high": "allow", "medium": "warn", "low": "modify"},
	"high": {"high": "warn", "medium": "modify", "low": "block"},
	"critical": {"high": "block", "medium": "block", "low": "block"},
}

test_matrix[cell] if {
	some level, row in _matrix
	some rationality, want in row
	cell := concat("/", [level, rationality])
	want == outcome.own with input as given.call({})
		with data.reviewer.scores.level as level
		with data.reviewer.scores.rationality_level as rationality
}

# What has run already is not judged by the matrix.
test_only_before_the_call[phase] if {
	some phase in ["post", "batch", "prompt", "stop"]
	"allow" == outcome.own with input as given.call({"phase": phase})
		with data.reviewer.scores.level as "critical"
		with data.reviewer.scores.worst as 4
}

# The first correction that applies ends it.
test_corrections_in_order[name] if {
	some name, case in {
		"critical side effect": {"cell": "warn", "worst": 4, "first": true, "pattern": "high", "own": "block"},
		"critical side effect of an allowed call": {"cell": "allow", "worst": 4, "own": "block"},
		"first of its kind": {"cell": "warn", "first": true, "pattern": "critical", "own": "allow"},
		"first of its kind, but high": {"cell": "warn", "first": true, "score": 0.8, "own": "warn"},
		"just below high": {"cell": "warn", "first": true, "score": 0.7999, "own": "allow"},
		"first of its kind, high, pattern": {"cell": "warn", "first": true, "score": 0.8, "pattern": "high", "own": "modify"},
		"pattern": {"cell": "warn", "pattern": "high", "own": "modify"},
		"critical pattern": {"cell": "warn", "pattern": "critical", "own": "modify"},
		"mild pattern": {"cell": "warn", "pattern": "medium", "own": "warn"},
		"first of its kind, not warned": {"cell": "modify", "first": true, "own": "modify"},
		"pattern, not warned": {"cell": "block", "pattern": "high", "own": "block"},
		"pattern, allowed": {"cell": "allow", "pattern": "high", "own": "allow"},
	}
	finding := {"p": {"level": level, "measure": 1} | level := case.pattern}
	case.own == outcome.own with input as given.call({"history": {"first_time": object.get(case, "first", false)}, "finding": finding})
		with data.reviewer.matrix.low.high as case.cell
		with data.reviewer.scores.level as "low"
		with data.reviewer.scores.own_level as "low"
		with data.reviewer.scores.rationality_level as "high"
		with data.reviewer.scores.score as object.get(case, "score", 0.5)
		with data.reviewer.scores.worst as object.get(case, "worst", 0)
}

# The scores count in full only where something is unknown.
test_without_harm[name] if {
	exact := given.effect("file_delete", {})
	some name, case in {
		"all is known": {"effects": [exact], "want": "warn"},
		"all is known, critical effects": {"effects": [exact], "worst": 4, "want": "block"},
		"no effects were computed": {"effects": [], "want": "block"},
		"a target is known in part": {"effects": [exact, given.effect("file_delete", {"certainty": "prefix"})], "want": "block"},
		"the type is unknown": {"effects": [exact], "types": ["unknown"], "want": "block"},
		"the command is unknown": {"effects": [exact], "opaque": ["command"], "want": "block"},
		"a written file is unknown": {"effects": [exact, given.effect("file_write", {"certainty": "unknown"})], "opaque": ["target"], "want": "ask"},
		"a deleted file is unknown": {"effects": [given.effect("file_delete", {"certainty": "unknown"})], "opaque": ["target"], "want": "block"},
		"a written file and code are unknown": {"effects": [given.effect("file_write", {"certainty": "unknown"})], "opaque": ["target", "code"], "want": "block"},
	}
	action := {
		"types": object.get(case, "types", ["file_deletion"]),
		"effects": case.effects,
		"opaque": [{"reason": reason} | some reason in object.get(case, "opaque", [])],
	}
	case.want == outcome.own with input as given.call({"action": action})
		with data.reviewer.matrix.without_harm as "warn"
		with data.reviewer.matrix.unknown_file as "ask"
		with data.reviewer.scores.level as "critical"
		with data.reviewer.scores.own_level as "critical"
		with data.reviewer.scores.rationality_level as "high"
		with data.reviewer.scores.worst as object.get(case, "worst", 0)
}

_rule(decision, mode) := {"id": decision, "decision": decision, "severity": "low", "message": "m", "mode": mode, "remediation": ""}

# What came before the call raises the matrix's verdict on the call itself by one
# step: `own` and `all` are the levels of risk without soft factors and with them.
test_soft_ceiling[name] if {
	some name, case in {
		"a warning": {"own": "medium", "all": "high", "want": "warn"},
		"a warning, and no more": {"own": "medium", "all": "critical", "want": "warn"},
		"a question after a warning": {"own": "high", "all": "critical", "want": "ask"},
		"a block of its own": {"own": "critical", "all": "critical", "want": "block"},
		"a block of its own, of little sense": {"own": "high", "all": "critical", "sense": "low", "want": "block"},
		"a question stays one": {"own": "high", "all": "critical", "sense": "medium", "want": "ask"},
		"nobody to ask": {"own": "high", "all": "critical", "mode": "alone", "want": "warn"},
		"nobody to ask, and a question of its own": {"own": "high", "all": "high", "sense": "medium", "mode": "alone", "want": "block"},
		"a service is asked": {"own": "high", "all": "critical", "asks": true, "want": "warn"},
		"less than without them": {"own": "high", "all": "low", "want": "warn"},
		"nothing is raised": {"own": "low", "all": "medium", "want": "allow"},
		"a pattern that is dangerous": {"own": "high", "all": "high", "pattern": true, "want": "ask"},
		"the same, nobody to ask": {"own": "high", "all": "high", "pattern": true, "mode": "alone", "want": "warn"},
	}
	finding := {"p": {"level": "high", "measure": 1} | case.pattern}
	doc := given.call({"event": {"mode": object.get(case, "mode", "default")}, "finding": finding})
	got := outcome.decision with input as doc
		with data.reviewer.unattended_modes as ["alone"]
		with data.reviewer.scores.level as case.all
		with data.reviewer.scores.own_level as case.own
		with data.reviewer.scores.rationality_level as object.get(case, "sense", "high")
		with data.reviewer.scores.asks_service as object.get(case, "asks", false)
	got == case.want
}

# A layer may let what came before count in full.
test_no_soft_ceiling if {
	"block" == outcome.own with input as given.call({})
		with data.reviewer.risk.soft_ceiling as {"allow": "block", "warn": "block", "modify": "block", "reads": "block", "unattended": "block"}
		with data.reviewer.scores.level as "critical"
		with data.reviewer.scores.own_level as "low"
		with data.reviewer.scores.rationality_level as "high"
}

# The decision of the policy, and the answer: the scores' own verdict, rules
# as verdict/mode, the bundle's enforcement.
test_decision_and_answer[name] if {
	some name, case in {
		"nothing": {"own": "allow", "rules": [], "mode": "enforce", "decision": "allow", "enforced": "allow"},
		"the strictest rule wins": {
			"own": "allow", "rules": [["warn", "enforce"], ["block", "enforce"], ["ask", "enforce"]], "mode": "enforce",
			"decision": "block", "enforced": "block",
		},
		"the scores win": {"own": "block", "rules": [["ask", "enforce"]], "mode": "enforce", "decision": "block", "enforced": "block"},
		"a rule that allows changes nothing": {"own": "warn", "rules": [["allow", "enforce"]], "mode": "enforce", "decision": "warn", "enforced": "warn"},
		"modify is a question": {"own": "modify", "rules": [], "mode": "enforce", "decision": "ask", "enforced": "ask"},
		"a rule's modify is a question": {"own": "warn", "rules": [["modify", "enforce"]], "mode": "enforce", "decision": "ask", "enforced": "ask"},
		"observe": {"own": "block", "rules": [["block", "observe"]], "mode": "observe", "decision": "block", "enforced": "allow"},
		"warn": {"own": "block", "rules": [["block", "warn"]], "mode": "warn", "decision": "block", "enforced": "warn"},
		"warn makes nothing stricter": {"own": "allow", "rules": [["allow", "warn"]], "mode": "warn", "decision": "allow", "enforced": "allow"},
		"one rule is watched": {
			"own": "allow", "rules": [["block", "observe"], ["warn", "enforce"]], "mode": "enforce",
			"decision": "block", "enforced": "warn",
		},
		"one rule warns only": {"own": "allow", "rules": [["block", "warn"]], "mode": "enforce", "decision": "block", "enforced": "warn"},
		"one rule always holds": {"own": "warn", "rules": [["block", "enforce"]], "mode": "observe", "decision": "block", "enforced": "block"},
		"modify, watched": {"own": "modify", "rules": [], "mode": "observe", "decision": "ask", "enforced": "allow"},
		"modify, warned": {"own": "modify", "rules": [], "mode": "warn", "decision": "ask", "enforced": "warn"},
	}
	rules := [_rule(r[0], r[1]) | some r in case.rules]
	got := {"decision": outcome.decision, "enforced": outcome.enforced} with input as given.call({})
		with data.reviewer.outcome.own as case.own
		with data.reviewer.fired.rules as rules
		with data.reviewer.enforcement as case.mode
	got == {"decision": case.decision, "enforced": case.enforced}
}

# Where nobody can be asked, a call that needs a question does not run.
test_nobody_to_ask[name] if {
	some name, case in {
		"modify": {"own": "modify", "rules": [], "decision": "block"},
		"modify and a rule that asks": {"own": "modify", "rules": [_rule("ask", "enforce")], "decision": "block"},
		"a rule that asks": {"own": "warn", "rules": [_rule("ask", "enforce")], "decision": "block"},
		"a rule that warns": {"own": "allow", "rules": [_rule("warn", "enforce")], "decision": "warn"},
		"a rule's modify": {"own": "allow", "rules": [_rule("modify", "enforce")], "decision": "block"},
	}
	case.decision == outcome.decision with input as given.call({"event": {"mode": "alone"}})
		with data.reviewer.unattended_modes as ["unused", "alone"]
		with data.reviewer.outcome.own as case.own
		with data.reviewer.fired.rules as case.rules
}

# Where nobody is at the agent, a question can wait for a person elsewhere.
test_questions_wait[queue] if {
	some queue, want in {"never": "block", "unattended": "ask", "always": "ask"}
	want == outcome.decision with input as given.call({"event": {"mode": "alone"}})
		with data.reviewer.unattended_modes as ["alone"]
		with data.reviewer.approvals.queue as queue
		with data.reviewer.outcome.own as "allow"
		with data.reviewer.fired.rules as [_rule("ask", "enforce")]
}

# A rule may allow a call that needs approval although nobody can be asked, if
# everything that the call does is known, can be undone and stays here.
test_unattended_allow[name] if {
	some name, case in {
		"a known change of a file": {"effects": [given.effect("file_write", {"reversibility": "R2"})], "decision": "warn"},
		"somebody is there": {"effects": [given.effect("file_write", {"reversibility": "R2"})], "mode": "default", "decision": "ask"},
		"it cannot be undone": {"effects": [given.effect("file_write", {"reversibility": "R4"})], "decision": "block"},
		"it is not known whether it can": {"effects": [given.effect("file_write", {})], "decision": "block"},
		"outside the workspace": {"effects": [given.effect("file_write", {"reversibility": "R2", "location": "outside"})], "decision": "block"},
		"its end is not known": {"effects": [given.effect("file_write", {"reversibility": "R2", "certainty": "prefix"})], "decision": "block"},
		"something is sent": {"effects": [given.request({"verb": "upload", "egress": true})], "decision": "block"},
		"part of it is not understood": {"effects": [], "opaque": [{"reason": "command"}], "decision": "block"},
		"a secret goes out": {"effects": [], "secrets_out": ["text"], "decision": "block"},
	}
	rule := object.union(_rule("ask", "enforce"), {"unattended": "allow"})
	action := object.remove(case, ["mode", "decision"])
	got := outcome.decision with input as given.call({"event": {"mode": object.get(case, "mode", "alone")}, "action": object.union({"types": ["file_modification"]}, action)})
		with data.reviewer.unattended_modes as ["alone"]
		with data.reviewer.outcome.own as "allow"
		with data.reviewer.fired.rules as [rule]
	got == case.decision
}

# With another form available, modify is modify; a rule without one still asks.
test_another_form[name] if {
	some name, case in {
		"the rule's": {"own": "allow", "rules": ["modify"], "offers": ["modify"], "mode": "default", "decision": "modify"},
		"nobody to ask": {"own": "allow", "rules": ["modify"], "offers": ["modify"], "mode": "alone", "decision": "modify"},
		"for the scores too": {"own": "modify", "rules": ["modify"], "offers": ["modify"], "mode": "default", "decision": "modify"},
		"the scores have none of their own": {"own": "modify", "rules": ["warn"], "offers": ["warn"], "mode": "default", "decision": "ask"},
		"one of two rules": {"own": "allow", "rules": ["modify", "other"], "offers": ["modify"], "mode": "default", "decision": "ask"},
		"another rule asks": {"own": "allow", "rules": ["modify", "ask"], "offers": ["modify"], "mode": "default", "decision": "ask"},
		"the scores block": {"own": "block", "rules": ["modify"], "offers": ["modify"], "mode": "default", "decision": "block"},
		"a form for a rule that blocks": {"own": "allow", "rules": ["block"], "offers": ["block"], "mode": "default", "decision": "block"},
		"nothing to do": {"own": "allow", "rules": ["modify"], "offers": [], "mode": "default", "decision": "ask"},
	}
	rules := [object.union(_rule(r, "enforce"), {"decision": {"other": "modify"}[r]}) | some r in case.rules; r == "other"]
	plain := [_rule(r, "enforce") | some r in case.rules; r != "other"]
	offers := {r: [{"op": "drop_flag", "command": 0, "flag": "-f"}] | some r in case.offers}
	got := {"decision": outcome.decision, "enforced": outcome.enforced} with input as given.call({"event": {"mode": case.mode}})
		with data.reviewer.unattended_modes as ["alone"]
		with data.reviewer.outcome.own as case.own
		with data.reviewer.fired.rules as array.concat(plain, rules)
		with data.reviewer.rewriting.offers as offers
	got == {"decision": case.decision, "enforced": case.decision}
}

# The log says "first of its kind" only where that changed something.
test_first_time_pardon[name] if {
	some name, case in {
		"a warning": {"pardons": 1},
		"no warning": {"cell": "allow", "pardons": 0},
		"seen before": {"first": false, "pardons": 0},
		"high": {"score": 0.8, "pardons": 0},
		"nearly critical effects": {"worst": 3, "pardons": 1},
		"critical effects": {"worst": 4, "pardons": 0},
		"after the call": {"phase": "post", "pardons": 0},
		"switched off": {"enabled": false, "pardons": 0},
	}
	pardoned := {x | x := outcome.first_time_pardon}
		with input as given.call({"phase": object.get(case, "phase", "pre"), "history": {"first_time": object.get(case, "first", true)}})
		with data.reviewer.enabled as object.get(case, "enabled", true)
		with data.reviewer.matrix.low.high as object.get(case, "cell", "warn")
		with data.reviewer.scores.level as "low"
		with data.reviewer.scores.own_level as "low"
		with data.reviewer.scores.rationality_level as "high"
		with data.reviewer.scores.score as object.get(case, "score", 0.5)
		with data.reviewer.scores.worst as object.get(case, "worst", 0)
	case.pardons == count(pardoned)
}

# A manual override takes precedence over scores and rules, except for firm rules.
test_a_persons_word[name] if {
	some name, case in {
		"scores": {"session": {"allowed": "once"}, "rules": [], "own": "block", "decision": "allow"},
		"rules": {"session": {"allowed": "session"}, "rules": [_rule("block", "enforce")], "own": "allow", "decision": "allow"},
		"a firm rule": {"session": {"allowed": "once"}, "rules": [object.union(_rule("ask", "enforce"), {"firm": true})], "own": "allow", "decision": "ask"},
		"none": {"session": {}, "rules": [], "own": "block", "decision": "block"},
	}
	got := {"decision": outcome.decision, "enforced": outcome.enforced} with input as given.call({"session": case.session})
		with data.reviewer.outcome.own as case.own
		with data.reviewer.fired.rules as case.rules
	got == {"decision": case.decision, "enforced": case.decision}
}

# If the policy is disabled, the scores have no effect.
test_switched_off if {
	"allow" == outcome.own with input as given.call({})
		with data.reviewer.enabled as false
		with data.reviewer.scores.level as "critical"
		with data.reviewer.scores.worst as 4
}

# No rule makes the verdict of the scores milder.
test_rules_only_tighten[name] if {
	some own in ["allow", "warn", "modify", "ask", "block"]
	some rule in ["allow", "warn", "modify", "ask", "block"]
	some mode in ["default", "alone"]
	name := concat("/", [own, rule, mode])
	doc := given.call({"event": {"mode": mode}})
	alone := outcome.decision with input as doc
		with data.reviewer.unattended_modes as ["alone"]
		with data.reviewer.outcome.own as own
		with data.reviewer.fired.rules as []
	both := outcome.decision with input as doc
		with data.reviewer.unattended_modes as ["alone"]
		with data.reviewer.outcome.own as own
		with data.reviewer.fired.rules as [_rule(rule, "enforce")]
	_at_least(both, alone)
}

_at_least(a, b) if {
	order := ["allow", "warn", "modify", "ask", "block"]
	some i, a1 in order
	a1 == a
	some j, b1 in order
	b1 == b
	i >= j
}
