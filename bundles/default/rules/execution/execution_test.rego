package reviewer.execution_test

import data.reviewer.given_test as given
import data.reviewer.spoken

# A tool that nothing is known of runs where a person can be asked about it, or
# where the policy lets it.
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
	got := "unknown_tool" in spoken.speaks with input as doc
		with data.reviewer.unattended_modes as ["alone"]
		with data.reviewer.tools.unknown as object.get(case, "unknown", "block")
	got == case.want
}
