package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

test_sizes_of_files[name] if {
	some name, case in {
		"above": {"bytes": 101, "speaks": true},
		"at the limit": {"bytes": 100, "speaks": false},
		"not said": {"bytes": 0, "speaks": false},
	}
	said := spoken.speaks with input as given.action("file_creation", [given.effect("file_write", {"bytes": case.bytes})])
		with data.reviewer.resources.max_file_bytes as 100
	spoke := "disk_fill" in said
	case.speaks == spoke
}

test_miners[name] if {
	some name, case in {
		"by name": {"command": {"name": "XMRig"}, "speaks": true},
		"an address": {"command": {"name": "worker", "operands": ["stratum+tcp://pool.example.com:1"]}, "speaks": true},
		"a value": {"command": {"name": "worker", "flags": ["--url=stratum2+ssl://pool.example.com:1"]}, "speaks": true},
		"another address": {"command": {"name": "worker", "operands": ["tcp://pool.example.com:1"]}, "speaks": false},
		"words about it": {"command": {"name": "grep", "operands": ["xmrig", "not stratum+tcp://x"]}, "speaks": false},
	}
	said := spoken.speaks with input as given.call({"action": {"types": ["file_read"], "commands": [case.command], "effects": [given.effect("process", {"verb": "exec"})]}})
	spoke := "miner_run" in said
	case.speaks == spoke
}

test_clocks[name] if {
	some name, case in {
		"set": {"verb": "set", "target": "clock", "speaks": true},
		"set by its other name": {"verb": "set", "target": "date", "speaks": true},
		"another setting": {"verb": "set", "target": "hostname", "speaks": false},
		"shown": {"verb": "show", "target": "clock", "speaks": false},
		"a file of that name": {"kind": "file_write", "verb": "set", "target": "date", "speaks": false},
	}
	e := {"kind": object.get(case, "kind", "system_call"), "verb": case.verb, "target": case.target, "certainty": "exact", "command": 0}
	said := spoken.speaks with input as given.action("system_command", [e])
	spoke := "clock_change" in said
	case.speaks == spoke
}

test_tests[name] if {
	some name, case in {
		"by its folder": {"patch": {"short": "./tests/tax.py"}, "speaks": true},
		"by its ending": {"patch": {"short": "./cart_test.go"}, "speaks": true},
		"by its end in lower case": {"patch": {"short": "./src/cart.spec.ts"}, "speaks": true},
		"by its beginning": {"patch": {"short": "./test_tax.py"}, "speaks": true},
		"of a class": {"patch": {"short": "./CartTest.java"}, "speaks": true},
		"into the trash": {"patch": {"short": "./cart_test.go", "verb": "trash"}, "speaks": true},
		"thrown away": {"patch": {"short": "./cart_test.go", "verb": "discard"}, "speaks": true},
		"put back as it was": {"kind": "file_write", "patch": {"short": "./cart_test.go", "verb": "discard"}, "speaks": false},
		"moved": {"patch": {"short": "./cart_test.go", "verb": "move"}, "speaks": false},
		"not there": {"patch": {"short": "./cart_test.go", "exists": "no"}, "speaks": false},
		"the session's own": {"patch": {"short": "./cart_test.go", "ledger": "created"}, "speaks": false},
		"somewhere else": {"patch": {"short": "/tmp/tests/a", "location": "temp"}, "speaks": false},
		"built": {"patch": {"short": "./build/tests/a.o", "class": "generated"}, "speaks": false},
		"no test": {"patch": {"short": "./latest.go"}, "speaks": false},
	}
	e := given.effect(object.get(case, "kind", "file_delete"), object.union({"verb": "delete"}, case.patch))
	said := spoken.speaks with input as given.action("file_deletion", [e, given.effect("file_delete", {"verb": "delete"})])
	spoke := "test_deleted" in said
	case.speaks == spoke
}
