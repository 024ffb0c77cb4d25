package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

test_sizes_of_files[name] if {
	some name, case in {
		"above": {"bytes": 101, "fires": true},
		"at the limit": {"bytes": 100, "fires": false},
		"not said": {"bytes": 0, "fires": false},
	}
	ids := firing.ids with input as given.action("file_creation", [given.effect("file_write", {"bytes": case.bytes})])
		with data.reviewer.resources.max_file_bytes as 100
	got := "disk_fill" in ids
	case.fires == got
}

test_miners[name] if {
	some name, case in {
		"by name": {"command": {"name": "XMRig"}, "fires": true},
		"an address": {"command": {"name": "worker", "operands": ["stratum+tcp://pool.example.com:1"]}, "fires": true},
		"a value": {"command": {"name": "worker", "flags": ["--url=stratum2+ssl://pool.example.com:1"]}, "fires": true},
		"another address": {"command": {"name": "worker", "operands": ["tcp://pool.example.com:1"]}, "fires": false},
		"words about it": {"command": {"name": "grep", "operands": ["xmrig", "not stratum+tcp://x"]}, "fires": false},
	}
	ids := firing.ids with input as given.call({"action": {"types": ["file_read"], "commands": [case.command], "effects": [given.effect("process", {"verb": "exec"})]}})
	got := "miner_run" in ids
	case.fires == got
}

test_clocks[name] if {
	some name, case in {
		"set": {"verb": "set", "target": "clock", "fires": true},
		"set by its other name": {"verb": "set", "target": "date", "fires": true},
		"another setting": {"verb": "set", "target": "hostname", "fires": false},
		"shown": {"verb": "show", "target": "clock", "fires": false},
		"a file of that name": {"kind": "file_write", "verb": "set", "target": "date", "fires": false},
	}
	e := {"kind": object.get(case, "kind", "system_call"), "verb": case.verb, "target": case.target, "certainty": "exact", "command": 0}
	ids := firing.ids with input as given.action("system_command", [e])
	got := "clock_change" in ids
	case.fires == got
}

test_tests[name] if {
	some name, case in {
		"by its folder": {"patch": {"short": "./tests/tax.py"}, "fires": true},
		"by its ending": {"patch": {"short": "./cart_test.go"}, "fires": true},
		"by its end in lower case": {"patch": {"short": "./src/cart.spec.ts"}, "fires": true},
		"by its beginning": {"patch": {"short": "./test_tax.py"}, "fires": true},
		"of a class": {"patch": {"short": "./CartTest.java"}, "fires": true},
		"into the trash": {"patch": {"short": "./cart_test.go", "verb": "trash"}, "fires": true},
		"thrown away": {"patch": {"short": "./cart_test.go", "verb": "discard"}, "fires": true},
		"put back as it was": {"kind": "file_write", "patch": {"short": "./cart_test.go", "verb": "discard"}, "fires": false},
		"moved": {"patch": {"short": "./cart_test.go", "verb": "move"}, "fires": false},
		"not there": {"patch": {"short": "./cart_test.go", "exists": "no"}, "fires": false},
		"the session's own": {"patch": {"short": "./cart_test.go", "ledger": "created"}, "fires": false},
		"somewhere else": {"patch": {"short": "/tmp/tests/a", "location": "temp"}, "fires": false},
		"built": {"patch": {"short": "./build/tests/a.o", "class": "generated"}, "fires": false},
		"no test": {"patch": {"short": "./latest.go"}, "fires": false},
	}
	e := given.effect(object.get(case, "kind", "file_delete"), object.union({"verb": "delete"}, case.patch))
	ids := firing.ids with input as given.action("file_deletion", [e, given.effect("file_delete", {"verb": "delete"})])
	got := "test_deleted" in ids
	case.fires == got
}
