package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

_landing := {"verb": "move", "target": "/srv/shop/archive", "short": "./archive/*.md", "certainty": "glob", "exists": "no", "command": 1}

# Several files are moved to a folder, with changes by a patch; other commands come first.
_moved(patch, operands, flags, others) := given.call({"action": {
	"types": ["file_creation"],
	"commands": [{"name": "mkdir", "operands": [], "flags": []}, {"name": "mv", "operands": operands, "flags": flags}],
	"effects": array.concat([given.effect("file_write", object.union(_landing, patch))], others),
}})

test_moves_into_what_is_missing[name] if {
	made := {"verb": "create", "target": "/srv/shop/archive", "short": "./archive", "exists": "no", "command": 0}
	some name, case in {
		"a pattern": {"fires": true},
		"a folder that is there": {"patch": {"exists": "yes"}, "fires": false},
		"about which nothing is known": {"patch": {"exists": ""}, "fires": false},
		"one name": {"patch": {"certainty": "exact"}, "fires": false},
		"copies": {"patch": {"verb": "write"}, "fires": false},
		"what goes away": {"patch": {"kind": "file_delete"}, "fires": false},
		"has happened": {"phase": "post", "fires": false},
		"a slash": {"operands": ["*.md", "archive/"], "fires": false},
		"a target directory": {"flags": ["-vt"], "fires": false},
		"a target directory in full": {"flags": ["--target-directory"], "fires": false},
		"another flag": {"flags": ["-f", "--no-target"], "fires": true},
		"made before": {"others": [["file_write", made]], "fires": false},
		"made below": {"others": [["file_write", object.union(made, {"target": "/srv/shop/archive/a"})]], "fires": false},
		"another is made": {"others": [["file_write", object.union(made, {"target": "/srv/shop/archive2"})]], "fires": true},
		"made after": {"others": [["file_write", object.union(made, {"command": 2})]], "fires": true},
		"looked at before": {"others": [["file_read", object.union(made, {"verb": "read"})]], "fires": true},
	}
	others := [given.effect(o[0], o[1]) | some o in object.get(case, "others", [])]
	doc := _moved(object.get(case, "patch", {}), object.get(case, "operands", ["*.md", "archive"]), object.get(case, "flags", []), others)
	ids := firing.ids with input as object.union(doc, object.filter(case, ["phase"]))
	got := "move_into_missing" in ids
	case.fires == got
}

# Where a tool moves files one by one, the destination is one name.
test_moves_away_to_one_name[name] if {
	some name, case in {
		"by the same command": {"patch": {}, "fires": true},
		"by another": {"patch": {"command": 0}, "fires": false},
		"one file": {"patch": {"certainty": "exact"}, "fires": false},
		"deleted": {"patch": {"verb": "delete"}, "fires": false},
		"written": {"patch": {"kind": "file_write"}, "fires": false},
		"to a name that goes on": {"patch": {}, "landing": {"certainty": "prefix"}, "fires": false},
	}
	landing := object.union({"certainty": "exact", "short": "./archive"}, object.get(case, "landing", {}))
	away := given.effect("file_delete", object.union({"verb": "move", "short": "./*.md", "certainty": "glob", "command": 1}, case.patch))
	ids := firing.ids with input as _moved(landing, ["*.md", "archive"], [], [away])
	got := "move_into_missing" in ids
	case.fires == got
}

test_bracketed_names[name] if {
	some name, case in {
		"a name": {"patch": {"short": "./app/[id]"}, "fires": true},
		"a long name": {"patch": {"short": "./app/[moduleId]/x"}, "fires": true},
		"the rest of a path": {"patch": {"short": "./app/[...slug]"}, "fires": true},
		"a range": {"patch": {"short": "./build/[a-z]*"}, "fires": false},
		"one letter": {"patch": {"short": "./build/[x]"}, "fires": false},
		"a letter in both cases": {"patch": {"short": "./build/[Dd]ebug"}, "fires": false},
		"in quotes": {"patch": {"short": "./app/[id]", "certainty": "exact"}, "fires": false},
		"no folder": {"patch": {"short": "./app/[id]", "recursive": false}, "fires": false},
		"its modes are changed": {"patch": {"short": "./app/[id]", "kind": "file_write"}, "fires": false},
		"has happened": {"patch": {"short": "./app/[id]"}, "phase": "post", "fires": false},
	}
	other := given.effect("file_delete", {"verb": "delete", "recursive": true})
	e := object.union({"verb": "delete", "certainty": "glob", "recursive": true}, case.patch)
	doc := given.action("file_deletion", [other, given.effect("file_delete", e)])
	ids := firing.ids with input as object.union(doc, object.filter(case, ["phase"]))
	got := "delete_bracketed_name" in ids
	case.fires == got
}
