package reviewer.reasons_test

import data.reviewer.given_test as given
import data.reviewer.reasons

_messages := {
	"high_risk": "High risk action: {factors}", "low_rationality": "Low rationality: {issues}; {suggestions}",
	"side_effects": "Side effects: {kinds} ({severity})", "matrix": "risk {risk}, rationality {rationality}",
	"first_time": "first of its kind", "allowed": "All rules passed.",
	"denial": "DENIED {reason}|{rule}|{alternative}|{id}", "question": "ASKED {reason}|{rule}|{alternative}|{id}",
	"warning": "WARNED {reason}|{rule}|{alternative}|{id}", "aborted": "ABORTED {reason}|{by}", "stop": "STOPPED {reason}|{by}|{id}", "no_alternative": "nothing safer",
	"modified": "CHANGED {reason}|{rule}|{form}|{id}", "person_may": "a person may", "person_said": "the person may say so", "person_may_not": "nobody may",
	"otherwise_question": "ASKED {reason}|{why}|{person}", "otherwise_denial": "DENIED {reason}|{why}|{person}",
	"disabled": "switched off", "allowed_by_person": "{by} allowed this",
}

# A deletion that cannot be undone, after failures, by an agent that undoes its
# own work.
_bad := given.call({
	"action": {"types": ["file_deletion"], "effects": [given.effect("file_delete", {"reversibility": "R4"})]},
	"history": {
		"follows": ["contradicts"], "similar": {"count": 1, "failed": 1},
		"presupposes": [{"what": "earlier_step_succeeded", "met": false}],
	},
	"findings": ["says_warn", "says_block"],
})

test_order_of_reasons if {
	got := reasons.all with input as _bad with data.reviewer.catalog as given.catalog with data.reviewer.messages as _messages
		with data.reviewer.rationality.suggestions as {"goal_alignment": "A", "logical_progression": "L", "completeness": "C"}
	got == [
		"High risk action: file_deletion, failed_before, reversibility",
		"Low rationality: contradicts, unprepared; L; C",
		"Side effects: file_delete (high)",
		"says_block on ./a.txt",
		"says_warn on ./a.txt",
	]
	primary := reasons.primary with input as _bad with data.reviewer.catalog as given.catalog with data.reviewer.messages as _messages
	primary == got[0]
}

# A call that has run is no longer judged by the scores.
test_reasons_after_the_call if {
	got := reasons.all with input as object.union(_bad, {"phase": "post"})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.messages as _messages
	got == ["says_block on ./a.txt", "says_warn on ./a.txt"]
}

# Several types, and several kinds of effects.
test_reasons_of_several if {
	got := reasons.all with input as given.call({"action": {
		"types": ["file_deletion", "network_request"],
		"effects": [given.effect("file_delete", {}), given.request({})],
	}})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.messages as _messages
	got == ["High risk action: file_deletion+network_request", "Side effects: file_delete, network (high)"]
}

# If the policy is disabled, that is the reason, except for rules that always apply.
test_reason_where_switched_off[rule] if {
	some rule, want in {"says_block": "switched off", "says_always": "says_always on ./a.txt"}
	got := reasons.primary with input as given.call({"findings": [rule], "action": {"effects": [given.effect("file_write", {})]}})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.enabled as false
		with data.reviewer.messages as _messages
	got == want
}

test_risk_is_a_reason_from_its_threshold[name] if {
	some name, case in {"at": {"base": 0.7, "reasons": ["High risk action: mcp_call"]}, "below": {"base": 0.6999, "reasons": []}}
	case.reasons == reasons.all with input as given.action("mcp_call", [])
		with data.reviewer.risk.base.mcp_call as case.base
		with data.reviewer.messages as _messages
}

test_side_effects_are_a_reason_from_their_severity[name] if {
	some name, case in {"at": {"from": 2, "reasons": ["Side effects: file_write (medium)"]}, "below": {"from": 3, "reasons": []}}
	case.reasons == reasons.all with input as given.action("file_modification", [given.effect("file_write", {})])
		with data.reviewer.side_effects.reason_from as case.from
		with data.reviewer.messages as _messages
}

# What blocks a call is a reason, even where less would not be worth mentioning.
test_critical_side_effects_are_a_reason if {
	got := {"all": reasons.all, "text": reasons.text} with input as given.action("message", [given.effect("file_write", {})])
		with data.reviewer.side_effects.reason_from as 4
		with data.reviewer.side_effects.critical as 2
		with data.reviewer.side_effects.mitigations.file_write as "look first"
		with data.reviewer.messages as _messages
	got == {"all": ["Side effects: file_write (medium)"], "text": "DENIED Side effects: file_write (medium)|matrix|look first|{id}"}
}

test_low_rationality_is_a_reason[name] if {
	some name, case in {"low": {"level": "low", "reasons": ["Low rationality: x, explores; a; b"]}, "medium": {"level": "medium", "reasons": []}}
	case.reasons == reasons.all with input as given.action("file_read", [])
		with data.reviewer.matrix.minimal.low as "allow"
		with data.reviewer.scores.rationality_level as case.level
		with data.reviewer.scores.rationality as {"issues": ["x"]}
		with data.reviewer.scores.rationality_suggestions as ["a", "b"]
		with data.reviewer.messages as _messages
}

# The matrix's objection to a call is a reason if nothing more specific is.
test_the_matrix_is_a_reason[name] if {
	some name, case in {
		"warned": {"first": false, "reasons": ["risk medium, rationality medium"]},
		"forgiven": {"first": true, "reasons": ["risk medium, rationality medium"]},
	}
	got := {"reasons": reasons.all, "primary": reasons.primary} with input as given.call({
		"action": {"types": ["network_request"]},
		"history": {"first_time": case.first, "follows": ["repeats"]},
	})
		with data.reviewer.messages as _messages
	got == {"reasons": case.reasons, "primary": case.reasons[0]}
}

test_nothing_to_say if {
	got := {"silent": reasons.silent, "all": reasons.all, "primary": reasons.primary, "text": reasons.text, "results": reasons.results} with input as given.action("file_read", [given.effect("file_read", {})])
		with data.reviewer.messages as _messages
	got == {"silent": true, "all": [], "primary": "All rules passed.", "text": "", "results": []}
}

# The shortcut leaves out nothing.
test_silence[name] if {
	some name, doc in {
		"risk": given.action("system_command", []),
		"rationality": given.call({"history": {"follows": ["contradicts"], "presupposes": [{"what": "a", "met": false}]}}),
		"side effect": given.action("file_read", [{"kind": "system_call", "certainty": "exact"}]),
		"rule": given.call({"findings": ["says_warn"]}),
		"watched rule": given.call({"findings": ["watched"]}),
		"forgiven warning": given.call({"action": {"types": ["network_request"]}, "history": {"first_time": true, "follows": ["repeats"]}}),
		"critical": given.action("file_creation", [given.effect("file_write", {"short": "~/.ssh/x"})]),
	}
	silent := {x | x := reasons.silent with input as doc with data.reviewer.catalog as given.catalog}
	silent == set()
}

# A matrix that allows calls of low rationality still reports them.
test_little_sense_is_not_silent if {
	not reasons.silent with input as given.call({})
		with data.reviewer.matrix.minimal.low as "allow"
		with data.reviewer.scores.rationality_level as "low"
}

# If the policy is disabled, the matrix gives no reason.
test_matrix_where_switched_off if {
	reasons.all == [] with input as given.call({"action": {"types": ["network_request"]}, "history": {"follows": ["repeats"]}})
		with data.reviewer.enabled as false
}

test_explanation[name] if {
	some name, case in {
		"warned": {"first": false, "explanation": "risk medium, rationality medium"},
		"forgiven": {"first": true, "explanation": "risk medium, rationality medium; first of its kind"},
	}
	case.explanation == reasons.explanation with input as given.call({
		"action": {"types": ["network_request"]},
		"history": {"first_time": case.first, "follows": ["repeats"]},
	})
		with data.reviewer.messages as _messages
}

test_results if {
	doc := given.call({"findings": ["says_block", "watched"], "action": {"resource": "rm x"}})
	got := reasons.results with input as doc with data.reviewer.catalog as given.catalog
	got == [
		{"id": "says_block", "decision": "block", "severity": "high", "harm": "closed", "message": "says_block on an unknown target"},
		{
			"id": "watched", "decision": "block", "harm": "closed", "severity": "medium", "enforcement": "observe",
			"message": "watched on an unknown target",
		},
	]
}

# A rule that can hold up a call records its harm, by today's word.
test_harms[name] if {
	some name, case in {
		"a block": {"rule": {"decision": "block", "harm": "loss"}, "want": {"harm": "loss"}},
		"a question": {"rule": {"decision": "ask", "harm": "outward"}, "want": {"harm": "outward"}},
		"another form": {"rule": {"decision": "modify", "harm": "answered"}, "want": {"harm": "answered"}},
		"a warning": {"rule": {"decision": "warn", "harm": "loss"}, "want": {}},
		"without one": {"rule": {"decision": "ask"}, "want": {"harm": "closed"}},
		"a limit": {"rule": {"decision": "block", "harm": "closed", "limit": true}, "want": {"harm": "closed", "limit": true}},
		"a limit, by its earlier word": {"rule": {"decision": "block", "harm": "limit"}, "want": {"harm": "closed", "limit": true}},
		"an earlier word": {"rule": {"decision": "block", "harm": "secret"}, "want": {"harm": "exposure"}},
		"none": {"rule": {"decision": "block", "harm": "repeat"}, "want": {"harm": "none"}},
	}
	row := object.union({"id": "says", "message": "m", "tags": [], "overridable": [], "always": false}, case.rule)
	got := reasons.results[0] with input as given.call({"findings": ["says"]}) with data.reviewer.catalog as {"says": row}
	object.filter(got, ["harm", "limit"]) == case.want
}

# Safer ways: the rules' own, else those of the effects, else one that always applies.
test_alternatives[name] if {
	some name, case in {
		"allowed": {"findings": [], "types": ["file_read"], "effects": [], "want": []},
		"of the rules": {
			"findings": ["says_block", "says_warn"], "types": ["file_deletion"], "effects": [given.effect("file_delete", {})],
			"want": ["instead of says_block", "instead of says_warn"],
		},
		"of the effects": {
			"findings": ["bare"], "types": ["file_modification"], "effects": [given.effect("file_write", {})],
			"want": ["Commit or copy the file before it changes."],
		},
		"the same of two rules": {
			"findings": ["says_block", "twin"], "types": ["file_deletion"], "effects": [], "want": ["instead of says_block"],
		},
		"there is none": {"findings": ["bare"], "types": ["message"], "effects": [], "want": ["nothing safer"]},
	}
	bare := {"bare": {"id": "bare", "decision": "block", "message": "m", "tags": [], "overridable": [], "always": false}}
	twin := {"twin": object.union(given.catalog.says_block, {"id": "twin"})}
	doc := given.call({"findings": case.findings, "action": {"types": case.types, "effects": case.effects}})
	case.want == reasons.alternatives with input as doc
		with data.reviewer.catalog as object.union(given.catalog, object.union(bare, twin))
		with data.reviewer.messages as _messages
		with data.reviewer.side_effects.mitigations.file_write as "Commit or copy the file before it changes."
}

# The text matches the answer: its template, and the rule that led to it.
test_text[name] if {
	some name, case in {
		"nothing": {"findings": [], "mode": "enforce", "text": ""},
		"block": {"findings": ["says_block", "says_ask"], "mode": "enforce", "text": "DENIED says_block on ./a.txt|says_block|instead of says_block|{id}"},
		"ask": {"findings": ["says_ask", "says_warn"], "mode": "enforce", "text": "ASKED says_ask on ./a.txt|says_ask|instead of says_ask|{id}"},
		"modify": {"findings": ["says_modify"], "mode": "enforce", "text": "ASKED says_modify on ./a.txt|says_modify|instead of says_modify|{id}"},
		"warn": {"findings": ["says_warn"], "mode": "enforce", "text": "WARNED says_warn on ./a.txt|says_warn|instead of says_warn|{id}"},
		"watched": {"findings": ["says_block"], "mode": "observe", "text": ""},
		"only warned": {"findings": ["says_block"], "mode": "warn", "text": "WARNED says_block on ./a.txt|says_block|instead of says_block|{id}"},
		"a rule that only observes does not come first": {
			"findings": ["watched", "says_warn"], "mode": "enforce",
			"text": "WARNED says_warn on ./a.txt|says_warn|instead of says_warn|{id}",
		},
	}
	doc := given.call({"findings": case.findings, "action": {"types": ["file_creation"], "effects": [given.effect("file_write", {})]}})
	case.text == reasons.text with input as doc
		with data.reviewer.catalog as given.catalog
		with data.reviewer.messages as _messages
		with data.reviewer.enforcement as case.mode
}

test_text_of_the_scores[name] if {
	some name, case in {
		"block": {"progression": "contradicts", "met": false, "rules": [], "text": "DENIED High risk action: file_deletion|matrix|Look first.|{id}"},
		"ask": {"progression": "repeats", "met": true, "rules": [], "text": "ASKED High risk action: file_deletion|matrix|Look first.|{id}"},
		"warn": {"progression": "explores", "met": true, "rules": [], "text": "WARNED High risk action: file_deletion|matrix|Look first.|{id}"},
		"stricter than any rule": {
			"progression": "contradicts", "met": false, "rules": ["says_warn"],
			"text": "DENIED High risk action: file_deletion|matrix|instead of says_warn|{id}",
		},
	}
	doc := given.call({
		"action": {"types": ["file_deletion"], "effects": [given.effect("file_delete", {})]},
		"history": {"follows": [case.progression], "presupposes": [{"what": "a", "met": case.met}]},
		"findings": case.rules,
	})
	case.text == reasons.text with input as doc
		with data.reviewer.catalog as given.catalog
		with data.reviewer.messages as _messages
		with data.reviewer.matrix.without_harm as "block"
		with data.reviewer.side_effects.mitigations.file_delete as "Look first."
}

# If a rule has no safer way, those of the effects are used.
test_text_of_a_rule_without_a_way if {
	bare := {"id": "bare", "decision": "block", "message": "m", "tags": [], "overridable": [], "always": false}
	text := reasons.text with input as given.call({"findings": ["bare"], "action": {"types": ["file_creation"], "effects": [given.effect("file_write", {})]}})
		with data.reviewer.catalog as {"bare": bare}
		with data.reviewer.messages as _messages
		with data.reviewer.side_effects.mitigations.file_write as "Look first."
	text == "DENIED m|bare|Look first.|{id}"
}

# A medium risk with a medium rationality has no reason of its own; the text names
# it anyway.
test_text_of_the_matrix if {
	text := reasons.text with input as given.call({"action": {"types": ["network_request"]}, "history": {"follows": ["repeats"]}})
		with data.reviewer.messages as _messages
	text == "WARNED risk medium, rationality medium|matrix|nothing safer|{id}"
}

test_a_stopped_session[name] if {
	some what, case in {
		"with a reason": {"stop_reason": "lunch", "stop_by": "anna", "text": "STOPPED lunch|anna|{id}", "reason": "lunch"},
		"without": {"text": "STOPPED no reason given|a person|{id}", "reason": ""},
		"permanently": {"stop_reason": "lunch", "stop_by": "anna", "aborted": true, "text": "ABORTED lunch|anna", "reason": "lunch"},
	}
	some mode in ["enforce", "observe"]
	name := concat(", ", [what, mode])
	doc := given.call({"session": object.union({"stopped": true}, object.filter(case, ["stop_reason", "stop_by", "aborted"]))})
	got := {"text": reasons.text, "interventions": reasons.interventions} with input as doc
		with data.reviewer.catalog as given.catalog
		with data.reviewer.messages as _messages
		with data.reviewer.enforcement as mode
	got == {"text": case.text, "interventions": [{"kind": "emergency_stop", "reason": case.reason}]}
}

test_no_intervention_otherwise if {
	reasons.interventions == [] with input as _bad with data.reviewer.catalog as given.catalog
}

# A rule about deletions names what is deleted, once, and not the host next to it.
test_deleted[name] if {
	written := [given.effect("file_write", {"short": "./b"}), given.request({})]
	some name, case in {
		"deletions": {"effects": array.concat([given.effect("file_delete", {"short": s}) | some s in ["./x", "./y", "./x"]], written), "want": "./x, ./y"},
		"none": {"effects": written, "want": "./b, https://example.com/a"},
		"renamed": {"effects": array.concat([given.effect("file_write", {"short": "./x", "verb": "rename"})], written), "want": "./x"},
	}
	row := {"id": "says", "decision": "warn", "tags": [], "overridable": [], "always": false, "message": "{deleted}"}
	doc := given.call({"action": {"effects": case.effects}, "findings": ["says"]})
	got := reasons.results[0].message with input as doc with data.reviewer.catalog as {"says": row}
	got == case.want
}

# What is only moved is not called a deletion.
test_moved[name] if {
	some name, case in {
		"deleted": {"effects": [_deleted_file], "want": "deletes, Recursive deletion"},
		"moved out of reach": {"effects": [_moved_file], "want": "moves away, Moving whole folders away"},
		"moved within reach": {"effects": [given.effect("file_write", {"verb": "rename"})], "want": "moves away, Moving whole folders away"},
		"both": {"effects": [_moved_file, _deleted_file], "want": "deletes, Recursive deletion"},
		"neither": {"effects": [given.effect("file_write", {})], "want": "deletes, Recursive deletion"},
	}
	row := {"id": "says", "decision": "warn", "tags": [], "overridable": [], "always": false, "message": "{deletes}, {deletion}"}
	doc := given.call({"action": {"effects": case.effects}, "findings": ["says"]})
	got := reasons.results[0].message with input as doc with data.reviewer.catalog as {"says": row}
	got == case.want
}

_deleted_file := given.effect("file_delete", {"verb": "delete"})

_moved_file := given.effect("file_delete", {"verb": "move", "short": "./y"})

# What a template may name.
test_fields[field] if {
	some field, want in {
		"target": "./b, ./c, https://example.com/a", "command": "curl it", "tool": "Bash", "host": "example.com, example.org",
		"opaque": "code, syntax", "workspace": "/srv/shop", "operations": "7", "rule": "says",
	}
	doc := given.call({
		"action": {
			"resource": "curl it", "hosts": ["example.com", "example.org"],
			"opaque": [{"reason": "syntax"}, {"reason": "code"}, {"reason": "code", "where": "x"}],
			"effects": [
				given.effect("file_read", {"short": "./read"}), given.effect("file_write", {"short": "./b"}), given.effect("file_write", {"short": "./c"}),
				given.request({}), given.request({"target": "the fourth"}),
			],
		},
		"session": {"file_ops": 7}, "findings": ["says"],
	})
	template := concat("", ["<{", field, "}>"])
	row := {"id": "says", "decision": "warn", "tags": [], "overridable": [], "always": false, "message": template, "remediation": template}
	got := {"all": reasons.all, "recorded": reasons.results[0].message, "safer": reasons.alternatives[0]} with input as doc with data.reviewer.catalog as {"says": row}
	text := concat("", ["<", want, ">"])
	got.recorded == text
	got.safer == text
	text in got.all
}

# The place that the workspace's rules are about, and no other that the call touches.
test_place[name] if {
	some name, case in {
		"outside": {"effects": [{}, {"short": "~/notes.txt", "location": "home"}], "want": "~/notes.txt"},
		"denied, in the workspace": {"effects": [{}, {"short": "./secret/key"}], "want": "./secret/key"},
		"both": {"effects": [{"short": "./secret/key"}, {"short": "~/notes.txt", "location": "home"}], "want": "./secret/key, ~/notes.txt"},
		"another rule's": {"effects": [{}], "want": "this"},
	}
	row := {"id": "says", "decision": "warn", "tags": [], "overridable": [], "always": false, "message": "{place}"}
	doc := given.call({"findings": ["says"], "action": {"effects": [given.effect("file_write", e) | some e in case.effects]}})
	got := reasons.results[0].message with input as doc
		with data.reviewer.catalog as {"says": row}
		with data.reviewer.workspace as {"enforce": "writes", "outside": "ask", "allowed": [], "denied": ["./secret"]}
	got == case.want
}

# What concerns reviewer itself may only be read, unlike other targets.
test_guarded[name] if {
	some name, case in {
		"read": {"effects": [{}, {"kind": "file_read", "short": "~/rs/key", "guard": "key"}], "want": "~/rs/key"},
		"nothing": {"effects": [{"short": "./b.txt"}, {"kind": "file_read", "short": "./c.txt"}], "want": "./b.txt"},
	}
	row := {"id": "says", "decision": "warn", "tags": [], "overridable": [], "always": false, "message": "{guarded}"}
	doc := given.call({"findings": ["says"], "action": {"effects": [given.effect(object.get(e, "kind", "file_write"), e) | some e in case.effects]}})
	case.want == reasons.results[0].message with input as doc with data.reviewer.catalog as {"says": row}
}

test_fields_of_nothing[field] if {
	some field, want in {"target": "an unknown target", "host": "an unknown host", "tool": "", "opaque": ""}
	row := {"id": "says", "decision": "warn", "tags": [], "overridable": [], "always": false, "message": concat("", ["{", field, "}"])}
	doc := object.union(given.call({"findings": ["says"]}), {"event": {"name": "PreToolUse"}})
	nameless := json.remove(doc, ["event/tool"])
	want == reasons.results[0].message with input as nameless with data.reviewer.catalog as {"says": row}
}

# A call that is to be modified has texts for both outcomes.
test_text_of_another_form[name] if {
	some name, case in {
		"attended": {"mode": "default", "otherwise": "ASKED says_modify on ./a.txt|{why}|a person may"},
		"unattended": {"mode": "alone", "otherwise": "DENIED says_modify on ./a.txt|{why}|a person may"},
	}
	doc := given.call({"event": {"mode": case.mode}, "findings": ["says_modify"], "action": {"types": ["file_creation"], "effects": [given.effect("file_write", {})]}})
	got := {"text": reasons.text, "otherwise": reasons.otherwise} with input as doc
		with data.reviewer.catalog as given.catalog
		with data.reviewer.messages as _messages
		with data.reviewer.unattended_modes as ["alone"]
		with data.reviewer.rewriting.offers as {"says_modify": [{"op": "drop_flag", "command": 0, "flag": "-f"}]}
	got == {"text": "CHANGED says_modify on ./a.txt|says_modify|{form}|{id}", "otherwise": case.otherwise}
}

# What a person can still do, by the rule that led to the answer.
test_what_a_person_may_do[rule] if {
	some rule, text in {"says_block": "a person may", "says_always": "nobody may"}
	texts := object.union(_messages, {"denial": "{person}"})
	text == reasons.text with input as given.call({"findings": [rule]}) with data.reviewer.catalog as given.catalog with data.reviewer.messages as texts
}

test_reason_of_an_allowance[by] if {
	some by, session in {"anna": {"allowed": "once", "allowed_by": "anna"}, "a person": {"allowed": "session"}}
	got := reasons.primary with input as given.call({"findings": ["says_block"], "session": session})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.messages as _messages
	got == concat("", [by, " allowed this"])
}

# Placeholders in what an agent wrote are not filled in: it cannot choose reviewer's words.
test_no_second_filling if {
	row := {"id": "says", "decision": "block", "tags": [], "overridable": [], "always": false, "message": "{command}"}
	doc := given.call({"findings": ["says"], "action": {"resource": "echo {target} {alternative} {rule}"}})
	text := reasons.text with input as doc with data.reviewer.catalog as {"says": row} with data.reviewer.messages as _messages
	startswith(text, "DENIED echo {target} {alternative} {rule}|")
}

# Of a long command the agent is shown the beginning and the end; the record has all of it.
test_long_values_are_clipped[name] if {
	some name, case in {
		"as long as may be": {"length": 100, "want": _letters(100)},
		"one long word": {"length": 101, "want": concat("", [_letters(60), " … ", _letters(37)])},
	}
	row := {"id": "says", "decision": "block", "tags": [], "overridable": [], "always": false, "message": "{command}"}
	doc := given.call({"findings": ["says"], "action": {"resource": _letters(case.length)}})
	got := {"text": reasons.text, "recorded": reasons.results[0].message} with input as doc
		with data.reviewer.catalog as {"says": row}
		with data.reviewer.messages as _messages
	startswith(got.text, concat("", ["DENIED ", case.want, "|"]))
	got.recorded == _letters(case.length)
}

_letters(n) := concat("", ["a" | some _ in numbers.range(1, n)])

# No word is cut in the middle.
test_words_are_whole if {
	row := {"id": "says", "decision": "block", "tags": [], "overridable": [], "always": false, "message": "{command}"}
	words := concat(" ", ["Address already in use" | some _ in numbers.range(1, 6)])
	text := reasons.text with input as given.call({"findings": ["says"], "action": {"resource": words}})
		with data.reviewer.catalog as {"says": row}
		with data.reviewer.messages as _messages
	startswith(text, "DENIED Address already in use Address already in use Address … already in use Address already in use|")
}

# Of the patterns that fire, the agent is told the one that leads to the answer.
test_told[name] if {
	some name, case in {
		"the only pattern": {"found": {"one": {"level": "low"}}, "rows": {"one": "warn"}, "told": {"told": ["one"]}},
		"a stricter one": {"found": {"one": {"level": "low"}, "two": {"level": "low"}}, "rows": {"one": "warn", "two": "ask"}, "told": {"told": ["two"]}},
		"a rule is stricter": {"found": {"one": {"level": "low"}, "rule": {}}, "rows": {"one": "warn", "rule": "block"}, "told": {"told": []}},
		"no pattern": {"found": {"rule": {}}, "rows": {"rule": "block"}, "told": {}},
	}
	rows := {id: {"id": id, "decision": decision, "tags": [], "overridable": [], "always": false, "message": "short"} | some id, decision in case.rows}
	doc := given.call({"findings": object.keys(case.found), "finding": case.found})
	case.told == reasons.told with input as doc with data.reviewer.catalog as rows with data.reviewer.messages as _messages
}
