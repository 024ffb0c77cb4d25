package reviewer.effects_test

import data.reviewer.effects

_request(command) := {"phase": "pre", "kinds": ["system_call"], "action": {"commands": [command], "effects": []}}

_holds(name, e) if {
	name == "displaced"
	effects.displaced(e)
} else if {
	name == "ends_process"
	effects.ends_process(e)
} else if {
	name == "ends_service"
	effects.ends_service(e)
} else if {
	name == "found_late"
	effects.found_late(e)
} else if {
	name == "gone"
	effects.gone(e)
} else if {
	name == "in_registry"
	effects.in_registry(e)
} else if {
	name == "loses_data"
	effects.loses_data(e)
} else if {
	name == "near"
	effects.near(e)
} else if {
	name == "of_repository"
	effects.of_repository(e)
} else if {
	name == "reached"
	effects.reached(e)
} else if {
	name == "sends_away"
	effects.sends_away(e)
} else if {
	name == "users_data"
	effects.users_data(e)
} else if {
	name == "wiped"
	effects.wiped(e)
} else if {
	name == "written_here"
	effects.written_here(e)
}

# What each question answers for one effect.
test_of_one_effect[note] if {
	some note, c in {
		"moved": {"displaced": true, "e": {"kind": "file_delete", "verb": "move"}},
		"renamed": {"displaced": true, "gone": true, "e": {"kind": "file_write", "verb": "rename"}},
		"deleted": {"displaced": false, "gone": true, "e": {"kind": "file_delete", "verb": "delete"}},
		"written": {"displaced": false, "gone": false, "written_here": true, "e": {"kind": "file_write", "verb": "write", "ledger": "written"}},
		"moved into": {"written_here": true, "e": {"ledger": "moved_into"}},
		"read by the session": {"written_here": false, "e": {"ledger": "read"}},
		"a process ends": {"ends_process": true, "e": {"kind": "process", "verb": "kill"}},
		"a process starts": {"ends_process": false, "e": {"kind": "process", "verb": "start"}},
		"another kind of end": {"ends_process": false, "e": {"kind": "network", "verb": "kill"}},
		"a service ends something": {"ends_service": true, "e": {"kind": "network", "verb": "delete"}},
		"a service lists": {"ends_service": false, "e": {"kind": "network", "verb": "list"}},
		"no service": {"ends_service": false, "e": {"kind": "file_delete", "verb": "delete"}},
		"unknown": {"found_late": true, "e": {"certainty": "unknown"}},
		"a prefix": {"found_late": true, "e": {"certainty": "prefix"}},
		"exact": {"found_late": false, "e": {"certainty": "exact"}},
		"a key of the registry": {"in_registry": true, "e": {"kind": "system_call", "target": `HKLM\Software`}},
		"a whole hive": {"in_registry": true, "e": {"kind": "system_call", "target": "HKCU"}},
		"a device": {"in_registry": false, "e": {"kind": "system_call", "target": "/dev/sda"}},
		"a file of that name": {"in_registry": false, "e": {"kind": "file_write", "target": `HKLM\Software`}},
		"a table": {"loses_data": true, "e": {"kind": "system_call", "object": "table", "verb": "drop", "target": "postgres:shop", "certainty": "unknown"}},
		"a key of the registry, not a table": {"loses_data": false, "e": {"kind": "system_call", "object": "key", "verb": "delete", "target": `HKLM\Software`}},
		"no object": {"loses_data": false, "e": {"kind": "system_call", "verb": "drop", "target": "x"}},
		"volumes": {"loses_data": false, "wiped": true, "e": {"kind": "system_call", "object": "volume", "verb": "prune", "target": "x"}},
		"stopped containers": {"wiped": false, "e": {"kind": "system_call", "verb": "stop"}},
		"this machine": {"near": true, "e": {"target": "x"}},
		"another host": {"near": false, "e": {"host": "db.example.com"}},
		"a repository": {"of_repository": true, "e": {"object": "repo"}},
		"a branch": {"of_repository": false, "e": {"object": "branch"}},
		"another machine": {"reached": true, "e": {"host": "api.example.com", "target": "https://api.example.com/v1"}},
		"a server here": {"reached": false, "e": {"loopback": true, "target": "http://localhost:3000/orders"}},
		"a store here": {"reached": true, "e": {"loopback": true, "target": "http://localhost:9200/orders"}},
		"sent": {"sends_away": true, "e": {"kind": "network", "egress": true, "verb": "send"}},
		"fetched": {"sends_away": false, "e": {"kind": "network", "egress": true, "verb": "fetch"}},
		"sent to this machine": {"sends_away": false, "e": {"kind": "network", "egress": true, "verb": "send", "loopback": true}},
		"a build": {"users_data": false, "e": {"class": "generated", "short": "./uploads/a.pdf"}},
		"an upload": {"users_data": true, "e": {"short": "./uploads/a.pdf"}},
	}
	every name, expected in object.remove(c, ["e"]) {
		count([1 | _holds(name, c.e)]) == count([1 | expected])
	}
}

# Trusting this machine is a setting.
test_sends_to_this_machine_where_it_is_not_trusted if {
	effects.sends_away({"kind": "network", "egress": true, "verb": "send", "loopback": true}) with data.reviewer.hosts.trust_loopback as false
}

test_hosts_of_the_scope if {
	effects.near({"host": "db.shop.example"}) with data.reviewer.scope.hosts as ["db.shop."]
	not effects.near({"host": "db.example"}) with data.reviewer.scope.hosts as ["db.shop."]
}

test_known_hosts if {
	every host in ["a.example", "x.a.example"] { effects.known_host(host) with data.reviewer.hosts.known as ["a.example"] }
	not effects.known_host("nota.example") with data.reviewer.hosts.known as ["a.example"]
}

# A word is found wherever it stands by itself.
test_marked if {
	every text in ["prod", "db-prod-1", "PROD.example.com", "https://prod/x"] { effects.marked(text, ["prod"]) }
	every text in ["product", "reproduce", ""] { not effects.marked(text, ["prod"]) }
}

# Production may be in the target, or in any word of the command.
test_production if {
	command := {"name": "psql", "sub": [], "flags": ["--env=prod"], "operands": []}
	effects.production({"target": "postgres:shop", "command": 0}) with input as _request(command)
	effects.production({"target": "postgres:shop-prod", "command": -1}) with input as _request(command)
	not effects.production({"target": "postgres:shop", "command": -1}) with input as _request(command)
}

test_lines if {
	command := {"name": "Reg", "sub": ["Delete"], "flags": ["/F"], "operands": ["HKLM"]}
	effects.lines == ["reg delete /f hklm"] with input as _request(command)
	effects.words({"command": 0}) == ["Delete", "/F", "HKLM"] with input as _request(command)
}

test_plain_service if {
	effects.plain_service("system/com.apple.sshd") == "sshd"
	effects.plain_service("gui/501/homebrew.mxcl.redis") == "redis"
	effects.plain_service("nginx") == "nginx"
}

# Lists are searched by their own operands, and by the programs after them.
test_searched if {
	effects.searched == {"-ef", "node", "server.js"} with input as {"action": {"commands": [
		{"name": "ps", "flags": ["-ef"]},
		{"name": "grep", "operands": ["node", "server.js"]},
	]}}
	effects.searched == set() with input as {"action": {"commands": [{"name": "grep", "operands": ["node"]}]}}
}

test_system_verbs if {
	doing := {"phase": "pre", "kinds": ["system_call"], "action": {"effects": [{"kind": "system_call", "verb": "mount"}, {"kind": "process", "verb": "kill"}]}}
	effects.system_verbs == {"mount"} with input as doing
	effects.system_verbs == set() with input as object.union(doing, {"phase": "post"})
}

# What makes a repository lose data: its own files, but neither a lock file nor one hook.
test_loses_repository if {
	every c in [
		[{"kind": "file_delete", "class": "git_data", "target": "/w/.git/objects", "recursive": true, "certainty": "exact"}, 1],
		[{"kind": "file_delete", "class": "git_data", "target": "/w/.git/index.lock", "certainty": "exact"}, 0],
		[{"kind": "file_delete", "class": "git_hook", "target": "/w/.git/hooks/pre-commit", "certainty": "exact"}, 0],
		[{"kind": "file_delete", "class": "git_hook", "target": "/w/.git/hooks", "recursive": true, "certainty": "exact"}, 1],
		[{"kind": "file_write", "class": "git_data", "target": "/w/.git/config", "certainty": "exact"}, 0],
	] {
		count([1 | effects.loses_repository with input as {"action": {"effects": [c[0]]}}]) == c[1]
	}
}

# What the session made is its own, and what is in it if its image is one of the setting databases.images.
_own(e) if {
	effects.made_here(e) with input as {"session": {"made": [
		{"object": "container", "name": "lab", "image": "postgres"},
		{"object": "container", "name": "own", "image": "shop/db"},
	]}}
}

test_made_here if {
	_own({"made": "itself", "verb": "drop"})
	not _own({"made": "itself", "verb": "grant"})
	not _own({"verb": "drop"})
	_own({"made": "inside", "verb": "truncate", "host": "container:lab"})
	not _own({"made": "inside", "verb": "exec", "host": "container:lab"})
	not _own({"made": "inside", "verb": "truncate", "host": "container:own"})
}

_handled(e, flags) if {
	effects.signal_handled(e) with input as {"action": {"commands": [{"name": "pkill", "flags": flags}]}}
}

test_signal_handled if {
	e := {"kind": "process", "verb": "kill", "target": "waybar", "certainty": "exact", "signal": "USR2", "command": 0}
	_handled(e, ["-USR2"])
	_handled(object.union(e, {"signal": "RTMIN+8"}), ["-RTMIN+8"])
	not _handled(e, ["-USR2", "-f"])
	not _handled(object.union(e, {"signal": "TERM"}), [])
	not _handled(object.union(e, {"target": "firefox"}), [])
	not _handled(object.union(e, {"certainty": "prefix"}), [])
	not _handled(object.remove(e, ["signal"]), [])
}

_wiped_for_tests(operands) if {
	effects.wiped_for_tests({"verb": "wipe", "command": 0}) with input as {"action": {"commands": [{"name": "docker", "operands": operands}]}}
}

# Each of several names has to mark a test resource.
test_wiped_for_tests if {
	_wiped_for_tests(["shop-test"])
	_wiped_for_tests(["shop-test", "cart-dev"])
	not _wiped_for_tests(["shop-test", "shop-main"])
	not _wiped_for_tests(["shop-main"])
	not _wiped_for_tests(["prod-test"])
}
