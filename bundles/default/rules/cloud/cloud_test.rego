package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

_ended(patch) := given.call({"action": {
	"types": ["network_request"],
	"commands": [{"name": "cloudctl", "sub": ["disks", "delete"], "operands": ["d1"], "flags": []}],
	"effects": [given.request(object.union({"verb": "delete", "target": "cloudctl"}, patch))],
}})

_service_rules := {"infrastructure_delete", "api_delete", "service_delete"}

test_services[name] if {
	some name, case in {
		"one thing": {"effect": {"object": "disk"}, "speaks": {"api_delete"}},
		"a thing that nobody knows": {"effect": {}, "speaks": {"api_delete"}},
		"more goes with it": {"effect": {"object": "project"}, "speaks": {"api_delete", "infrastructure_delete"}},
		"all that is in it": {"effect": {"object": "bucket", "recursive": true}, "speaks": {"api_delete", "infrastructure_delete"}},
		"switched off": {"effect": {"verb": "disable", "object": "project"}, "speaks": {"api_delete"}},
		"production": {"effect": {"verb": "disable", "target": "https://prod.example.dev/keys/1"}, "speaks": {"api_delete", "infrastructure_delete"}},
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
		"a container": {"effect": {"kind": "process", "target": "web"}, "speaks": set()},
	}
	said := spoken.speaks with input as _ended(case.effect)
	case.speaks == said & _service_rules
}

test_services_that_have_ended if {
	said := spoken.speaks with input as object.union(_ended({"object": "project"}), {"phase": "post"})
	said & _service_rules == set()
}
