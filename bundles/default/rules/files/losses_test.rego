package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

test_backups[name] if {
	some name, case in {
		"deleted": {"fires": true},
		"seen to be there": {"patch": {"exists": "yes", "git": "ignored"}, "fires": true},
		"removed by git": {"patch": {"verb": "discard"}, "fires": true},
		"moved": {"patch": {"verb": "move"}, "fires": false},
		"into the trash": {"patch": {"verb": "trash"}, "fires": false},
		"not there": {"patch": {"exists": "no"}, "fires": false},
		"in a temporary directory": {"patch": {"location": "temp"}, "fires": false},
		"all of one": {"patch": {"location": "temp_root"}, "fires": false},
		"git holds it": {"patch": {"reversibility": "R2"}, "fires": false},
		"a tool makes it again": {"patch": {"reversibility": "R1"}, "fires": false},
		"the session made it": {"patch": {"ledger": "created"}, "fires": false},
		"no backup": {"patch": {"class": "database"}, "fires": false},
		"written": {"kind": "file_write", "fires": false},
		"has happened": {"phase": "post", "fires": false},
	}
	e := given.effect(object.get(case, "kind", "file_delete"), object.union({"verb": "delete", "class": "backup"}, object.get(case, "patch", {})))
	doc := given.action("file_deletion", [given.effect("file_delete", {"verb": "delete"}), e])
	ids := firing.ids with input as object.union(doc, object.filter(case, ["phase"]))
	got := "delete_backup" in ids
	case.fires == got
}

test_files_that_lose_nearly_all[name] if {
	some name, case in {
		"in no commit": {"patch": {"git": "untracked"}, "fires": true},
		"changed since": {"patch": {"git": "dirty"}, "fires": true},
		"a database, which git ignores": {"patch": {"git": "ignored", "class": "database"}, "fires": true},
		"a key, which git ignores": {"patch": {"git": "ignored", "class": "credential"}, "fires": true},
		"a backup, which git ignores": {"patch": {"git": "ignored", "class": "backup"}, "fires": true},
		"a log, which git ignores": {"patch": {"git": "ignored"}, "fires": false},
		"in a commit": {"patch": {"git": "clean"}, "fires": false},
		"nothing is known about it": {"patch": {}, "fires": false},
		"read by the session": {"patch": {"git": "untracked", "ledger": "read"}, "fires": true},
		"made by the session": {"patch": {"git": "untracked", "ledger": "created"}, "fires": false},
		"written by the session": {"patch": {"git": "untracked", "ledger": "written"}, "fires": false},
		"moved there by the session": {"patch": {"git": "untracked", "ledger": "moved_into"}, "fires": false},
		"scratch": {"patch": {"git": "untracked", "location": "temp"}, "fires": false},
		"nowhere": {"patch": {"git": "untracked", "location": "null"}, "fires": false},
		"most of it stays": {"patch": {"git": "untracked", "lost": 89}, "fires": false},
		"deleted": {"patch": {"git": "untracked", "kind": "file_delete"}, "fires": false},
		"has happened": {"phase": "post", "patch": {"git": "untracked"}, "fires": false},
	}
	e := given.effect("file_write", object.union({"verb": "truncate", "lost": 90}, case.patch))
	doc := given.action("file_modification", [e])
	ids := firing.ids with input as object.union(doc, object.filter(case, ["phase"]))
	got := "file_emptied" in ids
	case.fires == got
}
