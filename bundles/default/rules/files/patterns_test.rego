package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

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
		"a pattern": {"speaks": true},
		"a folder that is there": {"patch": {"exists": "yes"}, "speaks": false},
		"about which nothing is known": {"patch": {"exists": ""}, "speaks": false},
		"one name": {"patch": {"certainty": "exact"}, "speaks": false},
		"copies": {"patch": {"verb": "write"}, "speaks": false},
		"what goes away": {"patch": {"kind": "file_delete"}, "speaks": false},
		"has happened": {"phase": "post", "speaks": false},
		"a slash": {"operands": ["*.md", "archive/"], "speaks": false},
		"a target directory": {"flags": ["-vt"], "speaks": false},
		"a target directory in full": {"flags": ["--target-directory"], "speaks": false},
		"another flag": {"flags": ["-f", "--no-target"], "speaks": true},
		"made before": {"others": [["file_write", made]], "speaks": false},
		"made below": {"others": [["file_write", object.union(made, {"target": "/srv/shop/archive/a"})]], "speaks": false},
		"another is made": {"others": [["file_write", object.union(made, {"target": "/srv/shop/archive2"})]], "speaks": true},
		"made after": {"others": [["file_write", object.union(made, {"command": 2})]], "speaks": true},
		"looked at before": {"others": [["file_read", object.union(made, {"verb": "read"})]], "speaks": true},
	}
	others := [given.effect(o[0], o[1]) | some o in object.get(case, "others", [])]
	doc := _moved(object.get(case, "patch", {}), object.get(case, "operands", ["*.md", "archive"]), object.get(case, "flags", []), others)
	said := spoken.speaks with input as object.union(doc, object.filter(case, ["phase"]))
	spoke := "move_into_missing" in said
	case.speaks == spoke
}

# Where a tool moves files one by one, the destination is one name.
test_moves_away_to_one_name[name] if {
	some name, case in {
		"by the same command": {"patch": {}, "speaks": true},
		"by another": {"patch": {"command": 0}, "speaks": false},
		"one file": {"patch": {"certainty": "exact"}, "speaks": false},
		"deleted": {"patch": {"verb": "delete"}, "speaks": false},
		"written": {"patch": {"kind": "file_write"}, "speaks": false},
		"to a name that goes on": {"patch": {}, "landing": {"certainty": "prefix"}, "speaks": false},
	}
	landing := object.union({"certainty": "exact", "short": "./archive"}, object.get(case, "landing", {}))
	away := given.effect("file_delete", object.union({"verb": "move", "short": "./*.md", "certainty": "glob", "command": 1}, case.patch))
	said := spoken.speaks with input as _moved(landing, ["*.md", "archive"], [], [away])
	spoke := "move_into_missing" in said
	case.speaks == spoke
}

test_bracketed_names[name] if {
	some name, case in {
		"a name": {"patch": {"short": "./app/[id]"}, "speaks": true},
		"a long name": {"patch": {"short": "./app/[moduleId]/x"}, "speaks": true},
		"the rest of a path": {"patch": {"short": "./app/[...slug]"}, "speaks": true},
		"a range": {"patch": {"short": "./build/[a-z]*"}, "speaks": false},
		"one letter": {"patch": {"short": "./build/[x]"}, "speaks": false},
		"a letter in both cases": {"patch": {"short": "./build/[Dd]ebug"}, "speaks": false},
		"in quotes": {"patch": {"short": "./app/[id]", "certainty": "exact"}, "speaks": false},
		"no folder": {"patch": {"short": "./app/[id]", "recursive": false}, "speaks": false},
		"its modes are changed": {"patch": {"short": "./app/[id]", "kind": "file_write"}, "speaks": false},
		"has happened": {"patch": {"short": "./app/[id]"}, "phase": "post", "speaks": false},
	}
	other := given.effect("file_delete", {"verb": "delete", "recursive": true})
	e := object.union({"verb": "delete", "certainty": "glob", "recursive": true}, case.patch)
	doc := given.action("file_deletion", [other, given.effect("file_delete", e)])
	said := spoken.speaks with input as object.union(doc, object.filter(case, ["phase"]))
	spoke := "delete_bracketed_name" in said
	case.speaks == spoke
}
