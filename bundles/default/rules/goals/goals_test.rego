# METADATA
# title: What people said, held to
# description: Each rule and each of its helpers, with inputs for which it fires, and for which it does not.
# scope: package
package reviewer.goals_test

import data.reviewer.firing
import data.reviewer.given_test as given
import data.reviewer.said

_restrained(kind, effect) := given.call({
	"goal": {"known": true, "statements": [_statement(kind)]},
	"action": {"effects": [effect]},
})

_statement("leave") := object.union(_held("change"), {"objects": ["x"]})

_statement("no_delete") := _held("delete")

_statement("read_only") := _held("change")

_statement("freeze") := _held("freeze")

_statement("plan_only") := _held("wait")

_held(act) := {"kind": "forbids", "act": act, "prompt": 1, "touched": true, "changes": true, "beyond": false, "later": []}

_write := given.effect("file_write", {})

_delete := given.effect("file_delete", {})

_push := given.request({"egress": true, "verb": "send", "target": "origin", "reversibility": "R5"})

_gone := {"kind": "system_call", "verb": "wipe", "object": "volume", "target": "x", "certainty": "exact", "reversibility": "R4", "command": 0}

_said(doc) := {id | some id in firing.ids with input as doc; startswith(id, "goal_")}

_kinds := {"leave", "no_delete", "read_only", "freeze", "plan_only"}

# The answer of each kind of constraint to each kind of effect.
test_effects[name] if {
	some kind in _kinds
	some what, case in {
		"a write": {"effect": _write, "fires": {"leave", "read_only", "plan_only"}},
		"a deletion": {"effect": _delete, "fires": {"leave", "no_delete", "read_only", "plan_only"}},
		"a push": {"effect": _push, "fires": {"leave", "read_only", "plan_only", "freeze"}},
		"a push to this machine": {"effect": object.union(_push, {"loopback": true}), "fires": {"leave"}},
		"a download": {"effect": given.request({}), "fires": {"leave"}},
		"a volume of this machine": {"effect": _gone, "fires": {"leave", "no_delete", "read_only", "plan_only"}},
		"a table": {
			"effect": {"kind": "system_call", "verb": "drop", "object": "table", "target": "postgres:///shop", "certainty": "exact", "reversibility": "R5", "command": 0},
			"fires": {"leave", "no_delete", "read_only", "plan_only", "freeze"},
		},
		"a resource at a service": {
			"effect": given.request({"egress": true, "verb": "delete", "reversibility": "R5"}),
			"fires": {"leave", "no_delete", "read_only", "plan_only", "freeze"},
		},
		"something that can be switched on again": {
			"effect": {"kind": "system_call", "verb": "stop", "target": "x", "certainty": "exact", "command": 0},
			"fires": {"leave", "read_only", "plan_only"},
		},
		"a program": {"effect": {"kind": "process", "verb": "exec", "target": "x", "certainty": "exact", "command": 0}, "fires": {"leave"}},
		"a temporary file": {"effect": object.union(_delete, {"location": "temp", "short": "/tmp/a"}), "fires": {"leave"}},
		"nothing": {"effect": object.union(_write, {"location": "null", "short": "/dev/null"}), "fires": {"leave"}},
		"what the session made": {"effect": object.union(_delete, {"ledger": "created"}), "fires": {"leave"}},
		"what the session wrote": {"effect": object.union(_delete, {"ledger": "written"}), "fires": {"leave", "no_delete", "read_only", "plan_only"}},
		"a plan of the agent's": {"effect": object.union(_write, {"location": "home", "short": "~/.claude/plans/a.md"}), "fires": {"leave"}},
		"a place that begins so": {
			"effect": object.union(_write, {"location": "home", "short": "~/.claude/plans-x/a.md"}),
			"fires": {"leave", "read_only", "plan_only"},
		},
	}
	name := concat(": ", [kind, what])
	_said(_restrained(kind, case.effect)) == {"goal_forbidden" | kind in case.fires}
}

# Whatever the effect is, a constraint that has nothing to do with it is silent,
# and so is one when the call is over.
test_silent[name] if {
	some kind in {"leave", "no_delete", "read_only"}
	some what, doc in {
		"not touched": given.call({
			"goal": {"known": true, "statements": [object.union(_statement(kind), {"touched": false, "changes": false})]},
			"action": {"effects": [_delete, _push, _gone]},
		}),
		"over": object.union(_restrained(kind, _delete), {"phase": "post"}),
		"none": given.call({"action": {"effects": [_delete, _push, _gone]}}),
	}
	name := concat(": ", [kind, what])
	_said(doc) == set()
}

# What a person said, and calls that break it or do not.
_saying(act, patch, action) := _said(given.call({
	"goal": {"known": true, "statements": [object.union(_held(act), patch)]},
	"action": action,
}))

_runs(name, words) := _does({"kind": "process", "verb": "exec", "target": name}, name, words)

_does(effect, name, words) := {
	"commands": [object.union({"name": name}, words)],
	"effects": [object.union({"certainty": "exact", "command": 0}, effect)],
}

_push_tried := {"facts": [], "commands": [{"name": "git", "sub": ["push"], "flags": ["--dry-run"]}], "effects": []}

_commit := _runs("git", {"sub": ["commit"], "flags": ["-m=x"]})

_push_main := _runs("git", {"sub": ["push"], "operands": ["origin", "main"]})

_push_bare := _runs("git", {"sub": ["push"]})

test_acts[name] if {
	some name, case in {
		"a commit": {"got": _saying("commit", {}, _commit), "want": {"goal_forbidden"}},
		"another act": {"got": _saying("push", {}, _commit), "want": set()},
		"waiting": {"got": _saying("wait", {}, _commit), "want": {"goal_forbidden"}},
		"asked first": {"got": _saying("commit", {"until": "asked"}, _commit), "want": {"goal_ask_first"}},
		"until I say so": {"got": _saying("commit", {"until": "said"}, _commit), "want": {"goal_forbidden"}},
		"until something": {"got": _saying("commit", {"until": "other"}, _commit), "want": {"goal_ask_first"}},
		"the branch": {"got": _saying("push", {"objects": ["main"], "touched": true}, _push_main), "want": {"goal_forbidden"}},
		"another branch": {"got": _saying("push", {"objects": ["dev"], "touched": false}, _push_main), "want": set()},
		"perhaps the branch": {"got": _saying("push", {"objects": ["main"], "touched": false}, _push_bare), "want": {"goal_ask_first"}},
		"a word for the place": {
			"got": _saying("deploy", {"objects": ["production"], "touched": false}, _runs("vercel", {"flags": ["--prod"]})),
			"want": {"goal_forbidden"},
		},
		"a signal": {"got": _saying("privilege", {}, {"signals": ["privilege_elevation"]}), "want": {"goal_forbidden"}},
		"an effect": {"got": _saying("process", {}, {"effects": [{"kind": "process", "verb": "kill", "target": "1", "command": 0}]}), "want": {"goal_forbidden"}},
		"a word": {"got": _saying("migrate", {}, _runs("make", {"operands": ["migrate"]})), "want": {"goal_forbidden"}},
		"a word that is read": {"got": _saying("migrate", {}, _does({"kind": "file_read", "target": "migrate"}, "cat", {"operands": ["migrate"]})), "want": set()},
		"a word that is made": {"got": _saying("deploy", {}, _does({"kind": "file_write", "target": "deploy"}, "mkdir", {"operands": ["deploy"]})), "want": set()},
		"a branch of that name": {"got": _saying("deploy", {}, _runs("git", {"sub": ["checkout"], "operands": ["deploy"]})), "want": set()},
		"an option of git": {"got": _saying("skip_checks", {}, _runs("git", {"sub": ["rebase"], "flags": ["--no-verify"]})), "want": {"goal_forbidden"}},
		"a dry run": {"got": _saying("push", {}, _push_tried), "want": set()},
		"a state that is asked for": {
			"got": _saying("deploy", {}, _does({"kind": "network", "verb": "fetch"}, "kubectl", {"sub": ["rollout"], "operands": ["status"]})),
			"want": set(),
		},
		"copied here": {"got": _saying("deploy", {}, _does({"kind": "file_write"}, "rsync", {"operands": ["a", "b"]})), "want": set()},
		"copied elsewhere": {
			"got": _saying("deploy", {}, _does({"kind": "network", "verb": "send", "egress": true}, "rsync", {"operands": ["a", "web:b"]})),
			"want": {"goal_forbidden"},
		},
		"operands needed": {"got": _saying("branch", {}, _runs("git", {"sub": ["branch"]})), "want": set()},
		"operands there": {"got": _saying("branch", {}, _runs("git", {"sub": ["branch"], "operands": ["x"]})), "want": {"goal_forbidden"}},
		"tests": {"got": _saying("run", {"objects": ["tests"], "touched": false}, object.union(_runs("npm", {"sub": ["test"]}), {"check": true})), "want": {"goal_forbidden"}},
		"elsewhere": {"got": _saying("only_in", {"objects": ["src/"], "beyond": true}, {"effects": [_write]}), "want": {"goal_forbidden"}},
		"there": {"got": _saying("only_in", {"objects": ["src/"], "beyond": false}, {"effects": [_write]}), "want": set()},
	}
	case.got == case.want
}

# Later words: an order, a permission, work, and other words that revoke nothing.
_after(statements) := given.call({"goal": {"known": true, "statements": statements}, "action": _commit})

_order(patch) := object.union_n([_held("commit"), {"kind": "orders", "prompt": 2}, patch])

test_later_words[name] if {
	some name, case in {
		"an order": {"said": [_held("commit"), _order({})], "fires": false},
		"an order before": {"said": [object.union(_held("commit"), {"prompt": 3}), _order({})], "fires": true},
		"of another act": {"said": [_held("commit"), _order({"act": "push"})], "fires": true},
		"for something else": {"said": [_held("commit"), _order({"objects": ["a"], "touched": false})], "fires": true},
		"after an order to wait": {"said": [_held("wait"), _order({})], "fires": false},
		"after asking": {"said": [object.union(_held("commit"), {"until": "asked"}), _order({"kind": "permits"})], "fires": false},
	}
	fires := {id | some id in _said(_after(case.said))}
	count(fires) == {true: 1, false: 0}[case.fires]
}

# A permission that counts once is used up, and one for something that is named is not where the act can hardly be done twice.
test_uses[name] if {
	some name, case in {
		"an order": {"said": _order({}), "uses": {"commit"}},
		"for the session": {"said": _order({"until": "session"}), "uses": set()},
		"another act": {"said": _order({"act": "push"}), "uses": set()},
	}
	uses := said.uses with input as _after([case.said])
	uses == case.uses
}

# An order answers the rules of its act, for what it names and nothing else.
test_answers[name] if {
	some name, case in {
		"its process": {"said": {"act": "process", "objects": ["4711"]}, "rule": {"id": "processes_found"}, "target": "4711", "want": true},
		"another process": {"said": {"act": "process", "objects": ["4711"]}, "rule": {"id": "processes_found"}, "target": "4712", "want": false},
		"nothing named": {"said": {"act": "process"}, "rule": {"id": "processes_found"}, "target": "4711", "want": false},
		"something else too": {"said": {"act": "process", "objects": ["4711"], "beyond": true}, "rule": {"id": "processes_found"}, "target": "4711", "want": false},
		"not its rule": {"said": {"act": "process", "objects": ["4711"]}, "rule": {"id": "kill_all"}, "target": "4711", "want": false},
		"a firm rule": {"said": {"act": "process", "objects": ["4711"]}, "rule": {"id": "processes_found", "firm": true}, "target": "4711", "want": false},
		"a process ID with its word": {"said": {"act": "process", "objects": ["pid 4711"]}, "rule": {"id": "processes_found"}, "target": "4711", "want": true},
		"a check left out": {"said": {"act": "skip_checks"}, "rule": {"id": "git_no_verify"}, "target": "4711", "want": true},
	}
	doc := given.call({
		"goal": {"known": true, "statements": [object.union_n([_held("x"), {"kind": "orders"}, case.said])]},
		"action": {"effects": [{"kind": "process", "verb": "kill", "target": case.target, "certainty": "exact", "command": 0}]},
	})
	rule := object.union({"firm": false}, case.rule)
	answered := {true | said.answers(rule) with input as doc}
	count(answered) == {true: 1, false: 0}[case.want]
}

test_work_revokes[name] if {
	some name, case in {
		"work": {"patch": {"later": ["fix"]}, "fires": false},
		"a question": {"patch": {"later": ["read"]}, "fires": true},
		"never": {"patch": {"later": ["fix"], "never": true}, "fires": true},
		"something named": {"patch": {"later": ["fix"], "objects": ["a"]}, "fires": true},
	}
	count(_saying("change", case.patch, {"effects": [_write]})) == {true: 1, false: 0}[case.fires]
}

test_quotes if {
	doc := given.call({
		"goal": {"known": true, "statements": [object.union(_held("commit"), {"text": "Don't commit.", "prompt": 3})]},
		"action": object.union(_commit, {"resource": "git commit"}),
	})
	texts := data.reviewer.reasons.all with input as doc
	some text in texts
	contains(text, `You said: "Don't commit." (prompt 3), and this would commit: git commit`)
}

_asked(intents, signals, patch) := given.call(object.union(
	{"goal": {"known": true, "intents": intents}, "action": {"signals": signals, "effects": [_gone]}},
	patch,
))

test_disproportion[name] if {
	some name, case in {
		"a question": {"doc": _asked(["explain"], ["infrastructure_delete"], {}), "fires": true},
		"each of them harmless": {"doc": _asked(["fix", "read", "test"], ["git_clean", "publish"], {}), "fires": true},
		"one is not": {"doc": _asked(["clean", "read"], ["infrastructure_delete"], {}), "fires": false},
		"nothing was asked": {"doc": _asked([], ["infrastructure_delete"], {}), "fires": false},
		"nothing is known": {"doc": _asked(["read"], ["infrastructure_delete"], {"goal": {"known": false}}), "fires": false},
		"no such thing": {"doc": _asked(["read"], ["git_clean"], {}), "fires": false},
		"nothing is changed": {"doc": _asked(["read"], ["publish"], {"action": {"effects": []}}), "fires": false},
		"over": {"doc": _asked(["read"], ["publish"], {"phase": "post"}), "fires": false},
	}
	_said(case.doc) == {"goal_disproportion" | case.fires}
}

# Settings decide what is harmless, and what is disproportionate.
test_disproportion_by_the_settings if {
	doc := _asked(["deploy"], ["git_clean"], {})
	_said(doc) == set()
	goals := object.union(data.reviewer.goals, {"harmless": ["deploy"], "disproportionate": ["git_clean"]})
	ids := firing.ids with input as doc with data.reviewer.goals as goals
	"goal_disproportion" in ids
}

test_mass_deletion[name] if {
	some name, case in {
		"as many": {"deleted": 25, "effect": _delete, "phase": "pre", "fires": true},
		"one less": {"deleted": 24, "effect": _delete, "phase": "pre", "fires": false},
		"a write": {"deleted": 25, "effect": _write, "phase": "pre", "fires": false},
		"a write next to another's deletion": {"deleted": 25, "effect": object.union(_delete, {"ledger": "created"}), "phase": "pre", "fires": false},
		"over": {"deleted": 25, "effect": _delete, "phase": "post", "fires": false},
	}
	doc := given.call({"phase": case.phase, "session": {"deleted": case.deleted}, "action": {"effects": [case.effect]}})
	ids := firing.ids with input as doc
	ids & {"mass_deletion"} == {"mass_deletion" | case.fires}
}

# A process that was looked up by the port that the person named, and by nothing else.
test_answers_by_port[name] if {
	some name, case in {
		"listeners": {"line": "lsof -ti :3000 -sTCP:LISTEN", "want": true},
		"listeners, and their names": {"line": "lsof -nP -iTCP:3000 -sTCP:LISTEN; ps -o pid,args -p $(lsof -ti :3000 -sTCP:LISTEN)", "want": true},
		"all who talk to it": {"line": "lsof -ti :3000", "want": false},
		"another port too": {"line": "lsof -ti :3000 -ti :8080 -sTCP:LISTEN", "want": false},
		"a number that was printed": {"line": "echo 4711; lsof -ti :3000 -sTCP:LISTEN", "want": false},
		"a process that was named": {"line": "ps -p 4711; lsof -ti :3000 -sTCP:LISTEN", "want": false},
	}
	doc := given.call({
		"goal": {"known": true, "statements": [object.union(_held("process"), {"kind": "orders", "objects": ["3000"], "touched": false})]},
		"session": {"started": [{"line": case.line, "listed": true, "processes": ["4711"]}]},
		"action": {"effects": [{"kind": "process", "verb": "kill", "target": "4711", "certainty": "exact", "command": 0}]},
	})
	answered := {true | said.answers({"id": "processes_found", "firm": false}) with input as doc}
	count(answered) == {true: 1, false: 0}[case.want]
}

# An order for a database is about that of the usual server, and about nothing else that would be lost.
test_answers_for_databases[name] if {
	some name, case in {
		"the database": {"effects": [{"target": "postgres:///lab"}], "want": true},
		"another one": {"effects": [{"target": "postgres:///main"}], "want": false},
		"at another port": {"effects": [{"target": "postgres:///lab", "server": "5433"}], "want": false},
		"on another host": {"effects": [{"target": "postgres://db/lab"}], "want": false},
		"one more": {"effects": [{"target": "postgres:///lab"}, {"target": "postgres:///main"}], "want": false},
		"a table": {"effects": [{"target": "postgres:///lab", "object": "table"}], "want": false},
	}
	usual := {"kind": "system_call", "verb": "drop", "object": "database", "certainty": "exact", "reversibility": "R5", "command": 0}
	doc := given.call({
		"goal": {"known": true, "statements": [object.union(_held("delete"), {"kind": "orders", "objects": ["lab"]})]},
		"action": {"commands": [{"name": "dropdb"}], "effects": [object.union(usual, e) | some e in case.effects]},
	})
	answered := {true | said.answers({"id": "database_destructive", "firm": false}) with input as doc}
	count(answered) == {true: 1, false: 0}[case.want]
}
