package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

test_checks_of_the_build[name] if {
	some name, case in {
		"deleted": {"kind": "file_delete", "speaks": true},
		"deleted, the session's own": {"kind": "file_delete", "ledger": "created", "speaks": false},
		"deleted, changed by the session": {"kind": "file_delete", "ledger": "modified", "speaks": true},
		"written": {"kind": "file_write", "speaks": false},
		"weaker": {"kind": "file_write", "detected": {"ci.skipped": 1}, "speaks": true},
		"something else was found": {"kind": "file_write", "detected": {"code.miner": 1}, "speaks": false},
		"weaker, and only read": {"kind": "file_read", "detected": {"ci.skipped": 1}, "speaks": false},
		"another file": {"kind": "file_write", "class": "", "detected": {"ci.skipped": 1}, "speaks": false},
	}
	patch := object.union({"class": "ci_config"}, object.filter(case, ["class", "ledger"]))
	effects := [given.effect(case.kind, patch), given.effect("file_write", {})]
	said := spoken.speaks with input as given.call({"action": {"effects": effects, "detected": object.get(case, "detected", {})}})
	spoke := "ci_weakened" in said
	case.speaks == spoke
}

test_what_takes_from_a_record[name] if {
	some name, case in {
		"deleted": {"kind": "file_delete", "verb": "delete", "speaks": true},
		"emptied": {"kind": "file_write", "verb": "truncate", "speaks": true},
		"written again": {"kind": "file_write", "verb": "write", "speaks": true},
		"added to": {"kind": "file_write", "verb": "append", "speaks": false},
		"its folder is made": {"kind": "file_write", "verb": "mkdir", "speaks": false},
		"read": {"kind": "file_read", "verb": "read", "speaks": false},
	}
	e := given.effect(case.kind, {"verb": case.verb, "target": "/var/log/audit/audit.log", "short": "/var/log/audit/audit.log"})
	said := spoken.speaks with input as given.action("file_modification", [e, given.effect("file_write", {})])
	spoke := "trace_removal" in said
	case.speaks == spoke
}
