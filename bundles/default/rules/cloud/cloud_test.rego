package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

_ended(patch) := _ended_with([], patch)

_ended_with(flags, patch) := given.call({"action": {
	"types": ["network_request"],
	"commands": [{"name": "cloudctl", "sub": ["disks", "delete"], "operands": ["d1"], "flags": flags}],
	"effects": [given.request(object.union({"verb": "delete", "target": "cloudctl"}, patch))],
}})

_service_rules := {"infrastructure_delete", "api_delete", "service_delete"}

test_services[name] if {
	some name, case in {
		"one thing": {"effect": {"object": "disk"}, "fires": {"api_delete"}},
		"a thing that nobody knows": {"effect": {}, "fires": {"api_delete"}},
		"more goes with it": {"effect": {"object": "project"}, "fires": {"api_delete", "infrastructure_delete"}},
		"all that is in it": {"effect": {"object": "bucket", "recursive": true}, "fires": {"api_delete", "infrastructure_delete"}},
		"all that is in it, removed": {"effect": {"verb": "remove", "object": "bucket", "recursive": true}, "fires": {"api_delete", "infrastructure_delete"}},
		"all that is in it, as it was": {"effect": {"verb": "reset", "object": "bucket", "recursive": true}, "fires": {"api_delete", "infrastructure_delete"}},
		"all that is in it, archived": {"effect": {"verb": "archive", "object": "bucket", "recursive": true}, "fires": {"api_delete"}},
		"more goes with it, removed": {"effect": {"verb": "remove", "object": "project"}, "fires": {"api_delete", "infrastructure_delete"}},
		"more goes with it, as it was": {"effect": {"verb": "reset", "object": "project"}, "fires": {"api_delete", "infrastructure_delete"}},
		"switched off": {"effect": {"verb": "disable", "object": "project"}, "fires": {"api_delete"}},
		"production": {"effect": {"verb": "disable", "target": "https://prod.example.dev/keys/1"}, "fires": {"api_delete", "infrastructure_delete"}},
		"from a host of production": {"effect": {"host": "ssh:prod-web1"}, "fires": {"api_delete", "infrastructure_delete"}},
		"a word that begins so": {"effect": {"target": "https://products.example.dev/items/1"}, "fires": {"api_delete"}},
		"sent": {"effect": {"verb": "send", "object": "project"}, "fires": set()},
		"this machine": {"effect": {"target": "http://localhost:3000/items/1", "loopback": true}, "fires": set()},
		"this machine, where data are": {"effect": {"target": "http://localhost:9200/orders", "loopback": true}, "fires": {"api_delete"}},
		"no scheme": {"effect": {"target": "localhost:9200/orders", "loopback": true}, "fires": {"api_delete"}},
		"a port in the path": {"effect": {"target": "http://localhost/a:9200/orders", "loopback": true}, "fires": set()},
		"another machine's own": {"effect": {"target": "http://localhost/items/1", "loopback": true, "host": "ssh:web1"}, "fires": {"api_delete"}},
		"only words": {"effect": {"kind": "process", "object": "toggle", "target": "flagctl"}, "fires": {"service_delete"}},
		"only words, of this machine": {"effect": {"kind": "process", "object": "remote", "target": "flatpak"}, "fires": set()},
		"only words, removed": {"effect": {"kind": "process", "verb": "remove", "object": "toggle", "target": "flagctl"}, "fires": set()},
		"only words, of rows": {"effect": {"kind": "process", "object": "rows", "target": "flagctl"}, "fires": set()},
		"a container": {"effect": {"kind": "process", "target": "web"}, "fires": set()},
	}
	ids := firing.ids with input as _ended(case.effect)
	case.fires == ids & _service_rules
}

# A context's name says where a cluster is, and nothing about other services.
test_contexts[name] if {
	some name, case in {
		"a cluster": {"target": "kubernetes", "fires": set()},
		"a service": {"target": "cloudctl", "fires": {"api_delete"}},
	}
	ids := firing.ids with input as _ended_with(["--context=kind-shop"], {"target": case.target})
	case.fires == ids & _service_rules
}

test_services_by_the_type_of_the_action if {
	ids := firing.ids with input as object.union(_ended({"object": "project"}), {"action": {"types": ["file_read"]}})
	ids & _service_rules == set()
}

test_words_that_have_been_said if {
	doc := _ended({"kind": "process", "object": "toggle", "target": "flagctl"})
	ids := firing.ids with input as object.union(doc, {"phase": "post"})
	ids & _service_rules == set()
}

test_unseen_changes[name] if {
	some name, case in {
		"of a stack": {"patch": {}, "fires": true},
		"a person is asked": {"patch": {"forced": false}, "fires": false},
		"of one thing": {"patch": {"object": "record"}, "fires": false},
		"the stack ends": {"patch": {"verb": "delete"}, "fires": false},
		"by a program": {"patch": {"kind": "process"}, "fires": false},
		"nothing was agreed to beforehand": {"signals": [], "patch": {}, "fires": false},
		"has happened": {"phase": "post", "patch": {}, "fires": false},
	}
	e := given.request(object.union({"verb": "send", "target": "terraform", "object": "stack", "forced": true}, case.patch))
	doc := given.call({"action": {
		"types": ["network_request"],
		"signals": object.get(case, "signals", ["confirmation_skipped"]),
		"effects": [e],
	}})
	ids := firing.ids with input as object.union(doc, object.filter(case, ["phase"]))
	got := "infrastructure_apply" in ids
	case.fires == got
}

test_services_that_have_ended if {
	ids := firing.ids with input as object.union(_ended({"object": "project"}), {"phase": "post"})
	ids & _service_rules == set()
}
