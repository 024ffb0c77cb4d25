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

test_package_invented[name] if {
	popular := {"npm": ["react", "react-codemod", "jscodeshift", "js-codeword", "fs-transform"], "python": ["pytest"]}
	some name, case in {
		"joined from two": {"package": "react-codeshift", "spoken": true},
		"with a version": {"package": "react-codeshift@1.2", "spoken": true},
		"popular itself": {"package": "react-codemod", "spoken": false},
		"a first word of none": {"package": "vue-codeshift", "spoken": false},
		"nothing before the end": {"package": "codeshift", "spoken": false},
		"a whole word behind": {"package": "react-codeword", "spoken": false},
		"more is missing than a few letters": {"package": "react-deshift", "spoken": false},
	}
	doc := given.call({"phase": "pre", "action": {
		"signals": ["package_install"], "commands": [{"name": "npm", "operands": [case.package], "wrappers": []}],
		"effects": [given.effect("network", {})],
	}})
	said := "package_invented" in data.reviewer.spoken.speaks with input as doc
		with data.reviewer.packages.popular as popular
	said == case.spoken
}
