package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

test_the_only_copy[name] if {
	some name, case in {
		"in no commit": {"speaks": true},
		"what a pattern stands for": {"patch": {"location": "self", "certainty": "glob"}, "speaks": true},
		"read by the session": {"patch": {"ledger": "read"}, "speaks": true},
		"in a commit": {"patch": {"git": "clean"}, "speaks": false},
		"in a commit, and changed since": {"patch": {"git": "dirty"}, "speaks": false},
		"git ignores it": {"patch": {"git": "ignored"}, "speaks": false},
		"a tool makes it again": {"patch": {"class": "generated"}, "speaks": false},
		"the session made it": {"patch": {"ledger": "created"}, "speaks": false},
		"not there": {"patch": {"exists": "no"}, "speaks": false},
		"a folder": {"patch": {"entry": "dir"}, "speaks": false},
		"elsewhere": {"patch": {"location": "outside"}, "speaks": false},
		"a name that goes on": {"patch": {"certainty": "prefix"}, "speaks": false},
		"into the trash": {"patch": {"verb": "trash"}, "speaks": false},
		"written": {"kind": "file_write", "speaks": false},
		"has happened": {"phase": "post", "speaks": false},
	}
	kept := given.effect("file_delete", {"exists": "yes", "git": "clean"}) # so that something is deleted in any case
	e := object.union({"verb": "delete", "exists": "yes", "entry": "file", "git": "untracked"}, object.get(case, "patch", {}))
	doc := given.action("file_deletion", [kept, given.effect(object.get(case, "kind", "file_delete"), e)])
	said := spoken.speaks with input as object.union(doc, object.filter(case, ["phase"]))
	spoke := "delete_untracked" in said
	case.speaks == spoke
}

test_deletion_elsewhere[name] if {
	some name, case in {
		"in a container": {"speaks": true},
		"on somebody's machine": {"patch": {"host": "ssh:web1"}, "speaks": false},
		"on this machine": {"patch": {"host": ""}, "speaks": false},
		"scratch": {"patch": {"location": "temp"}, "speaks": false},
		"written": {"kind": "file_write", "speaks": false},
		"has happened": {"phase": "post", "speaks": false},
	}
	here := given.effect("file_delete", {"verb": "delete"})
	there := object.union({"verb": "delete", "location": "outside", "host": "container:web"}, object.get(case, "patch", {}))
	doc := given.action("file_deletion", [here, given.effect(object.get(case, "kind", "file_delete"), there)])
	said := spoken.speaks with input as object.union(doc, object.filter(case, ["phase"]))
	spoke := "delete_elsewhere" in said
	case.speaks == spoke
}

# Each together with a folder that does not exist and that no rule reports.
test_recursive_deletion[name] if {
	some name, case in {
		"nothing can be undone": {"patch": {"reversibility": "R5"}, "speaks": true},
		"nothing is changed": {"patch": {"reversibility": "R0"}, "speaks": false},
		"a tool makes it again": {"patch": {"reversibility": "R1"}, "speaks": false},
		"without what is below": {"patch": {"recursive": false}, "speaks": false},
		"modes of all that is below": {"patch": {"kind": "file_write"}, "speaks": false},
		"a single file": {"patch": {"entry": "file"}, "speaks": false},
		"a single file outside": {"patch": {"entry": "file", "location": "outside"}, "speaks": true},
		"a single file, and perhaps more": {"patch": {"entry": "file", "certainty": "prefix"}, "speaks": true},
	}
	missing := given.effect("file_delete", {"recursive": true, "exists": "no"})
	e := given.effect("file_delete", object.union({"recursive": true}, case.patch))
	said := spoken.speaks with input as given.action("file_deletion", [missing, e])
	spoke := "prevent_recursive_deletion" in said
	case.speaks == spoke
}

test_outside_is_only_written if {
	said := spoken.speaks with input as given.action("file_deletion", [
		given.effect("file_delete", {"verb": "delete"}),
		given.effect("file_write", {"location": "home"}),
	])
	not "delete_outside_scope" in said
}

# Each together with a file that is written to an unknown place.
test_unknown_targets[name] if {
	some name, case in {
		"nothing is known": {"patch": {}, "speaks": true},
		"the place is known": {"patch": {"location": "inside"}, "speaks": false},
		"the name is known": {"patch": {"certainty": "exact"}, "speaks": false},
	}
	unknown := {"location": "unknown", "certainty": "unknown"}
	effects := [given.effect("file_write", unknown), given.effect("file_delete", object.union(unknown, case.patch))]
	said := spoken.speaks with input as given.action("file_deletion", effects)
	spoke := "delete_unknown_target" in said
	case.speaks == spoke
}
