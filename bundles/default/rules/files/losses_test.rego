package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

test_backups[name] if {
	some name, case in {
		"deleted": {"speaks": true},
		"seen to be there": {"patch": {"exists": "yes", "git": "ignored"}, "speaks": true},
		"removed by git": {"patch": {"verb": "discard"}, "speaks": true},
		"moved": {"patch": {"verb": "move"}, "speaks": false},
		"into the trash": {"patch": {"verb": "trash"}, "speaks": false},
		"not there": {"patch": {"exists": "no"}, "speaks": false},
		"in a temporary directory": {"patch": {"location": "temp"}, "speaks": false},
		"all of one": {"patch": {"location": "temp_root"}, "speaks": false},
		"git holds it": {"patch": {"reversibility": "R2"}, "speaks": false},
		"a tool makes it again": {"patch": {"reversibility": "R1"}, "speaks": false},
		"the session made it": {"patch": {"ledger": "created"}, "speaks": false},
		"no backup": {"patch": {"class": "database"}, "speaks": false},
		"written": {"kind": "file_write", "speaks": false},
		"has happened": {"phase": "post", "speaks": false},
	}
	e := given.effect(object.get(case, "kind", "file_delete"), object.union({"verb": "delete", "class": "backup"}, object.get(case, "patch", {})))
	doc := given.action("file_deletion", [given.effect("file_delete", {"verb": "delete"}), e])
	said := spoken.speaks with input as object.union(doc, object.filter(case, ["phase"]))
	spoke := "delete_backup" in said
	case.speaks == spoke
}

test_files_that_lose_nearly_all[name] if {
	some name, case in {
		"in no commit": {"patch": {"git": "untracked"}, "speaks": true},
		"changed since": {"patch": {"git": "dirty"}, "speaks": true},
		"a database, which git ignores": {"patch": {"git": "ignored", "class": "database"}, "speaks": true},
		"a key, which git ignores": {"patch": {"git": "ignored", "class": "credential"}, "speaks": true},
		"a backup, which git ignores": {"patch": {"git": "ignored", "class": "backup"}, "speaks": true},
		"a log, which git ignores": {"patch": {"git": "ignored"}, "speaks": false},
		"in a commit": {"patch": {"git": "clean"}, "speaks": false},
		"nothing is known about it": {"patch": {}, "speaks": false},
		"read by the session": {"patch": {"git": "untracked", "ledger": "read"}, "speaks": true},
		"made by the session": {"patch": {"git": "untracked", "ledger": "created"}, "speaks": false},
		"written by the session": {"patch": {"git": "untracked", "ledger": "written"}, "speaks": false},
		"moved there by the session": {"patch": {"git": "untracked", "ledger": "moved_into"}, "speaks": false},
		"scratch": {"patch": {"git": "untracked", "location": "temp"}, "speaks": false},
		"nowhere": {"patch": {"git": "untracked", "location": "null"}, "speaks": false},
		"most of it stays": {"patch": {"git": "untracked", "lost": 89}, "speaks": false},
		"deleted": {"patch": {"git": "untracked", "kind": "file_delete"}, "speaks": false},
		"has happened": {"phase": "post", "patch": {"git": "untracked"}, "speaks": false},
	}
	e := given.effect("file_write", object.union({"verb": "truncate", "lost": 90}, case.patch))
	doc := given.action("file_modification", [e])
	said := spoken.speaks with input as object.union(doc, object.filter(case, ["phase"]))
	spoke := "file_emptied" in said
	case.speaks == spoke
}
