package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

_git(signals, commands, effects) := given.call({"action": {"types": ["file_modification"], "signals": signals, "commands": commands, "effects": effects}})

test_work_that_is_thrown_away[name] if {
	some name, case in {
		"nobody knows": {"patch": {}, "fires": true},
		"changes": {"patch": {"git": "dirty"}, "fires": true},
		"files of no commit": {"patch": {"git": "untracked"}, "fires": true},
		"a clean tree": {"patch": {"git": "clean", "reversibility": "R2"}, "fires": false},
		"stashed": {"patch": {"reversibility": "R3"}, "fires": false},
		"undone by the same tool": {"patch": {"reversibility": "R1"}, "fires": false},
		"changed to what it was": {"patch": {"reversibility": "R0"}, "fires": false},
		"the session's own": {"patch": {"ledger": "created"}, "fires": false},
		"below a name that goes on": {"patch": {"ledger": "created", "certainty": "prefix"}, "fires": true},
		"no effect that says what": {"patch": {"verb": "write"}, "fires": true},
		"nothing is thrown away": {"signals": [], "patch": {}, "fires": false},
		"has happened": {"phase": "post", "patch": {"git": "dirty"}, "fires": false},
		"has happened, and nobody knows what": {"phase": "post", "patch": {"verb": "write"}, "fires": false},
	}
	e := given.effect("file_write", object.union({"verb": "discard"}, case.patch))
	doc := _git(object.get(case, "signals", ["git_discard"]), [], [e])
	ids := firing.ids with input as object.union(doc, object.filter(case, ["phase"]))
	got := "git_discard" in ids
	case.fires == got
}
