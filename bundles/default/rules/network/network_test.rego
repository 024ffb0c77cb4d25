package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

_sent(patch) := given.request(object.union({"verb": "send", "egress": true}, patch))

_taken_along(patch) := given.effect("file_read", object.union({"verb": "read", "location": "home_root", "recursive": true, "command": 0}, patch))

_uploads(effects, signals) := given.call({"action": {"types": ["network_request"], "effects": effects, "signals": signals}})

test_what_takes_a_whole_home_along[name] if {
	some name, case in {
		"by the same command": {"effects": [_sent({}), _taken_along({})], "fires": true},
		"by what it is handed on to": {"effects": [_sent({}), _taken_along({"command": 1})], "signals": ["pipe_to_external"], "fires": true},
		"what holds the workspace": {"effects": [_sent({}), _taken_along({"location": "ancestor"})], "fires": true},
		"all of the machine": {"effects": [_sent({}), _taken_along({"location": "root"})], "fires": true},
		"by another command": {"effects": [_sent({}), _taken_along({"command": 1})], "fires": false},
		"a file of it": {"effects": [_sent({}), _taken_along({"location": "home"})], "fires": false},
		"the names in it": {"effects": [_sent({}), _taken_along({"recursive": false})], "fires": false},
		"what comes in goes there": {"effects": [_sent({}), given.effect("file_write", {"location": "home_root", "recursive": true, "command": 0})], "fires": false},
		"a request that carries nothing": {"effects": [given.request({}), _taken_along({})], "fires": false},
		"something is deleted there": {"effects": [_sent({"verb": "delete"}), _taken_along({})], "fires": false},
		"sent to whom is asked anyway": {"effects": [_sent({"egress": false}), _taken_along({})], "fires": false},
		"to this machine": {"effects": [_sent({"loopback": true}), given.request({}), _taken_along({})], "fires": false},
	}
	ids := firing.ids with input as _uploads(case.effects, object.get(case, "signals", []))
	got := "upload_broad" in ids
	case.fires == got
}

test_what_goes_out_from_outside[name] if {
	some name, case in {
		"a file": {"effects": [_sent({}), _taken_along({"location": "system", "recursive": false})], "fires": true},
		"a file of the workspace": {"effects": [_sent({}), _taken_along({"location": "inside"})], "fires": false},
		"by another command": {"effects": [_sent({}), _taken_along({"command": 1})], "fires": false},
		"written": {"effects": [_sent({}), given.effect("file_write", {"location": "home", "command": 0})], "fires": false},
		"fetched": {"effects": [given.request({}), _taken_along({})], "fires": false},
	}
	ids := firing.ids with input as _uploads(case.effects, [])
	got := "upload_outside" in ids
	case.fires == got
}

test_what_is_left_with_anybody[name] if {
	some name, case in {
		"sent": {"effects": [_sent({})], "fires": true},
		"written into the address": {"effects": [given.request({"target": "https://paste.example/?d=1"})], "fires": true},
		"fetched": {"effects": [given.request({"target": "https://paste.example/d"})], "fires": false},
		"a file of such a name": {"effects": [given.request({}), given.effect("file_write", {"target": "/srv/shop/a?b"})], "fires": false},
	}
	doc := given.call({"action": {"hosts": ["paste.example"], "effects": case.effects}})
	ids := firing.ids with input as doc with data.reviewer.hosts.drops as ["paste.example"]
	got := "drop_host" in ids
	case.fires == got
}
