package reviewer.rewriting_test

import data.reviewer.rewriting

test_no_scripts_to_leave_out[name] if {
	some name, case in {
		"another manager": {"command": {"name": "pip", "sub": ["install"]}, "signals": ["package_install_url"]},
		"no install": {"command": {"name": "npm", "sub": ["exec"]}, "signals": ["package_install_url"]},
		"the usual registry": {"command": {"name": "npm", "sub": ["install"]}, "signals": []},
	}
	not rewriting.offers.package_install_url with input as _call([case.command], case.signals, [])
}
