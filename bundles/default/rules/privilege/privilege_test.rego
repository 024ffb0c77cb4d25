package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

test_groups_of_administrators[name] if {
	some name, case in {
		"a value": {"flags": ["-aG=docker"], "speaks": true},
		"among others": {"flags": ["-G=audio,Sudo"], "speaks": true},
		"a word": {"operands": ["anna", "wheel"], "speaks": true},
		"another group": {"flags": ["-aG=audio"], "operands": ["anna"], "speaks": false},
		"a name that holds it": {"operands": ["sudoku"], "speaks": false},
		"a flag of that name": {"flags": ["--sudo"], "speaks": false},
		"an account elsewhere": {"kind": "network", "operands": ["wheel"], "speaks": false},
		"no account": {"verb": "set", "operands": ["wheel"], "speaks": false},
		"without words": {"speaks": false},
	}
	c := object.filter({"name": "usermod", "flags": object.get(case, "flags", null), "operands": object.get(case, "operands", null)}, _given(case))
	e := {"kind": object.get(case, "kind", "system_call"), "verb": object.get(case, "verb", "account"), "target": "anna", "certainty": "exact", "command": 0}
	said := spoken.speaks with input as given.call({"action": {"types": ["system_command"], "commands": [c], "effects": [e]}})
	spoke := "admin_group" in said
	case.speaks == spoke
}

_given(case) := {"name"} | object.keys(case)

test_what_decides_over_rights[name] if {
	some name, case in {
		"a file": {"patch": {"target": "/etc/sudoers"}, "speaks": true},
		"below a folder": {"patch": {"target": "/etc/pam.d/sshd"}, "speaks": true},
		"deleted": {"kind": "file_delete", "patch": {"target": "/etc/sudoers.d/team"}, "speaks": true},
		"a name that begins alike": {"patch": {"target": "/etc/sudoers.bak"}, "speaks": false},
		"read": {"kind": "file_read", "patch": {"target": "/etc/sudoers"}, "speaks": false},
		"in a container": {"patch": {"target": "/etc/group", "host": "container:web"}, "speaks": false},
		"another place": {"patch": {"target": "/etc/motd"}, "speaks": false},
	}
	more := given.effect("file_write", {"location": "outside", "target": "/opt/a"})
	e := given.effect(object.get(case, "kind", "file_write"), object.union({"location": "system"}, case.patch))
	said := spoken.speaks with input as given.action("file_modification", [e, more])
	spoke := "rights_changed" in said
	case.speaks == spoke
}
