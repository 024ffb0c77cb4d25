# METADATA
# title: The decision
# description: >-
#   The single entry point. It joins the scores, the matrix and the rules of all layers
#   into one document; all its numbers and lists are data.
# scope: package
package reviewer

import data.reviewer.checkpoint
import data.reviewer.fired
import data.reviewer.granting
import data.reviewer.outcome
import data.reviewer.prefilter
import data.reviewer.reasons
import data.reviewer.rewriting
import data.reviewer.said
import data.reviewer.saving
import data.reviewer.scores

# METADATA
# title: What is done with the action, and why
# description: >-
#   Most calls are allowed silently. They take the short path, which leaves out only what would
#   be empty.
# entrypoint: true
decision := {
	"decision": "allow",
	"enforced": "allow",
	"reason": data.reviewer.messages.prefiltered,
	"grant": _granting,
	"source": "prefilter",
} if {
	prefilter.passes
	_uses == []
} else := granting.decision if {
	input.phase == "request"
} else := {
	"decision": "allow",
	"enforced": "allow",
	"reason": data.reviewer.messages.allowed,
} if {
	_nothing_to_weigh
} else := {
	"decision": "allow",
	"enforced": "allow",
	"reason": data.reviewer.messages.allowed,
	"risk": scores.risk,
	"rationality": scores.rationality,
	"side_effects": scores.side_effects,
	"confidence": scores.confidence,
	"obligations": _precautions,
	"grant": _granting,
	"uses": _uses,
} if {
	reasons.silent
} else := object.union(_weighed, reasons.told)

_weighed := {
	"decision": outcome.decision,
	"enforced": outcome.enforced,
	"reason": reasons.primary,
	"reasons": reasons.all,
	"explanation": reasons.explanation,
	"rules": reasons.results,
	"risk": scores.risk,
	"rationality": scores.rationality,
	"side_effects": object.union(scores.side_effects, {"mitigations": scores.mitigations}),
	"confidence": scores.confidence,
	"alternatives": reasons.alternatives,
	"text": reasons.text,
	"notice": reasons.notice,
	"obligations": _obligations,
	"saves": _saves,
	"rewrite": _rewrite,
	"otherwise": _otherwise,
	"interventions": reasons.interventions,
	"grant": _grant,
	"uses": _uses,
}

# Scores judge calls that have not run yet. For prompts, results and stops there is
# nothing to report unless a rule fires.
_nothing_to_weigh if {
	input.phase != "pre"
	fired.rules == []
}

# grant: proven is for requests only, never for the answer before a call.
default _granting := false

_granting if data.reviewer.grant == true

default _grant := false

# Only what the policy itself allows, not what it merely observes.
_grant if {
	_granting
	outcome.decision == "allow"
}

# A call that does not run uses nothing.
_uses := sort(said.uses) if {
	said.uses != set()
	outcome.enforced != "block"
} else := []

_rewrite := rewriting.operations if {
	outcome.enforced == "modify"
} else := []

_otherwise := {"effect": outcome.otherwise, "text": reasons.otherwise} if {
	outcome.enforced == "modify"
} else := {"effect": outcome.unsaved, "text": reasons.unsaved} if {
	_saving
} else := null

# A call that does not run needs none.
_obligations := [] if {
	outcome.enforced == "block"
} else := ["save"] if {
	_saving
} else := _precautions

_saves := saving.losses if {
	_saving
} else := []

_saving if {
	saving.used
	not outcome.enforced in {"modify", "block"}
}

default _precautions := []

_precautions := ["checkpoint"] if checkpoint.required
