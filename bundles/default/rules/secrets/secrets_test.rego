package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

test_where_secrets_are_looked_for[name] if {
	some name, case in {
		"all under it": {"patch": {"recursive": true}, "fires": true},
		"a folder": {"patch": {"entry": "dir"}, "fires": true},
		"what holds the workspace": {"patch": {"location": "ancestor"}, "fires": true},
		"a file": {"patch": {"entry": "file"}, "fires": false},
		"where nothing is": {"patch": {"recursive": true, "location": "null"}, "fires": false},
		"in what the session works on": {"patch": {"recursive": true, "location": "self"}, "fires": false},
		"copied there": {"kind": "file_write", "patch": {"recursive": true}, "fires": false},
	}
	e := given.effect(object.get(case, "kind", "file_read"), object.union({"location": "home", "command": 0}, case.patch))
	c := {"name": "rg", "operands": ["password"]}
	ids := firing.ids with input as given.call({"action": {"commands": [c], "effects": [e]}})
	got := "secret_search" in ids
	case.fires == got
}

test_which_tool_looks_for_secrets[tool] if {
	some tool, fires in {"safe.read.grep": true, "safe.read.glob": true, "mcp.notes.find": false}
	doc := given.action("file_read", [given.effect("file_read", {"location": "home_root"})])
	call := {"action": {"name": tool}, "event": {"args": {"pattern": "password"}}}
	ids := firing.ids with input as object.union(doc, call)
	got := "secret_search" in ids
	fires == got
}

test_credentials_that_are_made[name] if {
	some name, case in {
		"a new one": {"patch": {}, "fires": false},
		"a name that goes on": {"patch": {"certainty": "prefix"}, "fires": true},
		"added to": {"patch": {"verb": "append"}, "fires": true},
		"nobody knows whether it is there": {"patch": {"exists": "unknown"}, "fires": true},
	}
	e := given.effect("file_write", object.union({"class": "credential", "exists": "no"}, case.patch))
	ids := firing.ids with input as given.call({"action": {"signals": ["credential_adjacent"], "effects": [e]}})
	got := "credential_access" in ids
	case.fires == got
}

# After the session has added a remote, no repository counts as the workspace's own.
test_own_repository[name] if {
	some name, case in {
		"as it was": {"remotes": [], "fires": false},
		"a remote was added": {"remotes": ["stash"], "fires": true},
	}
	doc := given.call({
		"session": {"remotes": case.remotes},
		"action": {
			"types": ["network_request"],
			"signals": ["own_forge", "pipe_to_external"],
			"effects": [given.request({"verb": "send", "egress": true, "target": "github"})],
		},
	})
	ids := firing.ids with input as doc
	got := "pipe_to_external" in ids
	case.fires == got
}
