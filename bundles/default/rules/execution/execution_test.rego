package reviewer.execution_test

import data.reviewer.firing
import data.reviewer.given_test as given

# An unknown tool runs if a person can be asked about it, or if the policy allows it.
test_unknown_tool[name] if {
	some name, case in {
		"nobody can be asked": {"want": true},
		"a person is there": {"mode": "default", "want": false},
		"the policy allows such tools": {"unknown": "allow", "want": false},
		"the tool is known": {"opaque": [], "want": false},
		"the tool is known, its command is not": {"opaque": [{"reason": "command"}], "want": false},
		"it has run": {"phase": "post", "want": false},
	}
	doc := given.call({
		"phase": object.get(case, "phase", "pre"),
		"event": {"mode": object.get(case, "mode", "alone")},
		"action": {"types": ["unknown"], "opaque": object.get(case, "opaque", [{"reason": "tool"}])},
	})
	got := "unknown_tool" in firing.ids with input as doc
		with data.reviewer.unattended_modes as ["alone"]
		with data.reviewer.tools.unknown as object.get(case, "unknown", "block")
	got == case.want
}

# What an unknown program may run is asked about if it would do harm.
test_possible_command[name] if {
	some name, case in {
		"a deletion elsewhere": {"possible": [{"kind": "file_delete", "location": "outside"}], "want": true},
		"a deletion in the workspace": {"possible": [{"kind": "file_delete", "location": "inside"}], "want": false},
		"a folder with work in no commit": {
			"possible": [{"kind": "file_delete", "location": "inside", "recursive": true, "git": "dirty"}],
			"want": true,
		},
		"a change of the machine": {"possible": [{"kind": "system_call", "verb": "stop"}], "want": true},
		"a service is started": {"possible": [{"kind": "system_call", "verb": "restart"}], "want": false},
		"a start-up file is written": {"possible": [{"kind": "file_write", "class": "startup"}], "want": true},
		"a file of the system is written": {"possible": [{"kind": "file_write", "location": "system"}], "want": true},
		"a file is written": {"possible": [{"kind": "file_write", "location": "inside"}], "want": false},
		"a key leaves": {
			"possible": [{"kind": "network", "egress": true}, {"kind": "file_read", "class": "credential"}],
			"want": true,
		},
		"a file of the machine leaves": {
			"possible": [{"kind": "network", "egress": true}, {"kind": "file_read", "location": "system"}],
			"want": true,
		},
		"a key stays": {
			"possible": [
				{"kind": "network", "egress": true, "loopback": true},
				{"kind": "file_read", "class": "credential"},
			],
			"want": false,
		},
		"something is sent": {"possible": [{"kind": "network", "egress": true}], "want": false},
		"a signal": {"signals": ["remote_code"], "want": true},
		"another signal": {"signals": ["errors_muted"], "want": false},
		"only shown": {"possible": [{"kind": "system_call", "verb": "stop"}], "signals": ["dry_run"], "want": false},
		"it has run": {"phase": "post", "signals": ["remote_code"], "want": false},
	}
	doc := given.call({
		"phase": object.get(case, "phase", "pre"),
		"action": {
			"possible": object.get(case, "possible", []),
			"possible_signals": object.get(case, "signals", []),
		},
	})
	got := "possible_command" in firing.ids with input as doc
	got == case.want
}

# A test runner runs the same part of a file whether the file is named or found.
test_written_code_that_a_test_comes_upon[name] if {
	some name, case in {
		"a runner of tests": {"commands": [{"name": "pytest", "operands": ["tests/test_a.py"], "flags": []}], "rules": ["publish"], "fires": 0},
		"by the interpreter": {"commands": [{"name": "python", "operands": ["tests/test_a.py"], "flags": ["-m=pytest"]}], "rules": ["publish"], "fires": 0},
		"as a program": {"commands": [{"name": "python", "operands": ["tests/test_a.py"], "flags": []}], "rules": ["publish"], "fires": 1},
		"with more": {"commands": [{"name": "pytest", "operands": ["tests/test_a.py"], "flags": []}], "rules": ["publish", "disk_write"], "fires": 1},
		"not a test": {"check": false, "commands": [{"name": "pytest", "operands": [], "flags": []}], "rules": ["publish"], "fires": 1},
	}
	doc := given.call({"action": {
		"check": object.get(case, "check", true),
		"loads": ["named", "python"],
		"commands": case.commands,
		"inherits": [{"path": "./tests/test_a.py", "rules": case.rules, "named": true}],
	}})
	ids := firing.ids with input as object.union(doc, {"facts": ["inherits"]})
	case.fires == count({"written_code"} & ids)
}
