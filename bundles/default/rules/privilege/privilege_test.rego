package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

test_groups_of_administrators[name] if {
	some name, case in {
		"a value": {"flags": ["-aG=docker"], "fires": true},
		"among others": {"flags": ["-G=audio,Sudo"], "fires": true},
		"a word": {"operands": ["anna", "wheel"], "fires": true},
		"another group": {"flags": ["-aG=audio"], "operands": ["anna"], "fires": false},
		"a name that holds it": {"operands": ["sudoku"], "fires": false},
		"a flag of that name": {"flags": ["--sudo"], "fires": false},
		"an account elsewhere": {"kind": "network", "operands": ["wheel"], "fires": false},
		"no account": {"verb": "set", "operands": ["wheel"], "fires": false},
		"without words": {"fires": false},
	}
	c := object.filter({"name": "usermod", "flags": object.get(case, "flags", null), "operands": object.get(case, "operands", null)}, _given(case))
	e := {"kind": object.get(case, "kind", "system_call"), "verb": object.get(case, "verb", "account"), "target": "anna", "certainty": "exact", "command": 0}
	ids := firing.ids with input as given.call({"action": {"types": ["system_command"], "commands": [c], "effects": [e]}})
	got := "admin_group" in ids
	case.fires == got
}

_given(case) := {"name"} | object.keys(case)

test_what_decides_over_rights[name] if {
	some name, case in {
		"a file": {"patch": {"target": "/etc/sudoers"}, "fires": true},
		"under a folder": {"patch": {"target": "/etc/pam.d/sshd"}, "fires": true},
		"deleted": {"kind": "file_delete", "patch": {"target": "/etc/sudoers.d/team"}, "fires": true},
		"a name that begins alike": {"patch": {"target": "/etc/sudoers.bak"}, "fires": false},
		"read": {"kind": "file_read", "patch": {"target": "/etc/sudoers"}, "fires": false},
		"in a container": {"patch": {"target": "/etc/group", "host": "container:web"}, "fires": false},
		"another place": {"patch": {"target": "/etc/motd"}, "fires": false},
	}
	more := given.effect("file_write", {"location": "outside", "target": "/opt/a"})
	e := given.effect(object.get(case, "kind", "file_write"), object.union({"location": "system"}, case.patch))
	ids := firing.ids with input as given.action("file_modification", [e, more])
	got := "rights_changed" in ids
	case.fires == got
}
