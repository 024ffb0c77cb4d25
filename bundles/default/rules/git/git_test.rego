package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

_git(signals, commands, effects) := given.call({"action": {"types": ["file_modification"], "signals": signals, "commands": commands, "effects": effects}})

test_work_that_is_thrown_away[name] if {
	some name, case in {
		"nobody knows": {"patch": {}, "speaks": true},
		"changes": {"patch": {"git": "dirty"}, "speaks": true},
		"files of no commit": {"patch": {"git": "untracked"}, "speaks": true},
		"a clean tree": {"patch": {"git": "clean", "reversibility": "R2"}, "speaks": false},
		"stashed": {"patch": {"reversibility": "R3"}, "speaks": false},
		"undone by the same tool": {"patch": {"reversibility": "R1"}, "speaks": false},
		"changed to what it was": {"patch": {"reversibility": "R0"}, "speaks": false},
		"the session's own": {"patch": {"ledger": "created"}, "speaks": false},
		"below a name that goes on": {"patch": {"ledger": "created", "certainty": "prefix"}, "speaks": true},
		"no effect that says what": {"patch": {"verb": "write"}, "speaks": true},
		"nothing is thrown away": {"signals": [], "patch": {}, "speaks": false},
		"has happened": {"phase": "post", "patch": {"git": "dirty"}, "speaks": false},
		"has happened, and nobody knows what": {"phase": "post", "patch": {"verb": "write"}, "speaks": false},
	}
	e := given.effect("file_write", object.union({"verb": "discard"}, case.patch))
	doc := _git(object.get(case, "signals", ["git_discard"]), [], [e])
	said := spoken.speaks with input as object.union(doc, object.filter(case, ["phase"]))
	spoke := "git_discard" in said
	case.speaks == spoke
}

test_what_the_remote_holds[name] if {
	some name, case in {
		"a flag": {"flags": ["--delete"], "speaks": true},
		"a letter": {"flags": ["-qd"], "speaks": true},
		"a mirror": {"flags": ["--mirror"], "speaks": true},
		"pruned": {"flags": ["--prune"], "speaks": true},
		"an empty source": {"operands": ["origin", ":old"], "speaks": true},
		"all of the same name": {"operands": ["origin", ":"], "speaks": false},
		"another flag": {"flags": ["--dry", "-q"], "speaks": false},
		"a branch": {"operands": ["origin", "a:b"], "speaks": false},
		"of this repository": {"sub": "branch", "flags": ["-d"], "speaks": false},
		"another program": {"name": "hg", "flags": ["--delete"], "speaks": false},
		"sent in parts": {"sub": "send-pack", "flags": ["--mirror"], "speaks": true},
	}
	c := {"name": object.get(case, "name", "git"), "sub": [object.get(case, "sub", "push")], "flags": object.get(case, "flags", []), "operands": object.get(case, "operands", [])}
	said := spoken.speaks with input as _git(["git_history_rewrite"], [c], [])
	spoke := "git_remote_delete" in said
	case.speaks == spoke
}
