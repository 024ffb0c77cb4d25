package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

test_where_secrets_are_looked_for[name] if {
	some name, case in {
		"all below it": {"patch": {"recursive": true}, "speaks": true},
		"a folder": {"patch": {"entry": "dir"}, "speaks": true},
		"what holds the workspace": {"patch": {"location": "ancestor"}, "speaks": true},
		"a file": {"patch": {"entry": "file"}, "speaks": false},
		"where nothing is": {"patch": {"recursive": true, "location": "null"}, "speaks": false},
		"in what the session works on": {"patch": {"recursive": true, "location": "self"}, "speaks": false},
		"copied there": {"kind": "file_write", "patch": {"recursive": true}, "speaks": false},
	}
	e := given.effect(object.get(case, "kind", "file_read"), object.union({"location": "home", "command": 0}, case.patch))
	c := {"name": "rg", "operands": ["password"]}
	said := spoken.speaks with input as given.call({"action": {"commands": [c], "effects": [e]}})
	spoke := "secret_search" in said
	case.speaks == spoke
}

test_which_tool_looks_for_secrets[tool] if {
	some tool, speaks in {"Grep": true, "Glob": true, "mcp__notes__find": false}
	doc := given.action("file_read", [given.effect("file_read", {"location": "home_root"})])
	said := spoken.speaks with input as object.union(doc, {"event": {"tool": tool, "args": {"pattern": "password"}}})
	spoke := "secret_search" in said
	speaks == spoke
}

test_credentials_that_are_made[name] if {
	some name, case in {
		"a new one": {"patch": {}, "speaks": false},
		"a name that goes on": {"patch": {"certainty": "prefix"}, "speaks": true},
		"added to": {"patch": {"verb": "append"}, "speaks": true},
		"nobody knows whether it is there": {"patch": {"exists": "unknown"}, "speaks": true},
	}
	e := given.effect("file_write", object.union({"class": "credential", "exists": "no"}, case.patch))
	said := spoken.speaks with input as given.call({"action": {"signals": ["credential_adjacent"], "effects": [e]}})
	spoke := "credential_access" in said
	case.speaks == spoke
}
