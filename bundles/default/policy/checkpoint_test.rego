package reviewer.checkpoint_test

import data.reviewer.checkpoint
import data.reviewer.given_test as given

_run(effects) := given.call({"action": {"types": ["system_command"], "commands": [{"name": "make"}], "effects": effects}})

test_required[name] if {
	some name, doc in {
		"a write": given.action("file_modification", [given.effect("file_write", {})]),
		"a deletion": given.action("file_deletion", [given.effect("file_delete", {})]),
		"a write outside": given.action("file_modification", [given.effect("file_write", {"location": "outside"})]),
		"not understood": given.call({"action": {"opaque": [{"reason": "tool"}]}}),
		"a command that runs something": _run([{"kind": "process", "verb": "exec", "certainty": "exact", "command": 0}]),
		"a command that contacts something": _run([given.request({})]),
		"reads and writes": _run([given.effect("file_read", {}), given.effect("file_write", {})]),
	}
	checkpoint.required with input as doc
}

test_not_required[name] if {
	some name, doc in {
		"a read": given.action("file_read", [given.effect("file_read", {})]),
		"a command that reads": _run([given.effect("file_read", {})]),
		"a command without effects": _run([]),
		"a device that swallows": _run([given.effect("file_write", {"location": "null"})]),
		"a request by a tool": given.action("network_request", [given.request({})]),
		"a message": given.action("message", []),
		"after the call": object.union(given.action("file_deletion", [given.effect("file_delete", {})]), {"phase": "post"}),
	}
	not checkpoint.required with input as doc
}

test_switched_off if {
	doc := given.action("file_deletion", [given.effect("file_delete", {})])
	not checkpoint.required with input as doc with data.reviewer.checkpoints.enabled as false
	not checkpoint.required with input as doc with data.reviewer.enabled as false
}
