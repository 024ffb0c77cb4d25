package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

test_the_only_copy[name] if {
	some name, case in {
		"in no commit": {"fires": true},
		"what a pattern stands for": {"patch": {"location": "self", "certainty": "glob"}, "fires": true},
		"read by the session": {"patch": {"ledger": "read"}, "fires": true},
		"in a commit": {"patch": {"git": "clean"}, "fires": false},
		"in a commit, and changed since": {"patch": {"git": "dirty"}, "fires": true},
		"in a commit, and changed by the session": {"patch": {"git": "dirty", "ledger": "written"}, "fires": false},
		"in a commit, and read by the session": {"patch": {"git": "dirty", "ledger": "read"}, "fires": true},
		"git ignores it": {"patch": {"git": "ignored"}, "fires": false},
		"a tool makes it again": {"patch": {"class": "generated"}, "fires": false},
		"the session made it": {"patch": {"ledger": "created"}, "fires": false},
		"not there": {"patch": {"exists": "no"}, "fires": false},
		"a folder": {"patch": {"entry": "dir"}, "fires": false},
		"elsewhere": {"patch": {"location": "outside"}, "fires": false},
		"a name that goes on": {"patch": {"certainty": "prefix"}, "fires": false},
		"into the trash": {"patch": {"verb": "trash"}, "fires": false},
		"written": {"kind": "file_write", "fires": false},
		"has happened": {"phase": "post", "fires": false},
	}
	kept := given.effect("file_delete", {"exists": "yes", "git": "clean"}) # so that something is deleted in any case
	e := object.union({"verb": "delete", "exists": "yes", "entry": "file", "git": "untracked"}, object.get(case, "patch", {}))
	doc := given.action("file_deletion", [kept, given.effect(object.get(case, "kind", "file_delete"), e)])
	ids := firing.ids with input as object.union(doc, object.filter(case, ["phase"]))
	got := "delete_untracked" in ids
	case.fires == got
}

test_deletion_elsewhere[name] if {
	some name, case in {
		"in a container": {"fires": true},
		"on somebody's machine": {"patch": {"host": "ssh:web1"}, "fires": false},
		"on this machine": {"patch": {"host": ""}, "fires": false},
		"scratch": {"patch": {"location": "temp"}, "fires": false},
		"written": {"kind": "file_write", "fires": false},
		"has happened": {"phase": "post", "fires": false},
	}
	here := given.effect("file_delete", {"verb": "delete"})
	there := object.union({"verb": "delete", "location": "outside", "host": "container:web"}, object.get(case, "patch", {}))
	doc := given.action("file_deletion", [here, given.effect(object.get(case, "kind", "file_delete"), there)])
	ids := firing.ids with input as object.union(doc, object.filter(case, ["phase"]))
	got := "delete_elsewhere" in ids
	case.fires == got
}

# Each together with a folder that does not exist and that no rule reports.
test_recursive_deletion[name] if {
	some name, case in {
		"nothing can be undone": {"patch": {"reversibility": "R5"}, "fires": true},
		"nothing is changed": {"patch": {"reversibility": "R0"}, "fires": false},
		"a tool makes it again": {"patch": {"reversibility": "R1"}, "fires": false},
		"without what is below": {"patch": {"recursive": false}, "fires": false},
		"modes of all that is below": {"patch": {"kind": "file_write"}, "fires": false},
		"a single file": {"patch": {"entry": "file"}, "fires": false},
		"a single file outside": {"patch": {"entry": "file", "location": "outside"}, "fires": true},
		"a single file, and perhaps more": {"patch": {"entry": "file", "certainty": "prefix"}, "fires": true},
		"outside, and not there": {"patch": {"location": "home", "exists": "no"}, "fires": false},
		"on another machine": {"patch": {"location": "home", "exists": "no", "host": "ssh:web"}, "fires": true},
		"not there, if the name is known": {"patch": {"location": "home", "exists": "no", "certainty": "glob"}, "fires": true},
		"a missing part of the system": {"patch": {"location": "system", "exists": "no"}, "fires": true},
	}
	missing := given.effect("file_delete", {"recursive": true, "exists": "no"})
	e := given.effect("file_delete", object.union({"recursive": true}, case.patch))
	ids := firing.ids with input as given.action("file_deletion", [missing, e])
	got := "prevent_recursive_deletion" in ids
	case.fires == got
}

# A part that is not understood may put something there first.
test_recursive_deletion_after_unknown_code if {
	doc := given.call({"action": {
		"types": ["file_deletion"], "opaque": [{"reason": "eval"}],
		"effects": [given.effect("file_delete", {"recursive": true, "exists": "no", "location": "home"})],
	}})
	{"prevent_recursive_deletion", "delete_outside_scope"} - firing.ids == set() with input as doc
}

test_outside_is_only_written if {
	ids := firing.ids with input as given.action("file_deletion", [
		given.effect("file_delete", {"verb": "delete"}),
		given.effect("file_write", {"location": "home"}),
	])
	not "delete_outside_scope" in ids
}

# Each together with a file that is written to an unknown place.
test_unknown_targets[name] if {
	some name, case in {
		"nothing is known": {"patch": {}, "fires": true},
		"the place is known": {"patch": {"location": "inside"}, "fires": false},
		"the name is known": {"patch": {"certainty": "exact"}, "fires": false},
	}
	unknown := {"location": "unknown", "certainty": "unknown"}
	effects := [given.effect("file_write", unknown), given.effect("file_delete", object.union(unknown, case.patch))]
	ids := firing.ids with input as given.action("file_deletion", effects)
	got := "delete_unknown_target" in ids
	case.fires == got
}
