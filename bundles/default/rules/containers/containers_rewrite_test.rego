package reviewer.rewriting_test

import data.reviewer.given_test as given
import data.reviewer.rewriting

_pruned(flags) := _pruned_by({}, flags)

_pruned_by(patch, flags) := given.call({"action": {
	"types": ["system_command"],
	"signals": ["container_wipe"],
	"commands": [{"name": "docker", "sub": ["system", "prune"], "flags": flags, "operands": []}],
	"effects": [object.union({"kind": "system_call", "verb": "prune", "object": "volume", "certainty": "exact", "command": 0}, patch)],
}})

test_prune[name] if {
	some name, case in {
		"volumes": {"flags": ["--volumes"], "drops": ["--volumes"]},
		"and all images": {"flags": ["--volumes", "--all"], "drops": ["--volumes", "--all"]},
		"by a letter": {"flags": ["-a", "--volumes"], "drops": ["--volumes", "-a"]},
		"among letters": {"flags": ["-af", "--volumes"], "drops": ["--volumes", "-a"]},
		"a long flag with that letter": {"flags": ["--volumes", "--label"], "drops": ["--volumes"]},
	}
	ops := rewriting.offers.container_prune with input as _pruned(case.flags)
	ops == [{"op": "drop_flag", "command": 0, "flag": f} | some f in case.drops]
}

test_no_prune[name] if {
	some name, effect in {
		"wiped": {"verb": "wipe"},
		"by a program": {"kind": "process"},
		"by no command": {"command": -1},
	}
	ops := rewriting.offers.container_prune with input as _pruned_by(effect, ["--volumes"])
	ops == []
}

test_prune_as_it_is if {
	not rewriting.offers.container_prune with input as _pruned(["--volumes"]) with data.reviewer.rewrite.keep_volumes as false
}
