package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

test_checks_of_the_build[name] if {
	some name, case in {
		"deleted": {"kind": "file_delete", "fires": true},
		"deleted, the session's own": {"kind": "file_delete", "ledger": "created", "fires": false},
		"deleted, changed by the session": {"kind": "file_delete", "ledger": "modified", "fires": true},
		"written": {"kind": "file_write", "fires": false},
		"weaker": {"kind": "file_write", "detected": {"ci.skipped": 1}, "fires": true},
		"something else was found": {"kind": "file_write", "detected": {"code.miner": 1}, "fires": false},
		"weaker, and only read": {"kind": "file_read", "detected": {"ci.skipped": 1}, "fires": false},
		"another file": {"kind": "file_write", "class": "", "detected": {"ci.skipped": 1}, "fires": false},
	}
	patch := object.union({"class": "ci_config"}, object.filter(case, ["class", "ledger"]))
	effects := [given.effect(case.kind, patch), given.effect("file_write", {})]
	ids := firing.ids with input as given.call({"action": {"effects": effects, "detected": object.get(case, "detected", {})}})
	got := "ci_weakened" in ids
	case.fires == got
}

test_what_takes_from_a_record[name] if {
	some name, case in {
		"deleted": {"kind": "file_delete", "verb": "delete", "fires": true},
		"emptied": {"kind": "file_write", "verb": "truncate", "fires": true},
		"written again": {"kind": "file_write", "verb": "write", "fires": true},
		"added to": {"kind": "file_write", "verb": "append", "fires": false},
		"its folder is made": {"kind": "file_write", "verb": "mkdir", "fires": false},
		"read": {"kind": "file_read", "verb": "read", "fires": false},
	}
	e := given.effect(case.kind, {"verb": case.verb, "target": "/var/log/audit/audit.log", "short": "/var/log/audit/audit.log"})
	ids := firing.ids with input as given.action("file_modification", [e, given.effect("file_write", {})])
	got := "trace_removal" in ids
	case.fires == got
}

test_folders_of_agents[name] if {
	some name, case in {
		"made": {"verb": "create", "command": "mkdir", "fires": false},
		"a file in it": {"verb": "create", "command": "touch", "fires": true},
		"written": {"verb": "write", "command": "mkdir", "fires": true},
	}
	e := given.effect("file_write", {"class": "agent_config", "verb": case.verb, "command": 0})
	ids := firing.ids with input as given.call({"action": {"effects": [e], "commands": [{"name": case.command}]}})
	got := "agent_instructions" in ids
	case.fires == got
}

test_settings_elsewhere[name] if {
	some name, case in {
		"written": {"command": "tee", "from": "agent_config", "fires": true},
		"copied from the session's own": {"command": "cp", "from": "agent_config", "fires": false},
		"copied from another file": {"command": "cp", "from": "", "fires": true},
	}
	e := given.effect("file_write", {"class": "agent_config", "guard": "elsewhere", "command": 0})
	from := given.effect("file_read", {"class": case.from, "certainty": "exact", "location": "inside", "command": 0})
	ids := firing.ids with input as given.call({"facts": ["changes_files"], "action": {"effects": [e, from], "commands": [{"name": case.command}]}})
	got := "agent_settings_elsewhere" in ids
	case.fires == got
}
