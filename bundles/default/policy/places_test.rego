package reviewer.places_test

import data.reviewer.scores

_file(patch) := object.union(
	{
		"kind": "file_write", "verb": "create", "certainty": "exact", "command": -1, "exists": "no",
		"short": "/srv/kantine/a.py", "target": "/srv/kantine/a.py", "location": "outside", "mentioned": "/srv/kantine",
	},
	patch,
)

_document(patch) := object.union(
	object.remove(_file({"short": "~/Documents/a.md", "target": "/home/anna/Documents/a.md", "location": "home", "area": "data", "document": true}), ["mentioned"]),
	patch,
)

_setting(patch) := object.union(
	_file({
		"short": "~/.config/kitty/kitty.conf", "target": "/home/anna/.config/kitty/kitty.conf", "location": "home",
		"mentioned": "~/.config/kitty", "shown": true,
	}),
	patch,
)

test_open_place[name] if {
	some name, case in {
		"a new file of a project": {"effect": _file({}), "open": true},
		"an edit in it": {"effect": _file({"verb": "edit", "exists": "yes", "entry": "file"}), "open": true},
		"content that version control has": {"effect": _file({"verb": "write", "exists": "yes", "entry": "file", "git": "clean"}), "open": true},
		"all of a file is replaced": {"effect": _file({"verb": "write", "exists": "yes", "entry": "file"}), "open": false},
		"unknown whether it exists": {"effect": object.remove(_file({}), ["exists"]), "open": false},
		"not named": {"effect": object.remove(_file({}), ["mentioned"]), "open": false},
		"the folder of that name is in another repository": {"effect": _file({"checkout": "/srv"}), "open": false},
		"its own repository": {"effect": _file({"checkout": "/srv/kantine"}), "open": true},
		"secrets": {"effect": _file({"class": "env_file"}), "open": false},
		"something hidden": {"effect": _file({"short": "/srv/kantine/.vscode/a.json"}), "open": false},
		"another machine": {"effect": _file({"host": "ssh:kantine"}), "open": false},
		"a pattern": {"effect": _file({"certainty": "glob"}), "open": false},
		"with a mode": {"effect": _file({"mode": "0755"}), "open": false},
		"as root": {"effect": _file({"privileged": true}), "open": false},
		"part of a secret": {"effect": _file({"secret": true}), "open": false},
		"a document": {"effect": _document({}), "open": true},
		"a document of somebody else": {"effect": _document({"short": "/home/lena/Documents/a.md"}), "open": false},
		"no document": {"effect": object.remove(_document({}), ["document"]), "open": false},
		"a document in a repository": {"effect": _document({"checkout": "~/Documents"}), "open": false},
		"a setting": {"effect": _setting({}), "open": true},
		"a setting that is not shown": {"effect": object.remove(_setting({}), ["shown"]), "open": false},
		"a setting of a start-up file": {"effect": _setting({"class": "startup"}), "open": false},
		"a place below the named one of another program": {"effect": _setting({"mentioned": "~/.config/kitty/themes/night"}), "open": false},
	}
	doc := {"action": {"effects": [case.effect], "commands": []}, "facts": [], "phase": "pre"}
	got := count([true | scores.open_place(case.effect)]) with input as doc
	{true: 1, false: 0}[case.open] == got
}

test_not_shown_where_part_is_not_understood if {
	doc := {"action": {"effects": [_setting({})], "commands": []}, "facts": ["not_understood"], "phase": "pre"}
	not scores.open_place(_setting({})) with input as doc
}

test_disposable if {
	place := object.remove(_file({}), ["mentioned"])
	doc := {"action": {"effects": [place], "commands": []}, "facts": [], "phase": "pre"}
	scores.open_place(place) with input as doc with data.reviewer.workspace.disposable as true
}
