package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

test_whose_scripts_may_run[name] if {
	some name, case in {
		"a request": {"effects": [given.request({})], "fires": false},
		"of a manager that knows no such flag": {"name": "pip", "effects": [given.request({})], "fires": true},
		"what it fetches is built": {"effects": [given.request({}), {"kind": "process", "verb": "exec", "target": "npm", "command": 0}], "fires": true},
		"by something that nobody sees": {"effects": [given.effect("file_write", {})], "fires": true},
	}
	c := {"name": object.get(case, "name", "npm"), "sub": ["install"], "flags": ["--ignore-scripts"]}
	ids := firing.ids with input as given.call({"action": {"signals": ["package_install_url"], "commands": [c], "effects": case.effects}})
	got := "package_install_url" in ids
	case.fires == got
}

test_what_is_no_edit_of_a_lock_file[verb] if {
	some verb in ["rename", "move", "copy", "chmod", "chown", "restrict", "discard"]
	e := given.effect("file_write", {"verb": verb, "short": "./web/yarn.lock"})
	ids := firing.ids with input as given.action("file_modification", [e])
	not "lockfile_edit" in ids
}

test_package_invented[name] if {
	popular := {"npm": ["react", "react-codemod", "jscodeshift", "js-codeword", "fs-transform"], "python": ["pytest"]}
	some name, case in {
		"joined from two": {"package": "react-codeshift", "fires": true},
		"with a version": {"package": "react-codeshift@1.2", "fires": true},
		"popular itself": {"package": "react-codemod", "fires": false},
		"a first word of none": {"package": "vue-codeshift", "fires": false},
		"nothing before the end": {"package": "codeshift", "fires": false},
		"a whole word behind": {"package": "react-codeword", "fires": false},
		"more is missing than a few letters": {"package": "react-deshift", "fires": false},
	}
	doc := given.call({"phase": "pre", "action": {
		"signals": ["package_install"], "commands": [{"name": "npm", "operands": [case.package], "wrappers": []}],
		"effects": [given.effect("network", {})],
	}})
	ids := "package_invented" in data.reviewer.firing.ids with input as doc
		with data.reviewer.packages.popular as popular
	ids == case.fires
}
