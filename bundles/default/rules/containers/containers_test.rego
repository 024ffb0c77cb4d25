package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

_daemon(case) := given.call({"action": {
	"types": ["system_command"],
	"signals": object.get(case, "signals", ["container_wipe"]),
	"commands": [{"name": "docker", "sub": object.get(case, "sub", ["volume", "rm"]), "flags": object.get(case, "flags", []), "operands": object.get(case, "operands", [])}],
	"effects": [object.union(
		{"kind": "system_call", "verb": "wipe", "object": "volume", "certainty": "exact", "command": 0, "reversibility": "R4"},
		object.get(case, "effect", {}),
	)],
}})

_container_rules := {"container_wipe", "container_prune", "infrastructure_delete", "api_delete"}

test_daemon[name] if {
	some name, case in {
		"a volume": {"operands": ["shop_data"], "fires": {"container_wipe"}},
		"no volume's name": {"effect": {"command": -1}, "fires": {"container_wipe"}},
		"for tests": {"operands": ["shop_e2e"], "fires": set()},
		"a project for tests": {"flags": ["--file=compose.test.yml"], "fires": set()},
		"a name that begins so": {"operands": ["testament_data"], "fires": {"container_wipe"}},
		"production": {"operands": ["shop_prod"], "fires": {"container_wipe", "infrastructure_delete"}},
		"production next to tests": {"operands": ["test", "prod"], "fires": {"container_wipe", "infrastructure_delete"}},
		"pruned": {"effect": {"verb": "prune"}, "fires": {"container_prune"}},
		"pruned in production": {"effect": {"verb": "prune"}, "flags": ["--filter=label=prod"], "fires": {"container_prune", "infrastructure_delete"}},
		"something else": {"effect": {"verb": "stop"}, "fires": set()},
		"something else of production": {"effect": {"verb": "stop"}, "operands": ["shop_prod"], "fires": set()},
		"a program's own": {"effect": {"kind": "process"}, "fires": set()},
		"a program's own, pruned": {"effect": {"kind": "process", "verb": "prune"}, "fires": set()},
		"what is not a volume": {"signals": [], "fires": set()},
		"what is not a volume, of production": {"signals": [], "operands": ["shop_prod"], "fires": set()},
		"what is not a volume, pruned": {"signals": [], "effect": {"verb": "prune"}, "fires": set()},
	}
	ids := firing.ids with input as _daemon(case)
	case.fires == ids & _container_rules
}

_cluster(flags, kind) := given.call({"action": {
	"types": ["network_request"],
	"signals": ["container_wipe", "infrastructure_delete"],
	"commands": [{"name": "kubectl", "sub": ["delete"], "flags": flags, "operands": [kind, "shop"]}],
	"effects": [given.request({"verb": "delete", "target": "kubernetes", "object": kind})],
}})

test_cluster[name] if {
	some name, case in {
		"any": {"flags": [], "kind": "persistentvolumeclaim", "fires": {"api_delete", "container_wipe"}},
		"what holds others": {"flags": [], "kind": "namespace", "fires": {"api_delete", "container_wipe", "infrastructure_delete"}},
		"of this machine": {"flags": ["--context=kind-shop"], "kind": "namespace", "fires": set()},
		"of this machine, for helm": {"flags": ["--kube-context=minikube"], "kind": "namespace", "fires": set()},
		"a name that only begins so": {"flags": ["--context=kindly"], "kind": "namespace", "fires": {"api_delete", "container_wipe", "infrastructure_delete"}},
		"of this machine and another": {"flags": ["--context=kind-shop", "--context=live"], "kind": "namespace", "fires": {"api_delete", "container_wipe", "infrastructure_delete"}},
		"of another cluster": {"flags": ["--context=kind-shop", "--cluster=live"], "kind": "namespace", "fires": {"api_delete", "container_wipe", "infrastructure_delete"}},
		"of a server": {"flags": ["--context=kind-shop", "--server=https://live.example.com"], "kind": "namespace", "fires": {"api_delete", "container_wipe", "infrastructure_delete"}},
		"of this machine, secretly": {"flags": ["--context=kind-shop", "--server-print=false"], "kind": "namespace", "fires": set()},
		"a namespace of that name": {"flags": ["-n=kind-shop"], "kind": "pod", "fires": {"api_delete", "container_wipe"}},
	}
	ids := firing.ids with input as _cluster(case.flags, case.kind)
	case.fires == ids & _container_rules
}

test_what_has_changed[name] if {
	some name, doc in {
		"pruned": _daemon({"effect": {"verb": "prune"}}),
		"of a cluster": _cluster([], "namespace"),
	}
	ids := firing.ids with input as object.union(doc, {"phase": "post"})
	ids & _container_rules == set()
}

test_daemon_that_has_changed if {
	ids := firing.ids with input as object.union(_daemon({"operands": ["shop_prod"]}), {"phase": "post"})
	ids & _container_rules == set()
}
