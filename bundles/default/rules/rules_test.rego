# METADATA
# title: The rules that are judged in Rego
# description: Each with inputs for which it fires, and for which it does not.
# scope: package
package reviewer.rules_test

import data.reviewer.firing
import data.reviewer.given_test as given

_deletes(patch) := given.action("file_deletion", [given.effect("file_delete", patch)])

_recursive(patch) := _deletes(object.union({"recursive": true, "short": "./dir"}, patch))

_cases := {
	"prevent_recursive_deletion": {
		"fires": {
			"not known": _recursive({}),
			"lost": _recursive({"reversibility": "R4"}),
			"outside, though kept": _recursive({"reversibility": "R2", "location": "outside"}),
			"generated, but not known how it ends": _recursive({"class": "generated", "certainty": "prefix", "short": "./build/?"}),
			"kept, but not known how it ends": _recursive({"reversibility": "R2", "certainty": "prefix", "short": "./src/?"}),
			"a place of the system that is not there": _recursive({"exists": "no", "location": "system"}),
			"all temporary files, if the name is empty": _recursive({"certainty": "prefix", "location": "temp", "short": "/tmp/?"}),
			"the temporary directory": _recursive({"location": "temp_root", "short": "/tmp"}),
			"one of two": given.action("file_deletion", [
				given.effect("file_delete", {"recursive": true, "reversibility": "R2"}),
				given.effect("file_delete", {"recursive": true, "reversibility": "R4"}),
			]),
		},
		"silent": {
			"one file": _deletes({"reversibility": "R4"}),
			"in version control": _recursive({"reversibility": "R2"}),
			"made again by a tool": _recursive({"class": "generated"}),
			"a pattern of such": _recursive({"class": "generated", "certainty": "glob"}),
			"made by the session": _recursive({"reversibility": "R4", "ledger": "created"}),
			"not there": _recursive({"exists": "no"}),
			"temporary": _recursive({"location": "temp", "reversibility": "R4", "short": "/tmp/x"}),
			"temporary, a name that was begun": _recursive({"certainty": "prefix", "location": "temp", "short": "/tmp/shop-?"}),
			"has happened": object.union(_recursive({}), {"phase": "post"}),
		},
	},
	"delete_outside_scope": {
		"fires": {location: _deletes({"location": location}) |
			some location in ["outside", "home", "temp_root", "home_root", "root", "ancestor", "system", "device"]
		},
		"silent": object.union(
			{location: _deletes({"location": location}) | some location in ["inside", "self", "temp", "null", "unknown"]},
			{
				"no workspace": object.union(_deletes({"location": "home"}), {"session": {"workspace": ""}}),
				"written": given.action("file_creation", [given.effect("file_write", {"location": "home"})]),
				"has happened": object.union(_deletes({"location": "home"}), {"phase": "post"}),
			},
		),
	},
	"delete_unknown_target": {
		"fires": {
			"deleted": _deletes({"location": "unknown", "certainty": "unknown"}),
			"deleted, beginning known": _deletes({"location": "unknown", "certainty": "prefix"}),
			"emptied": given.action("file_modification", [given.effect("file_write", {"verb": "truncate", "location": "unknown", "certainty": "unknown"})]),
		},
		"silent": {
			"written": given.action("file_modification", [given.effect("file_write", {"location": "unknown", "certainty": "unknown"})]),
			"known": _deletes({}),
			"read": given.action("file_read", [given.effect("file_read", {"location": "unknown", "certainty": "unknown"})]),
			"has happened": object.union(_deletes({"location": "unknown", "certainty": "unknown"}), {"phase": "post"}),
		},
	},
	"not_understood": {
		"fires": {reason: given.call({"action": {"opaque": [{"reason": reason}]}}) |
			some reason in ["syntax", "command", "code", "budget", "encoding", "arguments"]
		},
		"silent": {
			"target": given.call({"action": {"opaque": [{"reason": "target"}]}}),
			"tool": given.call({"action": {"opaque": [{"reason": "tool"}]}}),
			"understood": given.call({}),
			"has happened": given.call({"phase": "post", "action": {"opaque": [{"reason": "code"}]}}),
		},
	},
	"warn_external_network": {
		"fires": {
			"fetched": given.action("network_request", [given.request({})]),
			"not known where": given.action("network_request", [{"kind": "network", "certainty": "unknown"}]),
			"one of two": given.action("network_request", [given.request({"loopback": true}), given.request({})]),
		},
		"silent": {
			"this machine": given.action("network_request", [given.request({"loopback": true})]),
			"no request": given.action("file_read", [given.effect("file_read", {})]),
			"has happened": object.union(given.action("network_request", [given.request({})]), {"phase": "post"}),
		},
	},
	"credential_access": {
		"fires": {
			"read": _secret("file_read", "credential"),
			"written": _secret("file_write", "credential"),
		},
		"silent": {
			"env file": _secret("file_read", "env_file"),
			"no signal": given.action("file_read", [given.effect("file_read", {"class": "credential"})]),
			"has happened": object.union(_secret("file_read", "credential"), {"phase": "post"}),
		},
	},
	"env_file_read": {
		"fires": {"read": _secret("file_read", "env_file")},
		"silent": {
			"its size": given.call({"action": {"signals": ["credential_adjacent"], "effects": [given.effect("file_read", {"class": "env_file", "verb": "list"})]}}),
			"written": _secret("file_write", "env_file"),
			"credential": _secret("file_read", "credential"),
			"has happened": object.union(_secret("file_read", "env_file"), {"phase": "post"}),
		},
	},
	"session_stopped": {
		"fires": {phase: given.call({"phase": phase, "session": {"stopped": true}}) | some phase in ["pre", "post", "batch", "stop"]},
		"silent": {
			"not stopped": given.call({}),
			"a prompt": given.call({"phase": "prompt", "session": {"stopped": true}}),
		},
	},
	"stopped_prompt": {
		"fires": {"a prompt": given.call({"phase": "prompt", "session": {"stopped": true}})},
		"silent": {
			"not stopped": given.call({"phase": "prompt"}),
			"a call": given.call({"session": {"stopped": true}}),
		},
	},
	"limit_file_operations": {
		"fires": {"one too many": _operations(101, "pre")},
		"silent": {
			"as many as may be": _operations(100, "pre"),
			"has happened": _operations(101, "post"),
			"changes nothing": given.call({"session": {"file_ops": 500}}),
		},
	},
	"executed_differs": {
		"fires": {"other arguments": given.call({"phase": "post", "history": {"call": {"executed_differs": true}}})},
		"silent": {
			"the same": given.call({"phase": "post", "history": {"call": {"executed_differs": false}}}),
			"not known": given.call({"phase": "post"}),
		},
	},
}

_secret(kind, class) := given.call({"action": {
	"types": [kind], "signals": ["credential_adjacent"],
	"effects": [given.effect(kind, {"class": class})],
}})

_operations(n, phase) := given.call({
	"phase": phase, "session": {"file_ops": n},
	"action": {"effects": [given.effect("file_write", {})]},
})

test_speaks[name] if {
	some id, kinds in object.union(_cases, _facts)
	some what, doc in kinds.fires
	name := concat(": ", [id, what])
	firing.ids[id] with input as doc
		with data.reviewer.hosts.warn_reads as true
}

test_silent[name] if {
	some id, kinds in object.union(_cases, _facts)
	some what, doc in kinds.silent
	name := concat(": ", [id, what])
	ids := firing.ids with input as doc
	not id in ids
}

test_every_rule_has_cases if {
	ids := {id | some kinds in _cases; some doc in kinds.fires; some id in firing.ids with input as doc}
	ids - object.keys(object.union(_cases, _facts)) == set()
}

test_known_hosts[name] if {
	some name, case in {
		"itself": {"target": "https://api.example.com/v1?x=1", "hosts": ["api.example.com"], "ids": []},
		"with a port": {"target": "api.example.com:8443", "hosts": ["api.example.com"], "ids": []},
		"with a user": {"target": "https://me:REDACTED_password_1@api.example.com/", "hosts": ["api.example.com"], "ids": []},
		"below a known one": {"target": "ssh://git@deep.api.example.com/x", "hosts": ["deep.api.example.com"], "ids": []},
		"capitals": {"target": "HTTPS://API.EXAMPLE.COM/", "hosts": ["api.example.com"], "ids": []},
		"another": {"target": "https://example.com/", "hosts": ["example.com"], "ids": ["warn_external_network"]},
		"a name that ends so": {"target": "https://evilapi.example.com/", "hosts": ["evilapi.example.com"], "ids": ["warn_external_network"]},
		"a path that ends so": {"target": "https://evil.example/.api.example.com", "hosts": ["evil.example"], "ids": ["warn_external_network"]},
		"in the path, and known next to it": {"target": "https://evil.example/@api.example.com", "hosts": ["api.example.com", "evil.example"], "ids": ["warn_external_network"]},
		"in the query": {"target": "https://evil.example?@api.example.com", "hosts": ["api.example.com", "evil.example"], "ids": ["warn_external_network"]},
		"in the fragment": {"target": "https://evil.example#@api.example.com", "hosts": ["api.example.com", "evil.example"], "ids": ["warn_external_network"]},
		"as the user": {"target": "https://api.example.com@evil.example/", "hosts": ["api.example.com", "evil.example"], "ids": ["warn_external_network"]},
		"the classifier sees another": {"target": "https://api.example.com/", "hosts": ["evil.example"], "ids": ["warn_external_network"]},
		"goes on": {"target": "https://api.example.com", "certainty": "prefix", "hosts": ["api.example.com"], "ids": ["warn_external_network"]},
		"nothing": {"target": "", "hosts": [], "ids": ["warn_external_network"]},
	}
	effect := given.request(object.filter(case, ["target", "certainty"]))
	ids := firing.ids with input as given.call({"action": {"hosts": case.hosts, "effects": [effect]}})
		with data.reviewer.hosts.known as ["api.example.com"]
		with data.reviewer.hosts.warn_reads as true
	case.ids == [id | some id in ids]
}
