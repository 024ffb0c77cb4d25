package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

_ended(patch) := _ended_with([], patch)

_ended_with(flags, patch) := given.call({"action": {
	"types": ["network_request"],
	"commands": [{"name": "cloudctl", "sub": ["disks", "delete"], "operands": ["d1"], "flags": flags}],
	"effects": [given.request(object.union({"verb": "delete", "target": "cloudctl"}, patch))],
}})

_service_rules := {"infrastructure_delete", "api_delete", "service_delete"}

test_services[name] if {
	some name, case in {
		"one thing": {"effect": {"object": "disk"}, "speaks": {"api_delete"}},
		"a thing that nobody knows": {"effect": {}, "speaks": {"api_delete"}},
		"more goes with it": {"effect": {"object": "project"}, "speaks": {"api_delete", "infrastructure_delete"}},
		"all that is in it": {"effect": {"object": "bucket", "recursive": true}, "speaks": {"api_delete", "infrastructure_delete"}},
		"all that is in it, removed": {"effect": {"verb": "remove", "object": "bucket", "recursive": true}, "speaks": {"api_delete", "infrastructure_delete"}},
		"all that is in it, as it was": {"effect": {"verb": "reset", "object": "bucket", "recursive": true}, "speaks": {"api_delete", "infrastructure_delete"}},
		"all that is in it, archived": {"effect": {"verb": "archive", "object": "bucket", "recursive": true}, "speaks": {"api_delete"}},
		"more goes with it, removed": {"effect": {"verb": "remove", "object": "project"}, "speaks": {"api_delete", "infrastructure_delete"}},
		"more goes with it, as it was": {"effect": {"verb": "reset", "object": "project"}, "speaks": {"api_delete", "infrastructure_delete"}},
		"switched off": {"effect": {"verb": "disable", "object": "project"}, "speaks": {"api_delete"}},
		"production": {"effect": {"verb": "disable", "target": "https://prod.example.dev/keys/1"}, "speaks": {"api_delete", "infrastructure_delete"}},
		"from a host of production": {"effect": {"host": "ssh:prod-web1"}, "speaks": {"api_delete", "infrastructure_delete"}},
		"a word that begins so": {"effect": {"target": "https://products.example.dev/items/1"}, "speaks": {"api_delete"}},
		"sent": {"effect": {"verb": "send", "object": "project"}, "speaks": set()},
		"this machine": {"effect": {"target": "http://localhost:3000/items/1", "loopback": true}, "speaks": set()},
		"this machine, where data are": {"effect": {"target": "http://localhost:9200/orders", "loopback": true}, "speaks": {"api_delete"}},
		"no scheme": {"effect": {"target": "localhost:9200/orders", "loopback": true}, "speaks": {"api_delete"}},
		"a port in the path": {"effect": {"target": "http://localhost/a:9200/orders", "loopback": true}, "speaks": set()},
		"another machine's own": {"effect": {"target": "http://localhost/items/1", "loopback": true, "host": "ssh:web1"}, "speaks": {"api_delete"}},
		"only words": {"effect": {"kind": "process", "object": "toggle", "target": "flagctl"}, "speaks": {"service_delete"}},
		"only words, of this machine": {"effect": {"kind": "process", "object": "remote", "target": "flatpak"}, "speaks": set()},
		"only words, removed": {"effect": {"kind": "process", "verb": "remove", "object": "toggle", "target": "flagctl"}, "speaks": set()},
		"only words, of rows": {"effect": {"kind": "process", "object": "rows", "target": "flagctl"}, "speaks": set()},
		"a container": {"effect": {"kind": "process", "target": "web"}, "speaks": set()},
	}
	said := spoken.speaks with input as _ended(case.effect)
	case.speaks == said & _service_rules
}

# A context's name says where a cluster is, and nothing about other services.
test_contexts[name] if {
	some name, case in {
		"a cluster": {"target": "kubernetes", "speaks": set()},
		"a service": {"target": "cloudctl", "speaks": {"api_delete"}},
	}
	said := spoken.speaks with input as _ended_with(["--context=kind-shop"], {"target": case.target})
	case.speaks == said & _service_rules
}

test_services_by_the_type_of_the_action if {
	said := spoken.speaks with input as object.union(_ended({"object": "project"}), {"action": {"types": ["file_read"]}})
	said & _service_rules == set()
}

test_words_that_have_been_said if {
	doc := _ended({"kind": "process", "object": "toggle", "target": "flagctl"})
	said := spoken.speaks with input as object.union(doc, {"phase": "post"})
	said & _service_rules == set()
}

test_unseen_changes[name] if {
	some name, case in {
		"of a stack": {"patch": {}, "speaks": true},
		"a person is asked": {"patch": {"forced": false}, "speaks": false},
		"of one thing": {"patch": {"object": "record"}, "speaks": false},
		"the stack ends": {"patch": {"verb": "delete"}, "speaks": false},
		"by a program": {"patch": {"kind": "process"}, "speaks": false},
		"nothing was agreed to beforehand": {"signals": [], "patch": {}, "speaks": false},
		"has happened": {"phase": "post", "patch": {}, "speaks": false},
	}
	e := given.request(object.union({"verb": "send", "target": "terraform", "object": "stack", "forced": true}, case.patch))
	doc := given.call({"action": {
		"types": ["network_request"],
		"signals": object.get(case, "signals", ["confirmation_skipped"]),
		"effects": [e],
	}})
	said := spoken.speaks with input as object.union(doc, object.filter(case, ["phase"]))
	spoke := "infrastructure_apply" in said
	case.speaks == spoke
}

test_services_that_have_ended if {
	said := spoken.speaks with input as object.union(_ended({"object": "project"}), {"phase": "post"})
	said & _service_rules == set()
}
