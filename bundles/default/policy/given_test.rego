# METADATA
# title: Inputs for tests
# description: >-
#   Inputs as reviewer makes them, from what a test cares about. The facts are
#   computed as reviewer computes them; a test of the program compares the two.
# scope: package
package reviewer.given_test

# METADATA
# title: An input in which nothing happens, changed by a patch
call(patch) := object.union(doc, {
	"facts": facts(doc),
	"kinds": sort({e.kind | some e in doc.action.effects}),
	"verbs": sort({e.verb | some e in doc.action.effects}),
}) if doc := object.union(_nothing, patch)

# METADATA
# title: A call of one type with some effects
action(type, effects) := call({"action": {"types": [type], "effects": effects}})

# METADATA
# title: An effect on a file in the workspace, changed by a patch
effect(kind, patch) := object.union(
	{"kind": kind, "verb": "write", "target": "/srv/shop/a.txt", "short": "./a.txt", "certainty": "exact", "location": "inside", "command": -1},
	patch,
)

# METADATA
# title: A request to a host
request(patch) := object.union({"kind": "network", "verb": "fetch", "target": "https://example.com/a", "certainty": "exact", "command": 0}, patch)

# METADATA
# title: A catalogue with a rule of each verdict, none of which has a condition
catalog := {id: _row(id, rest) |
	some id, rest in {
		"says_warn": {"decision": "warn", "severity": "low"},
		"says_modify": {"decision": "modify"},
		"says_ask": {"decision": "ask", "tags": ["essential"]},
		"says_block": {"decision": "block", "severity": "high", "overridable": ["organisation", "user"]},
		"says_more": {"decision": "block", "severity": "critical"},
		"says_always": {"decision": "block", "always": true},
		"says_nothing": {"decision": ""},
		"watched": {"decision": "block", "enforcement": "observe"},
		"session_stopped": {"decision": "block", "severity": "critical", "always": true},
		"executed_differs": {"decision": "warn", "severity": "critical", "always": true},
		"not_understood": {"decision": "ask", "severity": "high"},
	}
}

_row(id, rest) := object.filter(row, {k | some k, v in row; v != ""}) if {
	row := object.union(
		{
			"id": id, "severity": "medium", "tags": [], "overridable": [], "always": false,
			"message": concat("", [id, " on {target}"]), "remediation": concat("", ["instead of ", id]),
		},
		rest,
	)
}

_nothing := {
	"phase": "pre", "harness": "claude-code", "agent": "main",
	"event": {"tool": "Bash"},
	"action": {
		"name": "code.exec", "resource": "true", "types": [], "intent": "unknown", "commands": [], "paths": [], "hosts": [],
		"effects": [], "signals": [], "opaque": [], "fingerprint": "0123456789abcdef",
	},
	"time": {"ms": 0, "hour": 0, "minute": 0, "weekday": "thursday"},
	"session": {
		"workspace": "/srv/shop", "stopped": false, "actions": 0, "prompts": 0, "file_ops": 0,
		"denials": 0, "denied_in_row": 0, "secrets_read": false, "counts_by_type": {},
		"labels": [], "written": {}, "elsewhere": 0, "spread": 0, "deleted": 0, "growing": [], "agents": 0, "scope": [],
		"answers": {"asked": 0, "approved": 0, "refused": 0, "overruled": 0},
	},
	"goal": {"known": false, "intents": [], "names": 0, "named": false, "words": 0, "statements": [], "constraints": []},
	"history": {
		"windows": {}, "similar": {"count": 0, "failed": 0}, "first_time": false,
		"follows": [], "presupposes": [], "cycle": {"period": 0, "times": 0},
		"pauses": {"waits": false, "count": 0, "waited": 0, "least": 0, "shrinks": false},
		"since": {"failed": 1000, "auth_error": 1000, "news": 1, "secret": 1000, "untrusted": 1000, "prompt": 1000},
		"failed_rank": 0, "denials": {"same": 1000, "effect": 1000, "refused": 1000}, "rechecks": {"edited": 0, "passing": 0, "own": 0}, "check_failed": false, "new_hosts": 0,
		"fired": {}, "last": [],
	},
	"findings": [], "finding": {},
}

# METADATA
# title: The facts of an input
# description: Sorted, as in engine/facts.go.
facts(doc) := sort({name | some name in _names; _holds(name, doc)})

_names := [
	"reads_only", "changes", "changes_files", "deletes", "deletes_recursive", "outside_workspace", "external_network",
	"privileged", "not_understood", "unknown_target", "failed_before", "presupposes_unmet", "stopped", "executed_differs", "allowed_by_person",
	"failed", "repeated", "cycle", "nothing_new", "missing", "denied_before", "check_edited", "after_failure", "auth_error", "carries",
	"read_secret", "read_untrusted", "growing", "goal", "constrained", "permitted", "new_host", "spread", "claims", "secret_out", "obeys",
	"inherits", "unread_code",
]

_holds("reads_only", doc) if {
	doc.action.opaque == []
	doc.action.effects != []
	every e in doc.action.effects { e.kind == "file_read" }
}

_holds("changes", doc) if {
	some e in doc.action.effects
	e.kind != "file_read"
}

_holds("changes_files", doc) if {
	some e in doc.action.effects
	e.kind in {"file_write", "file_delete"}
}

_holds("deletes", doc) if {
	some e in doc.action.effects
	e.kind == "file_delete"
}

_holds("deletes_recursive", doc) if {
	some e in doc.action.effects
	e.kind == "file_delete"
	e.recursive
}

_holds("outside_workspace", doc) if {
	some e in doc.action.effects
	e.location != "inside"
}

_holds("external_network", doc) if {
	some e in doc.action.effects
	e.kind == "network"
	not e.loopback
}

_holds("privileged", doc) if {
	some e in doc.action.effects
	e.privileged
}

_holds("not_understood", doc) if doc.action.opaque != []

_holds("unknown_target", doc) if {
	some e in doc.action.effects
	e.kind in {"file_write", "file_delete"}
	e.location == "unknown"
}

_holds("failed_before", doc) if doc.history.similar.failed > 0

_holds("presupposes_unmet", doc) if {
	some p in doc.history.presupposes
	not p.met
}

_holds("allowed_by_person", doc) if doc.session.allowed

_holds("stopped", doc) if doc.session.stopped

_holds("executed_differs", doc) if doc.history.call.executed_differs

_holds("failed", doc) if doc.event.result.outcome == "failed"

_holds("repeated", doc) if {
	some w in doc.history.windows
	w.same > 1
}

_holds("cycle", doc) if doc.history.cycle.period > 0

_holds("nothing_new", doc) if {
	doc.history.since.news > 1
	doc.history.since.news < 1000
}

_holds("missing", doc) if {
	some w in doc.history.windows
	w.missing > 0
}

_holds("denied_before", doc) if doc.history.denials.same < 1000

_holds("denied_before", doc) if doc.history.denials.effect < 1000

_holds("check_edited", doc) if {
	some times in doc.history.rechecks
	times > 0
}

_holds("after_failure", doc) if doc.history.since.failed < 1000

_holds("auth_error", doc) if doc.history.since.auth_error < 1000

_holds("carries", doc) if count(doc.action.carries) > 0

_holds("secret_out", doc) if count(doc.action.secrets_out) > 0

_holds("inherits", doc) if count(object.get(doc.action, "inherits", [])) > 0

_holds("unread_code", doc) if {
	some e in doc.action.effects
	object.get(e, "unread", "") != ""
}

_holds("obeys", doc) if "untrusted" in doc.action.carries

_holds("obeys", doc) if {
	some e in doc.action.effects
	e.untrusted
}

_holds("read_secret", doc) if doc.history.since.secret < 1000

_holds("read_untrusted", doc) if doc.history.since.untrusted < 1000

_holds("growing", doc) if count(doc.session.growing) > 0

_holds("goal", doc) if doc.goal.known

_holds("constrained", doc) if {
	some s in doc.goal.statements
	s.kind == "forbids"
}

_holds("permitted", doc) if {
	some s in doc.goal.statements
	s.kind != "forbids"
}

_holds("new_host", doc) if doc.history.new_hosts > 0

_holds("spread", doc) if doc.session.elsewhere > 0

_holds("claims", doc) if doc.event.says
