package reviewer.rewriting_test

import data.reviewer
import data.reviewer.given_test as given
import data.reviewer.rewriting

_call(commands, signals, effects) := given.call({"action": {"types": ["system_command"], "commands": commands, "signals": signals, "effects": effects}})

_push(flags) := _call([{"name": "git", "sub": ["push"], "flags": flags, "operands": ["origin", "topic"]}], ["git_force_push"], [])

# A force push keeps its other flags and gets a lease.
test_force_push[name] if {
	some name, case in {
		"--force": {"flags": ["--force"], "drop": ["--force"]},
		"-f": {"flags": ["-f", "-u"], "drop": ["-f"]},
		"in a cluster": {"flags": ["-uf"], "drop": ["-f"]},
		"both": {"flags": ["--force", "-f"], "drop": ["--force", "-f"]},
		"a cancelled force of includes": {"flags": ["--force", "--no-force-if-includes"], "drop": ["--force"]},
	}
	want := array.concat(
		[{"op": "set_flag", "command": 0, "flag": "--force-with-lease"}],
		[{"op": "drop_flag", "command": 0, "flag": f} | some f in case.drop],
	)
	want == rewriting.offers.git_force_push with input as _push(case.flags)
}

# A lease keeps what it was given.
test_a_push_with_a_lease[flag] if {
	some flag in ["--force-with-lease", "--force-with-lease=topic:abc"]
	rewriting.offers.git_force_push == [{"op": "drop_flag", "command": 0, "flag": "--force"}] with input as _push([flag, "--force"])
}

# Pushes that a lease cannot replace, that the settings exclude, or in which
# the order of flags decides.
test_no_form_of_a_push[name] if {
	some name, flags in {
		"refspec": [], "mirror": ["--mirror"], "delete": ["--delete"],
		"no force": ["--force", "--no-force"], "no lease": ["--force", "--no-force-with-lease"],
	}
	not rewriting.offers.git_force_push with input as _push(flags)
}

test_a_push_by_settings if {
	not rewriting.offers.git_force_push with input as _push(["--force"]) with data.reviewer.rewrite.force_push as false
}

_removal := given.effect("file_delete", {"verb": "delete", "exists": "yes", "entry": "file", "git": "untracked", "command": 0})

_remove(command) := _call([command], [], [_removal])

test_trash[name] if {
	some name, case in {
		"rm": {"flags": [], "more": []},
		"rm -i": {"flags": ["-i"], "more": [{"op": "drop_flag", "command": 0, "flag": "-i"}]},
		"rm -f": {
			"flags": ["-vf"],
			"more": [{"op": "drop_flag", "command": 0, "flag": "-vf"}, {"op": "set_flag", "command": 0, "flag": "--ignore-missing"}],
		},
	}
	want := array.concat(
		[{"op": "replace_arg", "command": 0, "arg": 0, "value": "{reviewer}"}, {"op": "insert_arg", "command": 0, "arg": 1, "value": "trash"}],
		case.more,
	)
	want == rewriting.offers.delete_untracked with input as _remove({"name": "rm", "flags": case.flags, "operands": ["a.txt"]})
}

test_no_trash[name] if {
	some name, doc in {
		"another program": _remove({"name": "find", "operands": ["."]}),
		"as another user": given.call({"action": {"commands": [{"name": "rm"}], "effects": [object.union(_removal, {"privileged": true})]}}),
	}
	not rewriting.offers.delete_untracked with input as doc
}

test_scripts if {
	doc := _call([{"name": "cd"}, {"name": "npm", "sub": ["install"], "operands": ["https://example.com/a.tgz"]}], ["package_install_url"], [])
	got := rewriting.offers.package_install_url with input as doc
	got == [{"op": "set_flag", "command": 1, "flag": "--ignore-scripts"}]
}

test_time_limit if {
	doc := _call([{"name": "yes"}], ["unbounded_resource"], [{"kind": "resource", "verb": "write", "certainty": "exact", "command": 0}])
	got := rewriting.offers.unbounded_resource with input as doc with data.reviewer.rewrite.time_limit_seconds as 7
	got == [{"op": "insert_arg", "command": 0, "arg": 0, "value": "timeout"}, {"op": "insert_arg", "command": 0, "arg": 0, "value": "7"}]
}

# A loop of the shell is not a command.
test_no_time_limit if not rewriting.offers.unbounded_resource with input as _call([{"name": "echo"}], ["unbounded_resource"], [])

_catalog := {"git_force_push": {
	"id": "git_force_push", "decision": "modify", "message": "m", "tags": [], "overridable": [], "always": false,
}}

# A rule that is only observed modifies no call, even if another rule does.
test_watched_rules_change_nothing if {
	offers := {"a": [{"op": "drop_flag", "command": 0, "flag": "-a"}], "b": [{"op": "drop_flag", "command": 0, "flag": "-b"}]}
	got := rewriting.operations with input as given.call({})
		with data.reviewer.rewriting.offers as offers
		with data.reviewer.fired.rules as [{"id": "a", "decision": "modify", "mode": "observe"}, {"id": "b", "decision": "modify", "mode": "enforce"}]
	got == offers.b
}

# The decision contains the operations, and the answer if they fail.
test_decision if {
	got := reviewer.decision with input as object.union(_push(["--force"]), {"findings": ["git_force_push"]})
		with data.reviewer.catalog as _catalog
	got.decision == "modify"
	got.enforced == "modify"
	count(got.rewrite) == 2
	got.otherwise.effect == "ask"
	contains(got.otherwise.text, "{why}")
	contains(got.text, "{form}")
}

test_no_operations_otherwise if {
	got := reviewer.decision with input as object.union(_push(["--mirror"]), {"findings": ["git_force_push"]})
		with data.reviewer.catalog as _catalog
	got.enforced == "ask"
	got.rewrite == []
	got.otherwise == null
}

# A form without operations is not a form.
test_an_empty_offer if not rewriting.offered({"id": "a"}) with rewriting.offers as {"a": []}

# A form is used only where the whole call is to run in it.
test_no_operations_where_another_rule_asks if {
	asks := object.union(_catalog.git_force_push, {"id": "asks", "decision": "ask"})
	got := reviewer.decision with input as object.union(_push(["--force"]), {"findings": ["git_force_push", "asks"]})
		with data.reviewer.catalog as object.union(_catalog, {"asks": asks})
	got.enforced == "ask"
	got.rewrite == []
}
