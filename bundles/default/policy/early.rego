# METADATA
# title: Answers before the review
# description: >-
#   Decides in mode async which calls are answered before their review. The answer is to allow, so
#   these are calls that no rule with `always` could deny, whose every effect is known, is on a
#   file in scope and can be undone, and whose risk is below performance.async_threshold.
#   Conditions are evaluated before: a call with any finding waits. Only the rules in Rego are
#   left to the review.
# scope: package
package reviewer.early

import data.reviewer.access
import data.reviewer.checkpoint
import data.reviewer.scores

# METADATA
# title: Whether any call is answered before its review
# description: >-
#   Evaluated once per policy, without an input. A rule with `always` that this file does not
#   know could deny any call, so with one of them all calls wait.
# scope: document
default available := false

available if {
	data.reviewer.mode == "async"
	data.reviewer.enabled
	every id, row in data.reviewer.catalog { _foreseen(id, row) }
	not _always_in_a_layer
}

_foreseen(_, row) if not row.always

_foreseen(id, _) if id in _considered

# The rules with `always`, and what keeps them from denying a call that passes here.
_considered := {
	"session_stopped", "stopped_prompt", # the session is not stopped
	"resumed_with_limits", "supervised", # it was not resumed on conditions
	"files_restored", # it warns; nothing was restored since the last call
	"executed_differs", # it warns, after a call
	"guard_tampering", "guard_key_read", # conditions, so they would be findings
}

_always_in_a_layer if {
	some layer
	some row in data.policies[layer].catalog
	row.always
}

# METADATA
# title: The answer that is given before the review
# description: null where the call waits for it.
# scope: document
default decision := null

decision := {
	"decision": "allow",
	"enforced": "allow",
	"reason": data.reviewer.messages.early,
	"risk": scores.risk,
	"obligations": _obligations,
	"source": "async",
} if {
	passes
}

_obligations := ["checkpoint"] if {
	checkpoint.required
} else := []

# METADATA
# title: The call is answered before its review
passes if {
	data.reviewer.mode == "async"
	data.reviewer.enabled
	input.phase == "pre"
	input.findings == []
	input.action.signals == []
	input.action.effects != []
	every e in input.action.effects { _plain(e) }
	every t in input.action.types { t in _of_files }
	scores.contained
	every f in input.facts { f in _plain_facts }
	_undisturbed
	count(access.results) == 0
	not _always_by_a_layer
	scores.score < data.reviewer.performance.async_threshold
}

_of_files := {"file_read", "file_creation", "file_modification", "file_deletion"}

# What may be true of a call that passes. Anything else, such as that the user wants a file left
# alone or that the same was denied before, is for the review to judge first.
_plain_facts := {
	"reads_only", "changes", "changes_files", "deletes", "failed_before", "presupposes_unmet", "nothing_new",
	"repeated", "cycle", "missing", "after_failure", "auth_error", "growing", "goal", "claims",
	"read_secret", "read_untrusted",
}

# An effect on an ordinary file. What a program that it starts does is not known well enough.
_plain(e) if {
	e.kind in {"file_read", "file_write", "file_delete"}
	not e.guard
	not e.privileged
	not e.host
	not scores.in_zone(e)
	object.get(e, "class", "") in {"", "generated", "test"}
}

# Nothing about the session is left to be told or held against the call.
_undisturbed if {
	not input.session.stopped
	not input.session.resumed
	not input.session.restored
	not input.session.late
	not input.session.allowed
	object.get(input.session, "interventions", []) == []
}

# The Rego of a layer may give a rule of its own that always applies.
_always_by_a_layer if {
	some layer
	some f in data.policies[layer].findings
	f.always
}
