package reviewer.rewriting_test

import data.reviewer.given_test as given
import data.reviewer.rewriting

test_checks_of_a_commit[name] if {
	some name, case in {
		"a word": {"flags": ["--no-verify"], "drops": ["--no-verify"]},
		"a letter": {"flags": ["-n"], "drops": ["-n"]},
		"both": {"flags": ["-n", "--no-verify"], "drops": ["--no-verify", "-n"]},
	}
	want := [{"op": "drop_flag", "command": 0, "flag": flag} | some flag in case.drops]
	want == rewriting.offers.git_no_verify with input as _commit(case.flags, ["git_no_verify"])
}

test_checks_that_no_flag_skips[name] if {
	some name, case in {
		"a variable does": {"flags": ["-q"], "signals": ["git_no_verify"]},
	}
	not rewriting.offers.git_no_verify with input as _commit(case.flags, case.signals)
}

_commit(flags, signals) := given.call({"action": {"signals": signals, "commands": [{"name": "git", "sub": ["commit"], "flags": flags}]}})
