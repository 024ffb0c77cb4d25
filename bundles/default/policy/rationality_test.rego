package reviewer.scores_test

import data.reviewer.given_test as given
import data.reviewer.scores

test_rationality_score[name] if {
	some name, case in {
		"explores": {"history": {}, "score": 0.81, "level": "high"},
		"builds on": {"history": {"follows": ["builds_on"]}, "score": 0.9, "level": "high"},
		"repeats": {"history": {"follows": ["repeats"]}, "score": 0.69, "level": "medium"},
		"contradicts": {"history": {"follows": ["contradicts"]}, "score": 0.6, "level": "medium"},
		"half of it is there": {
			"history": {"presupposes": [{"what": "a", "met": true}, {"what": "b", "met": false}]},
			"score": 0.735, "level": "medium",
		},
		"all of it is there": {"history": {"presupposes": [{"what": "a", "met": true}, {"what": "b", "met": true}]}, "score": 0.81, "level": "high"},
		"a third is missing": {
			"history": {"presupposes": [{"what": "a", "met": true}, {"what": "b", "met": true}, {"what": "c", "met": false}]},
			"score": 0.76, "level": "medium",
		},
		"nothing is in its favour": {
			"history": {"follows": ["contradicts"], "presupposes": [{"what": "a", "met": false}]},
			"score": 0.45, "level": "low",
		},
	}
	case.score == scores.rationality.score with input as given.call({"history": case.history})
	case.level == scores.rationality.level with input as given.call({"history": case.history})
}

test_rationality_components if {
	history := {"follows": ["repeats"], "presupposes": [{"what": "a", "met": true}, {"what": "b", "met": false}, {"what": "c", "met": true}]}
	want := {"goal_alignment": 0.75, "logical_progression": 0.3, "efficiency": 1, "completeness": 0.6667}
	scores.rationality.components == want with input as given.call({"history": history})
}

# What was looked at and did not change is known already; after a failure it is
# right to look again.
test_efficiency[name] if {
	some name, case in {
		"reads again": {"kind": "file_read", "progression": "repeats", "presupposes": [], "efficiency": 0.5, "score": 0.615},
		"reads": {"kind": "file_read", "progression": "explores", "presupposes": [], "efficiency": 1, "score": 0.81},
		"writes again": {"kind": "file_write", "progression": "repeats", "presupposes": [], "efficiency": 1, "score": 0.69},
		"reads again after a failure": {
			"kind": "file_read", "progression": "repeats", "presupposes": [{"what": "earlier_step_succeeded", "met": false}],
			"efficiency": 1, "score": 0.54,
		},
	}
	doc := given.call({
		"action": {"effects": [given.effect(case.kind, {})]},
		"history": {"follows": [case.progression], "presupposes": case.presupposes},
	})
	case.efficiency == scores.rationality.components.efficiency with input as doc
	case.score == scores.rationality.score with input as doc
}

test_rationality_level_boundaries[name] if {
	some name, case in {
		"high": {"alignment": 0.8, "level": "high"},
		"medium to its end": {"alignment": 0.7999, "level": "medium"},
		"medium": {"alignment": 0.5, "level": "medium"},
		"low to its end": {"alignment": 0.4999, "level": "low"},
	}
	only_alignment := {"goal_alignment": 1, "logical_progression": 0, "efficiency": 0, "completeness": 0}
	case.level == scores.rationality.level with input as given.call({})
		with data.reviewer.rationality.weights as only_alignment
		with data.reviewer.rationality.neutral_alignment as case.alignment
}

test_irrational[name] if {
	some name, case in {"below": {"alignment": 0.2999, "issues": ["irrational", "off_goal"]}, "at": {"alignment": 0.3, "issues": ["off_goal"]}}
	only_alignment := {"goal_alignment": 1, "logical_progression": 0, "efficiency": 0, "completeness": 0}
	case.issues == scores.rationality.issues with input as given.call({})
		with data.reviewer.rationality.weights as only_alignment
		with data.reviewer.rationality.neutral_alignment as case.alignment
}

# A call of at least medium rationality is not irrational, wherever that level
# begins.
test_irrational_is_low_too if {
	scores.rationality.issues == ["contradicts"] with input as given.call({"history": {"follows": ["contradicts"]}})
		with data.reviewer.rationality.low_threshold as 0.9
}

# No risk is not a borderline case, but the highest risk may be one.
test_confidence_at_the_ends[name] if {
	some name, case in {
		"none, near a low threshold": {"base": 0, "low": 0.04, "critical": 0.95, "confidence": 1},
		"all, near a high threshold": {"base": 1, "low": 0.3, "critical": 0.99, "confidence": 0.76},
	}
	case.confidence == scores.confidence with input as given.action("mcp_call", [])
		with data.reviewer.risk.base.mcp_call as case.base
		with data.reviewer.risk.low_threshold as case.low
		with data.reviewer.risk.critical_threshold as case.critical
}

test_confidence[name] if {
	some name, case in {
		"all is clear": {"base": 0.45, "opaque": [], "confidence": 1},
		"nothing to fear": {"base": 0, "opaque": [], "confidence": 1},
		"one thing is opaque": {"base": 0.45, "opaque": [{"reason": "code"}], "confidence": 0.8},
		"three things are": {"base": 0.45, "opaque": [{"reason": "code"}, {"reason": "tool"}, {"reason": "syntax"}], "confidence": 0.4},
		"more than can be": {"base": 0.45, "opaque": [{"reason": "code", "where": w} | some w in numbers.range(1, 9)], "confidence": 0},
		"on a boundary": {"base": 0.6, "opaque": [], "confidence": 0.7},
		"just below one": {"base": 0.59, "opaque": [], "confidence": 0.76},
		"just above the first": {"base": 0.31, "opaque": [], "confidence": 0.76},
		"just below the third": {"base": 0.79, "opaque": [], "confidence": 0.76},
		"just below the last": {"base": 0.94, "opaque": [], "confidence": 0.76},
		"half way": {"base": 0.825, "opaque": [], "confidence": 0.85},
		"far enough": {"base": 0.65, "opaque": [], "confidence": 1},
		"below the first": {"base": 0.29, "opaque": [], "confidence": 0.76},
		"above the last": {"base": 0.96, "opaque": [], "confidence": 0.76},
		"both": {"base": 0.8, "opaque": [{"reason": "code"}], "confidence": 0.5},
	}
	doc := given.call({"action": {"types": ["mcp_call"], "opaque": case.opaque}})
	case.confidence == scores.confidence with input as doc with data.reviewer.risk.base.mcp_call as case.base
}

# What people asked for, and how an action relates to it.
test_goal_alignment[name] if {
	some name, case in {
		"no goal": {"known": false, "alignment": 0.75},
		"only known": {"alignment": 0.775},
		"named": {"goal": {"named": true}, "alignment": 0.9},
		"some of its words": {"goal": {"words": 0.1}, "alignment": 0.815},
		"a quarter of its words": {"goal": {"words": 0.25}, "alignment": 0.875},
		"all of its words": {"goal": {"words": 1}, "alignment": 0.875},
		"named and said": {"goal": {"named": true, "words": 1}, "alignment": 1},
		"of the kind": {"goal": {"intents": ["fix"]}, "alignment": 0.775},
		"of another kind": {"goal": {"intents": ["explain"]}, "alignment": 0.475},
		"of one of the kinds": {"goal": {"intents": ["explain", "fix"]}, "alignment": 0.775},
		"partly of the kind": {"goal": {"intents": ["clean"]}, "types": ["file_deletion", "mcp_call"], "alignment": 0.475},
		"named, of another kind": {"goal": {"named": true, "intents": ["read"]}, "alignment": 0.6},
	}
	doc := given.call({
		"action": {"types": object.get(case, "types", ["file_modification"]), "effects": [given.effect("file_write", {})]},
		"goal": object.union({"known": object.get(case, "known", true)}, object.get(case, "goal", {})),
	})
	case.alignment == scores.rationality.components.goal_alignment with input as doc
}

test_looking_belongs_to_every_goal[intent] if {
	some intent, _ in data.reviewer.rationality.alignment.kinds
	doc := given.call({
		"action": {"types": ["mcp_call"], "effects": [given.effect("file_read", {})]},
		"goal": {"known": true, "intents": [intent]},
	})
	scores.rationality.components.goal_alignment == 0.775 with input as doc
}

test_alignment_counts_in_the_score if {
	doc := given.call({
		"action": {"types": ["file_deletion"], "effects": [given.effect("file_delete", {})]},
		"goal": {"known": true, "intents": ["explain"]},
		"history": {"follows": ["repeats"]},
	})
	scores.rationality.score == 0.58 with input as doc
}

# A score can be a whole number, as for this action, which has no weakness.
test_whole_score if {
	doc := given.call({
		"action": {"types": ["file_modification"], "effects": [given.effect("file_write", {})]},
		"goal": {"known": true, "intents": ["fix"], "named": true, "words": 1},
		"history": {"follows": ["builds_on"]},
	})
	{"score": 1, "level": "high"} == object.filter(scores.rationality, ["score", "level"]) with input as doc
}

test_suggestions if {
	texts := {"goal_alignment": "A", "logical_progression": "L", "efficiency": "E", "completeness": "C"}
	off := given.call({
		"action": {"types": ["file_deletion"], "effects": [given.effect("file_delete", {})]},
		"goal": {"known": true, "intents": ["explain"]},
		"history": {"follows": ["contradicts"], "presupposes": [{"what": "a", "met": false}]},
	})
	["A", "L", "C"] == scores.rationality.suggestions with input as off with data.reviewer.rationality.suggestions as texts
	again := given.call({"action": {"effects": [given.effect("file_read", {})]}, "history": {"follows": ["repeats"], "presupposes": []}})
	["L", "E"] == scores.rationality.suggestions with input as again with data.reviewer.rationality.suggestions as texts
	["L"] == scores.rationality.suggestions with input as again
		with data.reviewer.rationality.suggestions as texts
		with data.reviewer.rationality.cheaper_way_known as 0.5001
}

test_no_suggestions_where_all_is_well if {
	again := given.call({"action": {"effects": [given.effect("file_read", {})]}, "history": {"follows": ["repeats"], "presupposes": []}})
	[] == scores.rationality.suggestions with input as again with data.reviewer.rationality.high_threshold as 0.6
}

# Weak components are named, and improvements are suggested, in the same order.
test_issues[name] if {
	some name, case in {
		"reads again": {"kind": "file_read", "follows": ["repeats"], "issues": ["repeats", "inefficient"], "cheaper": 1},
		"contradicts": {"kind": "file_write", "follows": ["contradicts"], "issues": ["contradicts"], "cheaper": 0},
		"unprepared": {"kind": "file_write", "presupposes": [{"what": "a", "met": false}], "issues": ["unprepared"], "cheaper": 0},
		"makes sense": {"kind": "file_write", "follows": ["builds_on"], "issues": [], "cheaper": 0},
	}
	doc := given.call({
		"action": {"effects": [given.effect(case.kind, {})]},
		"history": {"follows": object.get(case, "follows", []), "presupposes": object.get(case, "presupposes", [])},
	})
	got := {"issues": scores.rationality.issues, "cheaper": count(scores.cheaper), "suggestions": count(scores.rationality_suggestions)} with input as doc
	got == {"issues": case.issues, "cheaper": case.cheaper, "suggestions": count(case.issues)}
}
