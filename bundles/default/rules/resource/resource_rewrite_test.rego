package reviewer.rewriting_test

import data.reviewer.rewriting

test_nothing_to_limit[name] if {
	some name, case in {
		"a loop of the shell": {"effect": {"kind": "resource", "verb": "write", "certainty": "exact", "command": -1}, "signals": ["unbounded_resource"]},
		"a file": {"effect": {"kind": "file_write", "verb": "write", "certainty": "exact", "command": 0}, "signals": ["unbounded_resource"]},
		"it multiplies": {"effect": {"kind": "resource", "verb": "fork", "certainty": "exact", "command": 0}, "signals": []},
	}
	not rewriting.offers.unbounded_resource with input as _call([{"name": "yes"}], case.signals, [case.effect])
}
