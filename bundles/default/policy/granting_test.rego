package reviewer.granting_test

import data.reviewer
import data.reviewer.given_test as given
import data.reviewer.granting

# What the policy decided before the call, and what is known about calls of its form.
_known := {
	"decision": "allow", "enforced": "allow", "checkpoint": true, "left": 0, "denied": 1000,
	"form": "0123456789abcdef", "answers": [],
}

_asked(patch) := given.call(object.union({"phase": "request", "event": {"mode": "default"}, "request": _known}, patch))

_day := 86400000

_read := given.effect("file_read", {"verb": "read"})

_write := given.effect("file_write", {})

_shell := {"name": "cat", "operands": ["a.txt"]}

_reading := {"action": {"types": ["file_read"], "commands": [_shell], "effects": [_read]}}

_edit := {"event": {"mode": "acceptEdits"}, "action": {"types": ["file_modification"], "effects": [_write]}}

# Tests of the project: they load code that is not seen.
_tests := {"action": {
	"types": ["system_command"], "loads": ["make:test"],
	"commands": [{"name": "make", "operands": ["test"]}],
	"effects": [_starts("make")],
}}

_starts(name) := given.effect("process", {"verb": "exec", "target": name, "short": "", "location": ""})

# People approved it five times, in two sessions.
_approvals := [_answers("aaaaaaaa", {"person": 3}), _answers("bbbbbbbb", {"person": 2})]

_answers(session, patch) := object.union(
	{"session": session, "mode": "default", "person": 0, "inferred": 0, "refused": 0, "ms": _day, "refused_ms": _day},
	patch,
)

_form(answers) := object.union(_tests, {"request": {"answers": answers}})

_one(effect) := {"action": {"effects": [effect]}}

_fetch(host) := {"action": {
	"types": ["network_request"], "hosts": [host],
	"effects": [given.request({"target": concat("", ["https://", host, "/a"])})],
}}

# The proof, or none.
_proof(patch) := by if {
	by := granting.proof.by with input as _asked(patch) with data.reviewer.grant as "proven"
} else := "none"

# Each of these calls is granted, for one reason.
test_granted[name] if {
	some name, case in {
		"a file is read": ["reads", _reading],
		"a tool reads": ["reads", {"action": {"types": ["file_read"], "effects": [_read]}}],
		"a file is edited": ["undo", _edit],
		"a file that is not stored is new": ["undo", _unstored({"exists": "no"})],
		"a file that is not stored is in git": ["undo", _unstored({"git": "clean"})],
		"people approved the form": ["approved", _form(_approvals)],
	}
	case[0] == _proof(case[1])
}

test_a_known_host_is_asked if {
	"reads" == _proof(_fetch("docs.example.com")) with data.reviewer.hosts.known as ["docs.example.com"]
	"none" == _proof(_fetch("docs.example.com")) with data.reviewer.hosts.known as ["example.com"]
}

test_no_proof_of_asking[name] if {
	some name, patch in {
		"something is sent": {"verb": "send"},
		"without checking the certificate": {"forced": true},
		"as another user": {"privileged": true},
	}
	doc := object.union(_fetch("docs.example.com"), {"action": {"effects": [given.request(patch)]}})
	"none" == _proof(doc) with data.reviewer.hosts.known as ["docs.example.com"]
}

_unstored(patch) := object.union(_edit, {"request": {"left": 3}, "action": {"effects": [_file(patch)]}})

_file(patch) := object.union(_write, patch)

# What every grant needs. The call reads a file and would be granted otherwise.
test_not_granted[name] if {
	some name, patch in {
		"the policy asked": {"request": {"decision": "ask"}},
		"the answer was a warning": {"request": {"enforced": "warn"}},
		"the call is unknown": {"request": {"decision": "", "enforced": ""}},
		"nobody is asked in this mode": {"event": {"mode": "bypassPermissions"}},
		"the mode is unknown": {"event": {"mode": ""}},
		"a part is opaque": {"action": {"opaque": [{"reason": "syntax"}]}},
		"there are other possible effects": {"action": {"possible": [_read]}},
		"a type that is not granted": {"action": {"types": ["file_read", "unknown"]}},
		"a signal": {"action": {"signals": ["publish"]}},
		"nothing is known": {"action": {"effects": [], "commands": []}},
		"the session is stopped": {"session": {"stopped": true}},
		"the session was resumed on conditions": {"session": {"resumed": "supervise"}},
		"its files were restored": {"session": {"restored": true}},
		"a review came too late": {"session": {"late": {}}},
		"a secret was read": {"session": {"labels": ["secret"]}},
		"a call was denied": {"request": {"denied": 50}},
		"a secret is passed on": {"action": {"secrets_out": ["text"]}},
		"an earlier output is passed on": {"action": {"flows": [{"from": "x"}]}},
		"a started program is left running": {"action": {"starts": [{"id": "1"}]}},
		"it types into a terminal": {"action": {"terminals": {"1": "x"}}},
	}
	"none" == _proof(object.union(_reading, patch))
}

# A denial counts for so many calls and no longer, and other labels do not count.
test_still_granted[name] if {
	some name, patch in {
		"a call was denied long ago": {"request": {"denied": 51}},
		"something untrusted was read": {"session": {"labels": ["untrusted"]}},
	}
	"reads" == _proof(object.union(_reading, patch))
}

# Calls that are more than reading.
test_no_proof_of_reading[name] if {
	some name, patch in {
		"a host that nobody named": _fetch("example.org"),
		"outside the workspace": _one(object.union(_read, {"location": "outside"})),
		"a credential": _one(object.union(_read, {"class": "credential"})),
		"an unknown path": _one(object.union(_read, {"certainty": "unknown"})),
		"code of the project is loaded": {"action": {"loads": ["make:test"]}},
		"it runs in another program": {"action": {"commands": [object.union(_shell, {"wrappers": ["xargs"]})]}},
		"an edit in the mode default": object.union(_edit, {"event": {"mode": "default"}}),
	}
	"none" == _proof(object.union(_reading, patch))
}

test_a_wrapper_that_changes_nothing if {
	"reads" == _proof(object.union(_reading, {"action": {"commands": [object.union(_shell, {"wrappers": ["nice"]})]}}))
}

# Changes that a checkpoint does not undo.
test_no_proof_of_undo[name] if {
	some name, patch in {
		"no checkpoint": {"request": {"checkpoint": false}},
		"not all files are stored": {"request": {"left": 1}},
		"outside": _one(_file({"location": "outside"})),
		"a setting of CI": _one(_file({"class": "ci_config"})),
		"a file of the guard": _one(_file({"guard": true})),
		"on another machine": _one(_file({"host": "vm:a"})),
		"as another user": _one(_file({"privileged": true})),
		"it starts something later": _one(_file({"persistence": true})),
		"an unknown path": _one(_file({"certainty": "unknown"})),
		"a program of the project": {"action": {"commands": [{"name": "make"}], "effects": [_starts("make")], "loads": ["make:test"]}},
	}
	"none" == _proof(object.union(_edit, patch))
}

# A person can name programs that change only files that are stored.
test_a_trusted_program if {
	doc := object.union(_tests, {"event": {"mode": "acceptEdits"}})
	"none" == _proof(doc)
	"undo" == _proof(doc) with data.reviewer.grants.undo.programs as ["make"]
	"none" == _proof(object.union(doc, {"request": {"checkpoint": false}})) with data.reviewer.grants.undo.programs as ["make"]
}

# How many approvals are enough, of which kind and of what age.
test_approvals[name] if {
	some name, case in {
		"five": ["approved", [_answers("a", {"person": 3}), _answers("b", {"person": 2})]],
		"four": ["none", [_answers("a", {"person": 2}), _answers("b", {"person": 2})]],
		"one session": ["none", [_answers("a", {"person": 9})]],
		"a session without an approval": ["none", [_answers("a", {"person": 9}), _answers("b", {})]],
		"two modes of one session": ["none", [_answers("a", {"person": 9}), _answers("a", {"person": 9, "mode": "acceptEdits"})]],
		"ten inferred": ["approved", [_answers("a", {"inferred": 5}), _answers("b", {"inferred": 5})]],
		"nine inferred": ["none", [_answers("a", {"inferred": 5}), _answers("b", {"inferred": 4})]],
		"both kinds": ["approved", [_answers("a", {"person": 3}), _answers("b", {"inferred": 4})]],
		"just in time": ["approved", [_answers("a", {"person": 3, "ms": (30 * _day) - 1}), _answers("b", {"person": 2})]],
		"expired": ["none", [_answers("a", {"person": 3, "ms": 30 * _day}), _answers("b", {"person": 2})]],
		"in a mode that does not ask": ["none", [_answers("a", {"person": 3, "mode": "bypassPermissions"}), _answers("b", {"person": 2})]],
		"a refusal": ["none", array.concat(_approvals, [_answers("c", {"refused": 1})])],
		"a refusal in a mode that does not ask": ["none", array.concat(_approvals, [_answers("c", {"refused": 1, "mode": "auto"})])],
		"a refusal of last year": ["approved", array.concat(_approvals, [_answers("c", {"refused": 1, "refused_ms": 365 * _day})])],
	}
	case[0] == _proof(_form(case[1]))
}

# Approvals prove nothing about what cannot be undone or must be looked at each time.
test_approved_but_limited[name] if {
	some name, patch in {
		"a denial": {"request": {"denied": 3}},
		"a secret was read": {"session": {"labels": ["secret"]}},
		"an opaque part": {"action": {"opaque": [{"reason": "syntax"}]}},
		"a credential": _one(object.union(_read, {"class": "credential"})),
		"as another user": _one(object.union(_starts("make"), {"privileged": true})),
		"a file outside is deleted": _one(given.effect("file_delete", {"verb": "delete", "location": "outside", "exists": "yes"})),
	}
	"none" == _proof(object.union(_form(_approvals), patch))
}

# An edit is not granted because other edits were approved; a command that changes files can be.
test_an_approved_edit if {
	edit := object.union(_edit, {"event": {"mode": "default"}, "request": {"answers": _approvals}})
	"none" == _proof(edit)
	"approved" == _proof(object.union(edit, {"action": {"commands": [{"name": "gofmt", "operands": ["a.go"]}]}}))
}

# The proof states its basis.
test_what_is_recorded if {
	got := granting.decision with input as _asked(_form(_approvals)) with data.reviewer.grant as "proven"
	got.grant
	got.decision == "allow"
	got.enforced == "allow"
	got.proof == {"by": "approved", "approvals": 5, "sessions": 2, "days": 30}
	got.reason == reviewer.grants.texts.approved
}

# Nothing is denied here: without a proof the agent asks.
test_without_a_proof if {
	got := granting.decision with input as _asked(_fetch("example.org")) with data.reviewer.grant as "proven"
	object.remove(got, ["reasons"]) == {"decision": "allow", "enforced": "allow", "reason": reviewer.grants.texts.none}
	got.reasons[0] == reviewer.grants.texts.none
	reviewer.grants.texts.lacks.files in got.reasons
	other := granting.decision with input as _asked(_fetch("example.org")) with data.reviewer.grant as false
	not other.reasons
}

_lacks(patch) := words if {
	words := granting.lacks with input as _asked(patch) with data.reviewer.grant as "proven"
}

# What is missing for each proof.
test_what_is_missing[name] if {
	some name, case in {
		"tests of the project": [{"code", "files", "edits", "approvals"}, _tests],
		"tests that were refused": [{"code", "files", "edits", "refused"}, _form(array.concat(_approvals, [_answers("c", {"refused": 1})]))],
		"an edit in the mode default": [{"edits", "formed", "approvals"}, object.union(_edit, {"event": {"mode": "default"}})],
		"an edit without a checkpoint": [{"checkpoint", "files", "limits", "formed", "approvals"}, object.union(_edit, {"request": {"checkpoint": false, "left": 1}})],
		"a mode that does not ask": [{"mode", "approvals"}, object.union(_reading, {"event": {"mode": "auto"}})],
		"a warning": [{"allowed", "approvals"}, object.union(_reading, {"request": {"enforced": "warn"}})],
		"an opaque part": [{"understood", "approvals"}, object.union(_reading, {"action": {"opaque": [{"reason": "syntax"}]}})],
		"a signal": [{"types", "approvals"}, object.union(_reading, {"action": {"signals": ["publish"]}})],
		"a flow": [{"alone", "approvals"}, object.union(_reading, {"action": {"flows": [{"from": "x"}]}})],
		"a denial": [{"quiet", "approvals"}, object.union(_reading, {"request": {"denied": 3}})],
	}
	case[0] == _lacks(case[1])
}

# Each has its text.
test_texts_of_what_is_missing if {
	every word in {"mode", "allowed", "understood", "types", "alone", "quiet", "code", "files", "edits", "checkpoint", "limits", "formed", "approvals", "refused"} {
		reviewer.grants.texts.lacks[word]
	}
}

# Other values of the setting grant no request, and neither does a policy that only observes.
test_settings if {
	doc := _asked(_reading)
	not granting.proof with input as doc with data.reviewer.grant as false
	not granting.proof with input as doc with data.reviewer.grant as true
	granting.proof with input as doc with data.reviewer.grant as "proven"
	not granting.proof with input as doc with data.reviewer.grant as "proven" with data.reviewer.enforcement as "observe"
	not granting.proof with input as doc with data.reviewer.grant as "proven" with data.reviewer.enabled as false
}

# The review before a call skips no question, unless grant is true.
test_before_the_call[value] if {
	some value, want in {"false": false, "true": true, "proven": false}
	setting := {"false": false, "true": true, "proven": "proven"}[value]
	doc := given.call(_reading)
	got := reviewer.decision with input as doc with data.reviewer.grant as setting
	want == object.get(got, "grant", false)
}

# A request is decided by this module, and with the same answer.
test_a_request if {
	got := reviewer.decision with input as _asked(_reading) with data.reviewer.grant as "proven"
	got.grant
	got.proof == {"by": "reads"}
	other := reviewer.decision with input as _asked(_reading)
	not other.grant
}
