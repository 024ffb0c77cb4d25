package reviewer.saving_test

import data.reviewer.given_test as given
import data.reviewer.outcome
import data.reviewer.saving

_deletes(patch) := given.effect("file_delete", object.union({"verb": "delete", "exists": "yes", "git": "untracked", "command": 0}, patch))

_of(effects, patch) := given.call({"action": object.union(
	{
		"types": ["file_deletion"],
		"effects": effects,
		"commands": [{"name": "rm"}, {"name": "sleep"}],
	},
	patch,
)})

test_what_is_lost[name] if {
	some name, case in {
		"a file": {"effect": {}, "lost": [0]},
		"one that is not there": {"effect": {"exists": "no"}, "lost": []},
		"one that git has": {"effect": {"git": "clean"}, "lost": []},
		"one that a tool makes again": {"effect": {"class": "generated"}, "lost": []},
		"nothing": {"effect": {"location": "null"}, "lost": []},
		"nothing, with other rights": {"effect": {"kind": "file_write", "verb": "chmod"}, "lost": []},
		"a read": {"effect": {"kind": "file_read", "verb": "read"}, "lost": []},
		"nobody knows whether it is there": {"effect": {"exists": "unknown"}, "lost": [0]},
	}
	got := saving.losses with input as _of([_deletes(case.effect)], {})
	got == case.lost
}

test_what_can_be_saved[name] if {
	some name, case in {
		"a file": {"effect": {}, "can": true},
		"by a pattern": {"effect": {"certainty": "glob"}, "can": true},
		"a beginning": {"effect": {"certainty": "prefix"}, "can": false},
		"elsewhere": {"effect": {"location": "outside"}, "can": false},
		"everything": {"effect": {"location": "self", "recursive": true}, "can": false},
		"everything that git discards": {"effect": {"kind": "file_write", "location": "self", "verb": "discard", "recursive": true}, "can": true},
		"a working tree": {"effect": {"verb": "discard", "recursive": true}, "can": false},
		"on another machine": {"effect": {"host": "ssh:web1"}, "can": false},
		"of reviewer": {"effect": {"guard": "is"}, "can": false},
		"as another user": {"effect": {"privileged": true}, "can": false},
		"a repository": {"effect": {"repository": true}, "can": false},
		"git's own data": {"effect": {"class": "git_data"}, "can": false},
		"a loss of anything other than files": {"effect": {}, "more": [{"kind": "process", "verb": "discard", "target": "stash", "command": 0}], "can": false},
		"a link that the call makes": {"effect": {}, "more": [{"kind": "file_write", "verb": "link", "exists": "no", "command": 0}], "can": false},
		"something that stays": {"effect": {}, "more": [{"kind": "file_write", "verb": "write", "exists": "no", "persistence": true, "command": 0}], "can": false},
		"in the background": {"effect": {}, "call": {"starts": [{"line": "rm a", "programs": ["rm"]}]}, "can": false},
		"with something else in the background": {"effect": {}, "call": {"starts": [{"line": "serve", "programs": ["serve"]}]}, "can": true},
		"with something unknown in the background": {"effect": {}, "call": {"starts": [{"line": "?"}]}, "can": false},
		"by a program that is in the background": {
			"effect": {}, "call": {"commands": [{"name": "rm", "wrappers": ["setsid"]}], "starts": [{"line": "x", "programs": ["setsid"]}]},
			"can": false,
		},
		"after a pause": {"effect": {}, "call": {"waits": true}, "can": false},
		"typed": {"effect": {}, "call": {"terminals": {"typed": true}}, "can": false},
		"at another time": {"effect": {}, "call": {"commands": [{"name": "rm", "via": ["at"]}]}, "can": false},
		"by a shell": {"effect": {}, "call": {"commands": [{"name": "rm", "via": ["sh-c"]}]}, "can": true},
		"for good": {"effect": {}, "call": {"commands": [{"name": "shred"}]}, "can": false},
		"for good, by an option": {"effect": {}, "call": {"commands": [{"name": "rm", "options": ["-f", "-P"]}]}, "can": false},
		"for good, by an option of another program": {"effect": {}, "call": {"commands": [{"name": "mv", "options": ["-P"]}]}, "can": true},
	}
	doc := _of(array.concat([_deletes(case.effect)], object.get(case, "more", [])), object.get(case, "call", {}))
	results := {true | saving.possible with input as doc}
	got := true in results
	case.can == got
}

test_nothing_is_saved[name] if {
	some name, doc in {
		"after the call": object.union(_of([_deletes({})], {}), {"phase": "post"}),
		"where nothing is lost": _of([_deletes({"exists": "no"})], {}),
		"where the call is not understood": object.union(_of([_deletes({})], {}), {"facts": ["not_understood"]}),
	}
	not saving.possible with input as doc
}

# A rule about places is met only where all places are open.
test_places[name] if {
	documents := {"short": "~/Documents/a.txt", "location": "home", "area": "data", "document": true}
	some name, case in {
		"a document": {"effects": [documents], "met": true},
		"a document, and something elsewhere": {"effects": [documents, {"short": "~/.ssh2/a", "location": "home", "exists": "no"}], "met": false},
		"elsewhere": {"effects": [{"short": "~/.conf/a.txt", "location": "home"}], "met": false},
	}
	overwritten := {"verb": "write", "exists": "yes", "git": "untracked", "command": 0}
	effects := [given.effect("file_write", object.union(overwritten, e)) | some e in case.effects]
	rule := _rule({"id": "workspace_outside", "decision": "ask"})
	results := {true | saving.answers(rule) with input as _of(effects, {}) with data.reviewer.fired.rules as [rule]}
	got := true in results
	case.met == got
}

test_limits[name] if {
	some name, case in {
		"within them": {"held": {"held_files": 2, "held_bytes": 10}, "can": true},
		"too many files": {"held": {"held_files": 3, "held_bytes": 10}, "can": false},
		"too many bytes": {"held": {"held_files": 2, "held_bytes": 11}, "can": false},
		"nobody counted": {"held": {}, "can": true},
	}
	doc := _of([_deletes(case.held)], {})
	results := {true | saving.possible with input as doc with data.reviewer.save.max_files as 2 with data.reviewer.save.max_bytes as 10}
	got := true in results
	case.can == got
}

test_off if {
	not saving.possible with input as _of([_deletes({})], {}) with data.reviewer.save.mode as "off"
}

_rule(patch) := object.union({"id": "delete_untracked", "decision": "modify", "mode": "enforce", "harm": "loss"}, patch)

test_which_rules_are_met[name] if {
	some name, case in {
		"one of them": {"rule": {}, "met": true},
		"another": {"rule": {"id": "delete_broad"}, "met": false},
		"one that only warns": {"rule": {"mode": "warn"}, "met": false},
		"another safer form": {"rule": {"id": "container_prune"}, "met": false},
	}
	rule := _rule(case.rule)
	results := {true | saving.answers(rule) with input as _of([_deletes({})], {}) with data.reviewer.fired.rules as [rule]}
	got := true in results
	case.met == got
}

test_the_answer_without_it[name] if {
	some name, case in {
		"a rule that blocks": {"rule": {"id": "git_discard", "decision": "block"}, "want": "block"},
		"a rule that asks": {"rule": {"id": "delete_data", "decision": "ask"}, "want": "ask"},
		"a rule that knows another form": {"rule": {}, "want": "ask"},
	}
	rule := _rule(case.rule)
	got := outcome.unsaved with input as _of([_deletes({})], {}) with data.reviewer.fired.rules as [rule]
	got == case.want
}
