package reviewer.scores_test

import data.reviewer.given_test as given
import data.reviewer.scores

test_base_of_each_type[type] if {
	some type, want in {
		"file_deletion": 0.8, "system_command": 0.7, "network_request": 0.6, "mcp_call": 0.5, "file_modification": 0.4,
		"agent_spawn": 0.4, "file_creation": 0.3, "file_read": 0.1, "message": 0, "unknown": 0.8,
	}
	want == scores.score with input as given.action(type, [])
}

test_the_highest_type_counts if {
	scores.score == 0.7 with input as given.call({"action": {"types": ["file_read", "system_command", "message"]}})
	scores.score == 0 with input as given.call({})
}

# Each modifier moves a base of 0.4 by its own amount, and is named.
test_modifiers[name] if {
	some name, case in {
		"outside": {"effects": [given.effect("file_write", {"location": "outside"})], "score": 0.7, "factors": ["out_of_scope"]},
		"added to the scope by a person": {"effects": [given.effect("file_write", {"location": "outside", "scoped": true})], "score": 0.4, "factors": []},
		"home": {"effects": [given.effect("file_read", {"location": "home"})], "score": 0.7, "factors": ["out_of_scope"]},
		"a deletion that finds nothing": {"effects": [given.effect("file_delete", {"location": "home", "exists": "no"})], "score": 0.4, "factors": []},
		"a recursive one": {"effects": [given.effect("file_delete", {"location": "home", "exists": "no", "recursive": true})], "score": 0.4, "factors": []},
		"one that may find something": {"effects": [given.effect("file_delete", {"location": "home", "exists": "yes"})], "score": 0.7, "factors": ["out_of_scope"]},
		"unknown place": {"effects": [given.effect("file_write", {"location": "unknown"})], "score": 0.7, "factors": ["out_of_scope"]},
		"temporary": {"effects": [given.effect("file_write", {"location": "temp"})], "score": 0.4, "factors": []},
		"no scope known": {
			"effects": [given.effect("file_write", {"location": "outside"})], "session": {"workspace": ""},
			"score": 0.4, "factors": [],
		},
		"privileged": {"effects": [given.effect("file_write", {"privileged": true})], "score": 0.6, "factors": ["privileged"]},
		"failed once": {"history": {"similar": {"count": 3, "failed": 1}}, "score": 0.5, "factors": ["failed_before"]},
		"failed twice": {"history": {"similar": {"count": 3, "failed": 2}}, "score": 0.6, "factors": ["failed_before"]},
		"failed thrice": {"history": {"similar": {"count": 3, "failed": 3}}, "score": 0.8, "factors": ["failed_before"]},
		"failed often": {"history": {"similar": {"count": 30, "failed": 30}}, "score": 0.8, "factors": ["failed_before"]},
		"pattern low": {"finding": {"p": {"level": "low", "measure": 1}}, "score": 0.45, "factors": ["active_pattern"]},
		"pattern medium": {"finding": {"p": {"level": "medium", "measure": 1}}, "score": 0.5, "factors": ["active_pattern"]},
		"pattern high": {"finding": {"p": {"level": "high", "measure": 1}}, "score": 0.6, "factors": ["active_pattern"]},
		"pattern critical": {"finding": {"p": {"level": "critical", "measure": 1}}, "score": 0.7, "factors": ["active_pattern"]},
		"the worst pattern": {"finding": {"p": {"level": "low"}, "q": {"level": "high"}, "r": {}}, "score": 0.6, "factors": ["active_pattern"]},
		"a finding without a level": {"finding": {"p": {"measure": 3}}, "score": 0.4, "factors": []},
		"only reads": {"effects": [given.effect("file_read", {})], "score": 0, "factors": ["reads_only"]},
		"only reads, outside": {"effects": [given.effect("file_read", {"location": "system"})], "score": 0.7, "factors": ["out_of_scope"]},
		"reads on another machine": {"effects": [given.effect("file_read", {"location": "home", "host": "ssh:web"})], "score": 0, "factors": ["reads_only"]},
		"writes on another machine": {"effects": [given.effect("file_write", {"location": "home", "host": "ssh:web"})], "score": 0.7, "factors": ["out_of_scope"]},
		"reads what is not understood": {
			"effects": [given.effect("file_read", {})], "opaque": [{"reason": "command"}],
			"score": 0.4, "factors": [],
		},
		"several": {
			"effects": [given.effect("file_write", {"privileged": true, "location": "outside"})],
			"history": {"similar": {"count": 1, "failed": 1}},
			"score": 1, "factors": ["failed_before", "out_of_scope", "privileged"],
		},
	}
	doc := given.call({
		"action": {"types": ["file_modification"], "effects": object.get(case, "effects", []), "opaque": object.get(case, "opaque", [])},
		"session": object.get(case, "session", {}), "history": object.get(case, "history", {}), "finding": object.get(case, "finding", {}),
	})
	case.score == scores.score with input as doc
	case.factors == scores.risk.factors with input as doc
}

# The level of the call itself leaves out what came before it.
test_own_level[name] if {
	some name, case in {
		"nothing before": {"level": "low", "own": "low"},
		"failed thrice": {"history": {"similar": {"count": 3, "failed": 3}}, "level": "high", "own": "low"},
		"a critical pattern": {"finding": {"p": {"level": "critical", "measure": 1}}, "level": "medium", "own": "low"},
		"a pattern that decides itself": {"finding": {"p": {"level": "critical", "measure": 1}}, "catalog": {"p": {"decision": "ask"}}, "level": "low", "own": "low"},
		"outside is its own": {"effects": [given.effect("file_write", {"location": "outside"})], "level": "medium", "own": "medium"},
	}
	doc := given.call({
		"action": {"types": ["file_modification"], "effects": object.get(case, "effects", [])},
		"history": object.get(case, "history", {}), "finding": object.get(case, "finding", {}),
	})
	got := {"level": scores.level, "own": scores.own_level} with input as doc with data.reviewer.catalog as object.get(case, "catalog", {})
	got == {"level": case.level, "own": case.own}
}

# Which factors are soft is a setting.
test_soft_is_a_setting if {
	"high" == scores.own_level with input as given.call({"action": {"types": ["file_modification"]}, "history": {"similar": {"failed": 3}}})
		with data.reviewer.risk.soft as ["active_pattern"]
}

test_asks_service[name] if {
	some name, case in {
		"a page": {"effects": [given.request({})], "want": true},
		"a page, with a file of settings": {"effects": [given.request({}), given.effect("file_read", {})], "want": true},
		"something is sent": {"effects": [given.request({"egress": true})], "want": false},
		"something is changed there": {"effects": [given.request({"verb": "post"})], "want": false},
		"the answer goes to a file": {"effects": [given.request({}), given.effect("file_write", {})], "want": false},
		"part of it is not understood": {"effects": [given.request({})], "opaque": [{"reason": "command"}], "want": false},
	}
	action := {"types": ["network_request"], "effects": case.effects, "opaque": object.get(case, "opaque", [])}
	got := object.get({"r": true | scores.asks_service with input as given.call({"action": action})}, "r", false)
	got == case.want
}

test_reversibility[name] if {
	some name, case in {
		"R0": {"effect": {"reversibility": "R0"}, "score": 0.3},
		"R1": {"effect": {"reversibility": "R1"}, "score": 0.3},
		"R2": {"effect": {"reversibility": "R2"}, "score": 0.5},
		"R3": {"effect": {"reversibility": "R3"}, "score": 0.7},
		"not known": {"effect": {}, "score": 0.8},
		"R4": {"effect": {"reversibility": "R4"}, "score": 0.9},
		"R5": {"effect": {"reversibility": "R5"}, "score": 1},
		"nothing happens to it": {"effect": {"location": "null", "reversibility": "R5"}, "score": 0.3},
		"R2 in a temporary directory": {"effect": {"reversibility": "R2", "location": "temp"}, "score": 0.5},
		"R2 outside": {"effect": {"reversibility": "R2", "location": "outside"}, "score": 1},
		"R4 of the session's own": {"effect": {"reversibility": "R4", "ledger": "created"}, "score": 0.5},
		"R4 that the session wrote": {"effect": {"reversibility": "R4", "ledger": "written"}, "score": 0.9},
		"moved into": {"effect": {"reversibility": "R4", "ledger": "moved_into"}, "score": 0.9},
		"generated": {"effect": {"class": "generated"}, "score": 0.7},
		"generated, but known to be lost": {"effect": {"class": "generated", "reversibility": "R4"}, "score": 0.9},
		"a pattern below what was generated": {"effect": {"class": "generated", "certainty": "glob"}, "score": 0.7},
		"not known how it ends": {"effect": {"class": "generated", "certainty": "prefix"}, "score": 0.8},
		"own, not known how it ends": {"effect": {"ledger": "created", "certainty": "prefix"}, "score": 0.8},
	}
	case.score == scores.score with input as given.action("file_deletion", [given.effect("file_delete", case.effect)])
}

# Rules ask for the step by its name.
test_step[want] if {
	some want, effect in {
		"R0": {"location": "null", "reversibility": "R4"}, "R2": {"ledger": "created", "reversibility": "R4"},
		"R3": {"class": "generated"}, "R4": {"reversibility": "R4"}, "unknown": {},
	}
	want == scores.step(given.effect("file_write", effect))
}

# One effect that cannot be undone outweighs all that can.
test_the_worst_effect_counts if {
	effects := [
		given.effect("file_write", {"reversibility": "R2"}), given.effect("file_delete", {"reversibility": "R5"}),
		given.effect("file_read", {"reversibility": "R0"}),
	]
	scores.score == 1 with input as given.action("file_deletion", effects)
	scores.score == 0.5 with input as given.action("file_deletion", [effects[0], effects[2]])
}

# What is not understood is never made harmless by what is.
test_nothing_lowers_the_unknown if {
	effects := [given.effect("file_write", {"reversibility": "R1"})]
	opaque := [{"reason": "syntax"}]
	scores.score == 0.8 with input as given.call({"action": {"types": ["unknown"], "effects": effects, "opaque": opaque}})
	scores.score == 0.3 with input as given.call({"action": {"types": ["unknown"], "effects": effects}})
}

test_risk_stays_between_0_and_1 if {
	scores.risk == {"score": 0, "level": "minimal", "factors": ["reads_only"]} with input as given.action("file_read", [given.effect("file_read", {})])
	worst := given.effect("file_delete", {"location": "root", "reversibility": "R5", "privileged": true})
	scores.risk.score == 1 with input as given.action("file_deletion", [worst])
}

# A level begins at its lower bound.
test_level_boundaries[name] if {
	some name, case in {
		"minimal": {"base": 0.2999, "level": "minimal"},
		"low": {"base": 0.3, "level": "low"},
		"low to its end": {"base": 0.5999, "level": "low"},
		"medium": {"base": 0.6, "level": "medium"},
		"medium to its end": {"base": 0.7999, "level": "medium"},
		"high": {"base": 0.8, "level": "high"},
		"high to its end": {"base": 0.9499, "level": "high"},
		"critical": {"base": 0.95, "level": "critical"},
		"rounded up": {"base": 0.29996, "level": "low"},
	}
	case.level == scores.level with input as given.action("mcp_call", []) with data.reviewer.risk.base.mcp_call as case.base
}

test_sums_meet_their_boundaries if {
	scores.level == "medium" with input as given.action("file_modification", [given.effect("file_write", {"privileged": true})])
	scores.level == "high" with input as given.call({"action": {"types": ["file_modification"]}, "history": {"similar": {"failed": 3}}})
}

test_important_file_in_an_empty_context if {
	doc := given.call({
		"action": {
			"types": ["file_deletion"],
			"effects": [given.effect("file_delete", {"short": "/important/file.txt", "location": "outside"})],
		},
		"session": {"workspace": ""},
	})
	scores.risk.score > 0.7 with input as doc
	scores.risk.level == "high" with input as doc
}

test_writing_outside_the_scope if {
	doc := given.call({
		"action": {
			"types": ["file_creation"],
			"effects": [given.effect("file_write", {"short": "/outside/scope/file.txt", "location": "outside"})],
		},
		"session": {"workspace": "/project"},
	})
	scores.risk.score > 0.5 with input as doc
	"out_of_scope" in scores.risk.factors with input as doc
}

test_scope_is_a_setting if {
	doc := given.action("file_creation", [given.effect("file_write", {"location": "temp"})])
	scores.score == 0.3 with input as doc
	scores.score == 0.6 with input as doc with data.reviewer.scope.locations as ["inside", "self"]
}

# A layer's findings count as the settings say, and are named.
test_added[name] if {
	some name, case in {
		"nothing added": {"findings": ["after_hours"], "added": {}, "score": 0.4, "factors": []},
		"a condition": {"findings": ["after_hours"], "added": {"after_hours": 0.2, "other": 0.5}, "score": 0.6, "factors": ["rule:after_hours"]},
		"Rego of a layer": {"policies": {"organisation": {"findings": [{"id": "frozen"}]}}, "added": {"frozen": 0.3}, "score": 0.7, "factors": ["rule:frozen"]},
		"none of them": {"findings": [], "added": {"after_hours": 0.2}, "score": 0.4, "factors": []},
	}
	got := scores.risk with input as given.call({"action": {"types": ["file_modification"]}, "findings": object.get(case, "findings", [])})
		with data.policies as object.get(case, "policies", {})
		with data.reviewer.risk.added as case.added
	got.score == case.score
	got.factors == case.factors
}

# What the call itself created is not lost when the call deletes it.
test_made_and_deleted[name] if {
	some name, case in {
		"made before": {"made": {}, "step": "R2"},
		"made after": {"made": {"command": 2}, "step": "unknown"},
		"it was there": {"made": {"exists": "yes"}, "step": "unknown"},
		"another one": {"made": {"short": "./b.txt"}, "step": "unknown"},
		"it was moved there": {"made": {"verb": "move"}, "step": "unknown"},
		"written, with all below it": {"made": {}, "deleted": {"recursive": true}, "step": "R2"},
		"copied, with all below it": {"made": {"verb": "copy"}, "deleted": {"recursive": true}, "step": "unknown"},
	}
	deleted := given.effect("file_delete", object.union({"command": 1}, object.get(case, "deleted", {})))
	made := given.effect("file_write", object.union({"command": 0}, case.made))
	case.step == scores.step(deleted) with input as given.action("file_deletion", [made, deleted])
}

# What is sent to the service that hosts the repository can be undone there.
test_service[name] if {
	some name, case in {
		"a push": {"effect": {"target": "origin"}, "step": "R4"},
		"a comment": {"effect": {"target": "github"}, "step": "R4"},
		"by force": {"effect": {"target": "origin", "forced": true}, "step": "R5"},
		"history goes": {"effect": {"target": "origin", "object": "history"}, "step": "R5"},
		"another remote": {"effect": {"target": "https://example.com/a.git"}, "step": "R5"},
		"a package": {"effect": {"target": "npm"}, "step": "R5"},
	}
	effect := given.request(object.union({"verb": "send", "egress": true, "reversibility": "R5"}, case.effect))
	case.step == scores.step(effect) with input as given.action("network_request", [effect])
}
