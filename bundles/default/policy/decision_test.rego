package reviewer.decision_test

import data.reviewer
import data.reviewer.given_test as given

_delete(patch) := given.action("file_deletion", [given.effect("file_delete", patch)])

# The shortcut for calls about which there is nothing to report, and what it
# leaves out.
test_the_common_case if {
	got := reviewer.decision with input as given.action("file_read", [given.effect("file_read", {})])
		with data.reviewer.catalog as given.catalog
		with data.reviewer.prefilter.enabled as false
	got == {
		"decision": "allow", "enforced": "allow", "reason": data.reviewer.messages.allowed,
		"risk": {"score": 0, "level": "minimal", "factors": ["reads_only"]},
		"rationality": {
			"score": 0.81, "level": "high", "issues": [], "suggestions": [],
			"components": {"goal_alignment": 0.75, "logical_progression": 0.7, "efficiency": 1, "completeness": 1},
		},
		"side_effects": {"severity": "none", "reversible": true},
		"confidence": 1, "obligations": [], "grant": false, "uses": [],
	}
}

test_both_ways_have_the_same_fields if {
	short := reviewer.decision with input as given.call({}) with data.reviewer.catalog as given.catalog
	long := reviewer.decision with input as given.call({"findings": ["says_warn"]}) with data.reviewer.catalog as given.catalog
	object.keys(long) - object.keys(short) == {"reasons", "explanation", "rules", "alternatives", "text", "notice", "interventions", "rewrite", "otherwise", "saves"}
	object.keys(short) - object.keys(long) == set()
}

# An event that is not a call has no scores, unless a rule fires.
test_no_scores_of_events[phase] if {
	some phase in ["post", "prompt", "stop", "batch"]
	quiet := reviewer.decision with input as given.call({"phase": phase}) with data.reviewer.catalog as given.catalog
	answer := reviewer.decision with input as given.call({"phase": phase, "findings": ["says_warn"]})
		with data.reviewer.catalog as given.catalog
	quiet == {"decision": "allow", "enforced": "allow", "reason": data.reviewer.messages.allowed}
	answer.decision == "warn"
	answer.risk.level != ""
}

# There is a decision for everything that may come: without one the call is
# denied. A type for each level of risk, a progression for each of rationality.
test_there_is_always_a_decision[name] if {
	some phase in ["pre", "post", "prompt"]
	some progression in ["explores", "repeats", "contradicts"]
	some type in ["message", "file_modification", "network_request", "system_command", "unknown"]
	some failed in [0, 2]
	name := concat("/", [phase, progression, type, format_int(failed, 10)])
	got := reviewer.decision with input as given.call({
		"phase": phase, "action": {"types": [type]},
		"history": {"follows": [progression], "similar": {"failed": failed}, "presupposes": [{"what": "a", "met": false}]},
	})
	got.decision in {"allow", "warn", "ask", "block"}
	got.reason != ""
}

# Seed: risk 0.9 and rationality 0.2.
test_high_risk_and_low_rationality if {
	got := reviewer.decision with input as _delete({"reversibility": "R4"})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.matrix.without_harm as "block"
		with data.reviewer.scores.rationality_score as 0.2
	got.decision == "block"
	got.enforced == "block"
	got.risk.score == 0.9
	got.rationality.score == 0.2
	got.rationality.issues == ["irrational"]
	startswith(got.reason, "High risk")
	count(got.alternatives) > 0
	got.text != ""
}

# What is left behind, and what would be safer.
test_side_effects_are_told_with_their_mitigations if {
	got := reviewer.decision with input as _delete({"reversibility": "R4"}) with data.reviewer.catalog as given.catalog
	got.side_effects == {
		"severity": "high", "severities": ["high"], "reversible": false, "kinds": ["file_delete"],
		"mitigations": [data.reviewer.side_effects.mitigations.file_delete],
	}
}

# Settings may ask for a reason even where nothing is left behind.
test_a_decision_where_all_effects_are_told if {
	got := reviewer.decision with input as given.action("file_read", [given.effect("file_read", {"location": "home"})])
		with data.reviewer.catalog as given.catalog
		with data.reviewer.side_effects.reason_from as 0
	got.decision == "allow"
	got.reasons == ["Side effects:  (none)"]
}

# If the policy is disabled, the decision reports that nothing was judged, even
# for a harmless read.
test_switched_off[type] if {
	some type in ["file_read", "system_command"]
	got := reviewer.decision with input as given.action(type, [given.effect("file_read", {})])
		with data.reviewer.catalog as given.catalog
		with data.reviewer.enabled as false
	got.decision == "allow"
	got.reason == data.reviewer.messages.disabled
}

# A safer way is known for whatever does not run as it was asked.
test_alternatives_are_never_empty[name] if {
	some name, doc in {
		"scores": _delete({"location": "outside", "reversibility": "R4"}),
		"rule": given.call({"findings": ["says_block"]}),
		"nothing to go by": given.call({"action": {"types": ["unknown"], "effects": [given.effect("system_call", {"privileged": true})]}}),
	}
	got := reviewer.decision with input as doc with data.reviewer.catalog as given.catalog
	got.decision == "block"
	got.alternatives != []
	got.alternatives[0] != ""
}

test_checkpoint[name] if {
	some name, case in {
		"risky, runs": {"doc": _delete({}), "want": ["checkpoint"]},
		"nothing to weigh": {"doc": given.action("file_creation", [given.effect("file_write", {})]), "want": ["checkpoint"]},
		"changes no file": {"doc": given.action("system_command", []), "want": []},
		"has run": {"doc": object.union(_delete({}), {"phase": "post"}), "want": []},
		"does not run": {"doc": object.union(_delete({}), {"findings": ["says_block"]}), "want": []},
		"is asked about": {"doc": object.union(_delete({}), {"findings": ["says_ask"]}), "want": ["checkpoint"]},
		"is watched": {"doc": object.union(_delete({}), {"findings": ["watched"]}), "want": ["checkpoint"]},
	}
	got := reviewer.decision with input as case.doc with data.reviewer.catalog as given.catalog
	case.want == object.get(got, "obligations", [])
}

# The agent's own prompt is skipped only if the policy itself allows the call.
test_grant[name] if {
	some name, case in {
		"allowed": {"grant": true, "findings": [], "mode": "enforce", "want": true},
		"not set": {"grant": false, "findings": [], "mode": "enforce", "want": false},
		"warned": {"grant": true, "findings": ["says_warn"], "mode": "enforce", "want": false},
		"blocked, and only watched": {"grant": true, "findings": ["says_block"], "mode": "observe", "want": false},
		"a rule allows, not set": {"grant": false, "findings": ["allows"], "mode": "enforce", "want": false},
		"a rule allows": {"grant": true, "findings": ["allows"], "mode": "enforce", "want": true},
	}
	allows := {"allows": {"id": "allows", "decision": "allow", "tags": [], "overridable": [], "always": false}}
	got := reviewer.decision with input as given.call({"findings": case.findings})
		with data.reviewer.catalog as object.union(given.catalog, allows)
		with data.reviewer.grant as case.grant
		with data.reviewer.enforcement as case.mode
	case.want == got.grant
}

# A stop applies to every event but a prompt, whatever the policy's mode.
test_a_stopped_session[name] if {
	some phase in ["pre", "post", "batch", "stop"]
	some mode in ["enforce", "observe"]
	name := concat("/", [phase, mode])
	got := reviewer.decision with input as given.call({"phase": phase, "session": {"stopped": true, "stop_reason": "lunch"}})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.enforcement as mode
		with data.reviewer.rules as {"builtin": "none", "disabled": ["session_stopped"]}
	got.decision == "block"
	got.enforced == "block"
	got.interventions == [{"kind": "emergency_stop", "reason": "lunch"}]
	got.text != ""
}

# A person's prompt passes, whatever the policy's mode, and only they are told how to lift the stop.
test_a_prompt_in_a_stopped_session[name] if {
	some mode in ["enforce", "warn", "observe"]
	some name, case in {
		"first": {"session": {"stop_ms": 240000}, "notice": "4 minutes ago: lunch.\nYour prompt passes", "text": "4 minutes ago: lunch. The user's prompt passes"},
		"by a rule": {
			"session": {"stop_rule": "says_block", "stop_harm": "guard", "stop_ms": 7200000},
			"notice": "2 hours ago: lunch (rule says_block; a safeguard would have been changed).",
			"text": "2 hours ago: lunch (rule says_block; a safeguard would have been changed).",
		},
		"by a rule of an earlier version": {
			"session": {"stop_rule": "says_block", "stop_harm": "secret"},
			"notice": "(rule says_block; a secret or other data would have been disclosed).",
			"text": "(rule says_block; a secret or other data would have been disclosed).",
		},
		"by a pattern": {"session": {"stop_rule": "loop"}, "notice": "(rule loop; no single call", "text": "just now: lunch (rule loop;"},
		"again": {"session": {"stop_heard": true}, "notice": "still stopped: lunch. To resume it", "text": "still stopped: lunch."},
		"ended": {"session": {"aborted": true, "stop_heard": true}, "notice": "permanently ended by kim", "text": "permanently ended by kim"},
	}
	session := object.union({"stopped": true, "stop_reason": "lunch", "stop_by": "kim"}, case.session)
	got := reviewer.decision with input as given.call({"phase": "prompt", "session": session})
		with data.reviewer.enforcement as mode
		with data.reviewer.rules as {"builtin": "none", "disabled": ["session_stopped", "stopped_prompt"]}
	got.decision == "warn"
	got.enforced == "warn"
	got.interventions == []
	contains(got.notice, case.notice)
	contains(got.text, case.text)
	contains(got.notice, "session resume {session}") == name != "ended"
	not contains(got.text, "session resume")
	not contains(got.text, "{")
}

# A layer may have texts of its own, under the words of earlier versions.
test_what_a_stop_prevented[name] if {
	some name, case in {
		"by an earlier word": {"own": {"secret": "ours"}, "harm": "exposure", "want": "ours"},
		"by today's word": {"own": {"exposure": "ours"}, "harm": "secret", "want": "ours"},
		"several earlier words": {"own": {"place": "ours", "policy": "theirs"}, "harm": "closed", "want": "ours"},
		"a limit is not closed": {"own": {"closed": "theirs"}, "harm": "limit", "want": "a limit was exceeded"},
		"unknown": {"own": {}, "harm": "more", "want": "no single call would have done harm"},
	}
	session := {"stopped": true, "stop_rule": "says_block", "stop_harm": case.harm}
	notice := reviewer.decision.notice with input as given.call({"phase": "prompt", "session": session})
		with data.reviewer.messages.stopped.harms as object.union(data.reviewer.messages.stopped.harms, case.own)
	contains(notice, sprintf("(rule says_block; %s)", [case.want]))
}

# Once a person has written, files of the workspace can be read, and nothing else happens.
test_reads_in_a_stopped_session[name] if {
	read := {"kind": "file_read", "verb": "read", "location": "inside", "certainty": "exact", "entry": "file", "short": "./a", "command": -1}
	some name, case in {
		"before a prompt": {"session": {"stop_heard": false}, "want": "block"},
		"a file": {"want": "allow"},
		"files by a pattern": {"effect": {"certainty": "glob"}, "want": "allow"},
		"a list of names": {"effect": {"verb": "list", "entry": "dir", "recursive": true, "location": "self"}, "want": "allow"},
		"the agent's search": {"effect": {"verb": "search", "entry": "dir", "recursive": true, "location": "self"}, "want": "allow"},
		"a search by a command": {"effect": {"verb": "search", "recursive": true, "command": 0}, "want": "block"},
		"all of a folder": {"effect": {"recursive": true}, "want": "block"},
		"a folder": {"effect": {"entry": "dir"}, "want": "block"},
		"an unknown file": {"effect": {"certainty": "prefix"}, "want": "block"},
		"elsewhere": {"effect": {"location": "home"}, "want": "block"},
		"in another checkout": {"effect": {"location": "worktree"}, "want": "block"},
		"a credential": {"effect": {"class": "credential"}, "want": "block"},
		"with a part of a secret": {"effect": {"secret": true}, "want": "block"},
		"a write": {"effect": {"kind": "file_write", "verb": "write"}, "want": "block"},
		"more than a read": {"action": {"types": ["file_read", "mcp_call"]}, "want": "block"},
		"with a signal": {"action": {"signals": ["credential_adjacent"]}, "want": "block"},
		"with an unknown part": {"action": {"opaque": [{"reason": "code"}]}, "want": "block"},
		"without effects": {"action": {"effects": []}, "want": "block"},
		"another rule warns": {"findings": ["says_warn"], "want": "warn"},
		"another rule asks": {"findings": ["says_ask"], "want": "block"},
		"another rule denies": {"findings": ["says_block"], "want": "block"},
		"in a session that was ended": {"session": {"aborted": true}, "want": "block"},
		"no reads": {"reads": [], "want": "block"},
	}
	action := object.union({"types": ["file_read"], "effects": [object.union(read, object.get(case, "effect", {}))]}, object.get(case, "action", {}))
	session := object.union({"stopped": true, "stop_reason": "lunch", "stop_heard": true}, object.get(case, "session", {}))
	got := reviewer.decision with input as given.call({"action": action, "session": session, "findings": object.get(case, "findings", [])})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.interventions.stops.reads as object.get(case, "reads", ["inside", "self"])
	case.want == got.decision
}

# Where nothing may be read, the turn ends at the first call after the prompt, too.
test_after_calls_in_a_stopped_session[name] if {
	some phase in ["post", "batch", "stop"]
	some name, case in {
		"nobody wrote": {"heard": false, "reads": ["inside"], "want": "block"},
		"a person wrote": {"heard": true, "reads": ["inside"], "want": "allow"},
		"no reads": {"heard": true, "reads": [], "want": "block"},
	}
	got := reviewer.decision with input as given.call({"phase": phase, "session": {"stopped": true, "stop_reason": "lunch", "stop_heard": case.heard}})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.interventions.stops.reads as case.reads
	case.want == got.decision
}

# After the call there is only what the rules say.
test_after_the_call if {
	doc := object.union(_delete({"location": "root", "reversibility": "R5"}), {"phase": "post", "history": {"call": {"executed_differs": true}}})
	differs := object.union(doc, {"facts": given.facts(doc)})
	got := reviewer.decision with input as differs with data.reviewer.catalog as given.catalog
	got.decision == "warn"
	[r.id | some r in got.rules] == ["executed_differs"]
	not "checkpoint" in got.obligations
	quiet := reviewer.decision with input as object.union(_delete({}), {"phase": "post"}) with data.reviewer.catalog as given.catalog
	quiet.decision == "allow"
}
