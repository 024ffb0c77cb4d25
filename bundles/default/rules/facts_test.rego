package reviewer.rules_test

import data.reviewer.given_test as given

# Rules that combine facts of effects, each with inputs for which it fires, and with
# some that differ from those in one fact only.
_facts := {
	"delete_broad": {
		"fires": object.union(
			{location: _deletes({"location": location, "verb": "delete"}) | some location in ["root", "home_root", "ancestor"]},
			{
				"the workspace": _recursive({"location": "self", "verb": "delete"}),
				"the workspace, moved away": _deletes({"location": "self", "verb": "move"}),
				"a system directory": _deletes({"location": "system", "entry": "dir"}),
				"under a system directory": _recursive({"location": "system"}),
				"moved out of the system": _deletes({"location": "system", "verb": "move"}),
				"renamed": _writes({"location": "home_root", "verb": "rename"}),
			},
		),
		"silent": {
			"under the workspace": _recursive({"verb": "delete"}),
			"a file of the system": _deletes({"location": "system", "entry": "file"}),
			"what git takes out of the workspace": _recursive({"location": "self", "verb": "discard"}),
			"the workspace's own owner": _writes({"location": "self", "verb": "chown", "recursive": true}),
			"one permission": _writes({"location": "root", "verb": "chmod"}),
			"written": _writes({"location": "root", "recursive": true}),
			"read": given.action("file_read", [given.effect("file_read", {"location": "root", "recursive": true, "verb": "chmod"})]),
			"has happened": object.union(_deletes({"location": "root"}), {"phase": "post"}),
		},
	},
	"git_data_delete": {
		"fires": {
			"by name": _deletes({"class": "git_data"}),
			"with the folder": _recursive({"repository": true}),
			"renamed": _writes({"class": "git_data", "verb": "rename"}),
			"all hooks": _recursive({"class": "git_hook", "target": "/srv/shop/.git/hooks"}),
			"a lock and all below": _recursive({"class": "git_data", "target": "/srv/shop/.git/x.lock"}),
		},
		"silent": {
			"written": _writes({"class": "git_data"}),
			"a lock": _deletes({"class": "git_data", "target": "/srv/shop/.git/index.lock"}),
			"one hook": _deletes({"class": "git_hook", "target": "/srv/shop/.git/hooks/pre-push"}),
			"hooks that lie elsewhere": _deletes({"class": "git_hook", "target": "/srv/shop/.husky/pre-push"}),
			"has happened": object.union(_deletes({"class": "git_data"}), {"phase": "post"}),
		},
	},
	"persistence": {
		"fires": {
			"a service": _system({"verb": "enable", "persistence": true}),
			"a start-up file": _writes({"class": "startup"}),
			"a hook": _writes({"class": "git_hook"}),
		},
		"silent": {
			"a service for now": _system({"verb": "start"}),
			"deleted": _deletes({"class": "startup"}),
			"has happened": object.union(_writes({"class": "startup"}), {"phase": "post"}),
		},
	},
	"permission_broad": {
		"fires": object.union(
			{mode: _writes({"verb": "chmod", "mode": mode}) | some mode in ["777", "0666", "2755", "u+s", "a+w", "go-r,o=rw", "cap_net_raw+ep", "everyone:f"]},
			{"all below": _writes({"verb": "chmod", "recursive": true, "mode": "everyone:r"})},
		),
		"silent": object.union(
			{mode: _writes({"verb": "chmod", "mode": mode}) | some mode in ["644", "0755", "+x", "+w", "u+w", "g-w", "a-w", "everyone:r"]},
			{
				"no mode": _writes({"verb": "chmod"}),
				"has happened": object.union(_writes({"verb": "chmod", "mode": "777"}), {"phase": "post"}),
			},
		),
	},
	"secret_egress": {
		"fires": {
			"a file": _sends([_secrets({}), _out({})]),
			"settings": _sends([_secrets({"class": "env_file"}), _out({})]),
			"moved": _sends([given.effect("file_delete", {"class": "credential", "verb": "move"}), _out({})]),
			"read where it is sent from": _sends([_secrets({"host": "ssh:web1"}), _out({"verb": "exec", "host": "ssh:web1"})]),
			"a store": given.call({"action": {"signals": ["credential_adjacent", "pipe_to_external"]}}),
			"variables": given.call({"action": {"signals": ["environment_dump", "pipe_to_external"]}}),
		},
		"silent": {
			"an ordinary file": _sends([given.effect("file_read", {}), _out({})]),
			"written": _sends([given.effect("file_write", {"class": "credential"}), _out({})]),
			"fetched": _sends([_secrets({}), given.request({})]),
			"to this machine": _sends([_secrets({}), _out({"loopback": true})]),
			"read over there": _sends([_secrets({"host": "ssh:web1"}), _out({"verb": "exec"})]),
			"variables that stay": given.call({"action": {"signals": ["environment_dump"]}}),
			"variables for this machine": given.call({"action": {"signals": ["environment_dump", "pipe_to_external"], "effects": [_out({"loopback": true})]}}),
			"a store, of which a file is at hand": given.call({"action": {"signals": ["credential_adjacent", "pipe_to_external"], "effects": [given.effect("file_write", {"class": "env_file"})]}}),
			"has happened": object.union(_sends([_secrets({}), _out({})]), {"phase": "post"}),
		},
	},
	"pipe_to_external": {
		"fires": {
			"away": _pipes([_out({})]),
			"nobody knows where": _pipes([]),
			"here and there": _pipes([_out({"loopback": true}), _out({})]),
			"a file of the home directory, to the workspace's own repository": _to_own([given.effect("file_read", {"location": "home"}), _out({})], []),
			"a file that is not known": _to_own([given.effect("file_read", {"certainty": "prefix"}), _out({})], []),
			"variables": _to_own([_out({})], ["environment_dump"]),
			"a store": _to_own([_out({})], ["credential_adjacent"]),
			"that repository and another host": _to_own([_out({}), _out({"target": "drop.example"})], []),
			"to whoever comes": _pipes([_out({"loopback": true}), given.request({"verb": "listen"})]),
		},
		"silent": {
			"to this machine": _pipes([_out({"loopback": true})]),
			"to the workspace's own repository": _to_own([_out({})], []),
			"a file of the workspace": _to_own([given.effect("file_read", {}), _out({})], []),
			"nothing is handed on": _sends([_out({})]),
			"has happened": object.union(_pipes([_out({})]), {"phase": "post"}),
		},
	},
	"publish": {
		"fires": {
			"a package": _sends([_out({"object": "package"})]),
			"withdrawn": _sends([_out({"object": "package", "verb": "delete"})]),
		},
		"silent": {
			"a message": _sends([_out({"object": "message"})]),
			"fetched": _sends([given.request({"object": "package"})]),
			"a release is deleted": _sends([_out({"object": "release", "verb": "delete"})]),
			"has happened": object.union(_sends([_out({"object": "package"})]), {"phase": "post"}),
		},
	},
	"disk_write": {
		"fires": {
			"formatted": _system({"verb": "format"}),
			"wiped": _system({"verb": "wipe"}),
			"what it is brought back from": _system({"verb": "delete", "target": "shadow copies"}),
			"a device": _disk({"target": "/dev/sda"}),
		},
		"silent": {
			"a volume of a service": _system({"verb": "wipe", "object": "volume"}),
			"an account": _system({"verb": "delete", "target": "anna"}),
			"a terminal": _disk({"target": "/dev/tty1"}),
			"an image": _disk({"target": "/srv/shop/disk.img", "location": "inside"}),
			"has happened": object.union(_system({"verb": "format"}), {"phase": "post"}),
		},
	},
	"power_state": {
		"fires": {verb: _system({"verb": verb}) | some verb in ["power", "reboot", "isolate"]},
		"silent": {
			"asleep": _system({"verb": "suspend"}),
			"has happened": object.union(_system({"verb": "reboot"}), {"phase": "post"}),
		},
	},
	"kill_all": {
		"fires": {target: _kills({"target": target}) | some target in ["*", "-1", "1", ".", ".*", "STATUS eq RUNNING"]},
		"silent": {
			"one": _kills({"target": "4711"}),
			"by a name": _kills({"target": "node"}),
			"its own group": _kills({"target": "0"}),
			"stopped": given.call({"action": {"effects": [{"kind": "process", "verb": "stop", "target": "1"}]}}),
			"has happened": object.union(_kills({"target": "*"}), {"phase": "post"}),
		},
	},
	"inbound_listener": {
		"fires": {
			"all addresses": _sends([given.request({"verb": "listen", "target": "0.0.0.0"})]),
			"a folder": _system({"verb": "share"}),
		},
		"silent": {
			"this machine": _sends([given.request({"verb": "listen", "target": "127.0.0.1"})]),
			"a tunnel": _sends([_out({"verb": "listen"})]),
			"a request": _sends([given.request({})]),
			"has happened": object.union(_system({"verb": "share"}), {"phase": "post"}),
		},
	},
}

_writes(patch) := given.action("file_modification", [given.effect("file_write", patch)])

_system(patch) := given.action("system_command", [object.union({"kind": "system_call", "certainty": "exact", "command": 0}, patch)])

_disk(patch) := given.action("system_command", [given.effect("file_write", object.union({"location": "device"}, patch))])

_kills(patch) := given.call({"action": {"effects": [object.union({"kind": "process", "verb": "kill", "certainty": "exact", "command": 0}, patch)]}})

_secrets(patch) := given.effect("file_read", object.union({"verb": "read", "class": "credential"}, patch))

_out(patch) := given.request(object.union({"verb": "send", "egress": true}, patch))

_sends(effects) := given.action("network_request", effects)

_to_own(effects, signals) := given.call({"action": {
	"types": ["network_request"], "effects": effects,
	"signals": array.concat(["own_forge", "pipe_to_external"], signals),
}})

_pipes(effects) := given.call({"action": {"types": ["network_request"], "signals": ["pipe_to_external"], "effects": effects}})
