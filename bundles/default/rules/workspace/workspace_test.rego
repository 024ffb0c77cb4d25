package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

_write_to(patch) := given.call({"action": {"types": ["file_modification"], "paths": [patch.short], "effects": [given.effect("file_write", patch)]}})

_workspace(patch) := object.union(
	{"enforce": "writes", "outside": "ask", "allowed": [], "denied": ["~/.ssh"]},
	patch,
)

_home := {"short": "~/notes.txt", "target": "/home/anna/notes.txt", "location": "home"}

test_workspace[name] if {
	some name, case in {
		"inside": {"effect": {}, "settings": {}, "fires": set()},
		"in the home directory": {"effect": _home, "settings": {}, "fires": {"workspace_outside"}},
		"closed": {"effect": _home, "settings": {"outside": "block"}, "fires": {"workspace_closed"}},
		"off": {"effect": _home, "settings": {"enforce": "off"}, "fires": set()},
		"allowed": {"effect": _home, "settings": {"allowed": ["~/notes.txt"]}, "fires": set()},
		"allowed in full": {"effect": _home, "settings": {"allowed": ["/home/anna/"]}, "fires": set()},
		"a name that begins so": {"effect": _home, "settings": {"allowed": ["~/notes"]}, "fires": {"workspace_outside"}},
		"allowed, but not known whole": {
			"effect": object.union(_home, {"certainty": "prefix"}), "settings": {"allowed": ["~"]}, "fires": {"workspace_outside"},
		},
		"denied": {"effect": {"short": "~/.ssh/config", "target": "/home/anna/.ssh/config", "location": "home"}, "settings": {}, "fires": {"workspace_denied", "workspace_outside"}},
		"denied, inside": {"effect": {"short": "./secret/a"}, "settings": {"denied": ["./secret"]}, "fires": {"workspace_denied"}},
		"a read": {"effect": object.union(_home, {"kind": "file_read"}), "settings": {}, "fires": set()},
		"a read, all checked": {"effect": object.union(_home, {"kind": "file_read"}), "settings": {"enforce": "all"}, "fires": {"workspace_outside"}},
		"a write, all checked": {"effect": _home, "settings": {"enforce": "all"}, "fires": {"workspace_outside"}},
		"a program, all checked": {"effect": {"kind": "process", "short": "~/.ssh/run", "location": "home"}, "settings": {"enforce": "all"}, "fires": set()},
		"a deletion": {"effect": object.union(_home, {"kind": "file_delete"}), "settings": {}, "fires": {"delete_outside_scope"}},
		"what holds a denied place": {
			"effect": {"kind": "file_write", "short": "~", "target": "/home/anna", "location": "home_root", "recursive": true}, "settings": {},
			"fires": {"workspace_denied", "workspace_outside"},
		},
		"the folder that holds it, and not what is in there": {"effect": {"short": "~", "target": "/home/anna", "location": "home_root"}, "settings": {}, "fires": {"workspace_outside"}},
		"a search that passes by a denied place": {
			"effect": {"kind": "file_read", "short": "~", "target": "/home/anna", "location": "home_root", "recursive": true}, "settings": {"enforce": "all"},
			"fires": {"workspace_outside"},
		},
		"everything": {
			"effect": {"kind": "file_write", "short": "/", "target": "/", "location": "root", "recursive": true}, "settings": {"denied": ["/srv/keys"]},
			"fires": {"workspace_denied", "workspace_outside"},
		},
		"somewhere below what holds the workspace": {
			"effect": {"short": "~/?", "target": "/home/anna", "location": "unknown", "certainty": "prefix"}, "settings": {}, "fires": {"workspace_outside"},
		},
		"nobody knows where": {"effect": {"short": "", "target": "", "location": "unknown", "certainty": "unknown"}, "settings": {}, "fires": set()},
		"nobody knows where, and all below": {
			"effect": {"short": "", "target": "", "location": "unknown", "certainty": "unknown", "recursive": true}, "settings": {"denied": ["/srv/keys"]},
			"fires": set(),
		},
		"a device": {"effect": {"short": "/dev/tty", "location": "device"}, "settings": {}, "fires": set()},
	}
	patch := object.union({"short": "./a.txt"}, case.effect)
	got := firing.ids with input as _write_to(patch) with data.reviewer.workspace as _workspace(case.settings)
	got == case.fires
}

# A project may be about parts of its workspace only.
test_scope_left_out[name] if {
	some name, case in {
		"in it": {"effect": {"short": "./src/a.txt"}, "fires": 0},
		"elsewhere": {"effect": {"short": "./ops/a.txt"}, "fires": 1},
		"a name that begins so": {"effect": {"short": "./srcs/a.txt"}, "fires": 1},
		"what holds it": {"effect": {"short": ".", "location": "self", "kind": "file_delete", "recursive": true}, "fires": 1},
		"a read": {"effect": {"short": "./ops/a.txt", "kind": "file_read"}, "fires": 0},
		"named by a person": {"effect": {"short": "./ops/a.txt", "named": true}, "fires": 0},
		"built": {"effect": {"short": "./dist/a.js", "class": "generated"}, "fires": 0},
		"a commit": {"effect": {"short": "./.git/index", "class": "git_data"}, "fires": 0},
		"a hook of git": {"effect": {"short": "./.git/hooks/pre-commit", "class": "git_hook"}, "fires": 1},
		"a scratch file": {"effect": {"short": "/tmp/a.txt", "location": "temp"}, "fires": 0},
	}
	doc := _write_to(object.union({"location": "inside"}, case.effect))
	got := firing.ids with input as doc with data.reviewer.scope.paths as ["./src", "./docs"]
	case.fires == count({"scope_left_out"} & got)
	none := firing.ids with input as doc with data.reviewer.scope.paths as ["."]
	not "scope_left_out" in none
	after := firing.ids with input as object.union(doc, {"phase": "post"}) with data.reviewer.scope.paths as ["./src"]
	not "scope_left_out" in after
}

# What has already happened cannot be prevented.
test_workspace_after_the_call[outside] if {
	some outside in ["ask", "block"]
	effect := {"short": "~/.ssh/config", "target": "/home/anna/.ssh/config", "location": "home"}
	got := firing.ids with input as object.union(_write_to(effect), {"phase": "post"})
		with data.reviewer.workspace as _workspace({"outside": outside})
	got == set()
}

# An effect may come without its full path, or without its short form.
test_workspace_spellings[field] if {
	some field in ["short", "target"]
	effect := json.remove(given.effect("file_write", {"short": "~/.ssh/config", "target": "/home/anna/.ssh/config", "location": "home"}), [field])
	got := firing.ids with input as given.call({"action": {"types": ["file_modification"], "paths": ["x"], "effects": [effect]}})
		with data.reviewer.workspace as _workspace({"denied": ["~/.ssh", "/home/anna/.ssh"]})
	"workspace_denied" in got
}

test_workspace_unknown if {
	doc := object.union(_write_to(_home), {"session": {"workspace": ""}})
	not "workspace_outside" in firing.ids with input as doc
}

test_delete_untracked[name] if {
	some name, case in {
		"untracked": {"patch": {"git": "untracked"}, "fires": 1},
		"no repository": {"patch": {}, "fires": 1},
		"tracked": {"patch": {"git": "clean"}, "fires": 0},
		"ignored": {"patch": {"git": "ignored"}, "fires": 0},
		"all of the workspace": {"patch": {"git": "untracked", "location": "self", "certainty": "glob"}, "fires": 1},
		"made here": {"patch": {"git": "untracked", "ledger": "created"}, "fires": 0},
		"not there": {"patch": {"exists": "no"}, "fires": 0},
		"a folder": {"patch": {"entry": "dir"}, "fires": 0},
		"into the trash": {"patch": {"verb": "trash"}, "fires": 0},
		"a scratch file": {"patch": {"location": "temp"}, "fires": 0},
	}
	effect := given.effect("file_delete", object.union({"verb": "delete", "exists": "yes", "entry": "file"}, case.patch))
	got := firing.ids with input as given.action("file_deletion", [effect])
	case.fires == count({"delete_untracked"} & got)
}

test_package_sources[name] if {
	some name, case in {
		"unknown": {"operand": "https://example.com/a.tgz", "flags": [], "known": [], "fires": 1},
		"a known host": {"operand": "https://git.example.com/a.tgz", "flags": [], "known": ["example.com"], "fires": 0},
		"a known address": {"operand": "git+https://example.com/shop/a.git", "flags": [], "known": ["git+https://example.com/shop/"], "fires": 0},
		"a name that ends so": {"operand": "https://badexample.com/a.tgz", "flags": [], "known": ["example.com"], "fires": 1},
		"another index too": {"operand": "https://example.com/a.tgz", "flags": ["--registry=https://else.example.org"], "known": ["example.com"], "fires": 1},
		"without its scripts": {"operand": "https://example.com/a.tgz", "flags": ["--ignore-scripts"], "known": [], "fires": 0},
	}
	doc := given.call({"action": {
		"types": ["network_request"], "signals": ["package_install_url"], "hosts": ["example.com"], "effects": [given.request({"command": 0})],
		"commands": [{"name": "npm", "sub": ["install"], "flags": case.flags, "operands": [case.operand]}],
	}})
	got := firing.ids with input as doc with data.reviewer.packages.sources as case.known
	case.fires == count({"package_install_url"} & got)
}

# If scripts run in spite of the flag, the flag means nothing.
test_scripts_in_spite_of_the_flag if {
	doc := given.call({"action": {
		"types": ["network_request"], "signals": ["package_install_url"],
		"effects": [given.request({"command": 0}), given.effect("process", {"command": 0})],
		"commands": [{"name": "npm", "sub": ["install"], "flags": ["--ignore-scripts", "--no-ignore-scripts"], "operands": ["https://example.com/a.tgz"]}],
	}})
	"package_install_url" in firing.ids with input as doc
}
