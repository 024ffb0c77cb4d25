package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

_sent(patch) := given.request(object.union({"verb": "send", "egress": true}, patch))

_taken_along(patch) := given.effect("file_read", object.union({"verb": "read", "location": "home_root", "recursive": true, "command": 0}, patch))

_uploads(effects, signals) := given.call({"action": {"types": ["network_request"], "effects": effects, "signals": signals}})

test_what_takes_a_whole_home_along[name] if {
	some name, case in {
		"by the same command": {"effects": [_sent({}), _taken_along({})], "speaks": true},
		"by what it is handed on to": {"effects": [_sent({}), _taken_along({"command": 1})], "signals": ["pipe_to_external"], "speaks": true},
		"what holds the workspace": {"effects": [_sent({}), _taken_along({"location": "ancestor"})], "speaks": true},
		"all of the machine": {"effects": [_sent({}), _taken_along({"location": "root"})], "speaks": true},
		"by another command": {"effects": [_sent({}), _taken_along({"command": 1})], "speaks": false},
		"a file of it": {"effects": [_sent({}), _taken_along({"location": "home"})], "speaks": false},
		"the names in it": {"effects": [_sent({}), _taken_along({"recursive": false})], "speaks": false},
		"what comes in goes there": {"effects": [_sent({}), given.effect("file_write", {"location": "home_root", "recursive": true, "command": 0})], "speaks": false},
		"a request that carries nothing": {"effects": [given.request({}), _taken_along({})], "speaks": false},
		"something is deleted there": {"effects": [_sent({"verb": "delete"}), _taken_along({})], "speaks": false},
		"sent to whom is asked anyway": {"effects": [_sent({"egress": false}), _taken_along({})], "speaks": false},
		"to this machine": {"effects": [_sent({"loopback": true}), given.request({}), _taken_along({})], "speaks": false},
	}
	said := spoken.speaks with input as _uploads(case.effects, object.get(case, "signals", []))
	spoke := "upload_broad" in said
	case.speaks == spoke
}

test_what_goes_out_from_outside[name] if {
	some name, case in {
		"a file": {"effects": [_sent({}), _taken_along({"location": "system", "recursive": false})], "speaks": true},
		"a file of the workspace": {"effects": [_sent({}), _taken_along({"location": "inside"})], "speaks": false},
		"by another command": {"effects": [_sent({}), _taken_along({"command": 1})], "speaks": false},
		"written": {"effects": [_sent({}), given.effect("file_write", {"location": "home", "command": 0})], "speaks": false},
		"fetched": {"effects": [given.request({}), _taken_along({})], "speaks": false},
	}
	said := spoken.speaks with input as _uploads(case.effects, [])
	spoke := "upload_outside" in said
	case.speaks == spoke
}

test_what_is_left_with_anybody[name] if {
	some name, case in {
		"sent": {"effects": [_sent({})], "speaks": true},
		"written into the address": {"effects": [given.request({"target": "https://paste.example/?d=1"})], "speaks": true},
		"fetched": {"effects": [given.request({"target": "https://paste.example/d"})], "speaks": false},
		"a file of such a name": {"effects": [given.request({}), given.effect("file_write", {"target": "/srv/shop/a?b"})], "speaks": false},
	}
	doc := given.call({"action": {"hosts": ["paste.example"], "effects": case.effects}})
	said := spoken.speaks with input as doc with data.reviewer.hosts.drops as ["paste.example"]
	spoke := "drop_host" in said
	case.speaks == spoke
}
