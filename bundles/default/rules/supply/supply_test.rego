package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

test_whose_scripts_may_run[name] if {
	some name, case in {
		"a request": {"effects": [given.request({})], "speaks": false},
		"of a manager that knows no such flag": {"name": "pip", "effects": [given.request({})], "speaks": true},
		"what it fetches is built": {"effects": [given.request({}), {"kind": "process", "verb": "exec", "target": "npm", "command": 0}], "speaks": true},
		"by something that nobody sees": {"effects": [given.effect("file_write", {})], "speaks": true},
	}
	c := {"name": object.get(case, "name", "npm"), "sub": ["install"], "flags": ["--ignore-scripts"]}
	said := spoken.speaks with input as given.call({"action": {"signals": ["package_install_url"], "commands": [c], "effects": case.effects}})
	spoke := "package_install_url" in said
	case.speaks == spoke
}

test_what_is_no_edit_of_a_lock_file[verb] if {
	some verb in ["rename", "move", "copy", "chmod", "chown", "restrict", "discard"]
	e := given.effect("file_write", {"verb": verb, "short": "./web/yarn.lock"})
	said := spoken.speaks with input as given.action("file_modification", [e])
	not "lockfile_edit" in said
}
