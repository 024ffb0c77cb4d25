# METADATA
# title: The decision
# description: >-
#   The one entry point. It joins the scores, the matrix and the rules of all
#   layers into one document; everything that it weighs is data.
# scope: package
package reviewer

import data.reviewer.outcome
import data.reviewer.prefilter
import data.reviewer.reasons
import data.reviewer.rewriting
import data.reviewer.scores
import data.reviewer.spoken

# METADATA
# title: What is done with the action, and why
# description: >-
#   Most calls are allowed without a word. They take the short way: everything
#   that it leaves out would be empty.
# entrypoint: true
decision := {
	"decision": "allow",
	"enforced": "allow",
	"reason": data.reviewer.messages.prefiltered,
	"grant": data.reviewer.grant,
	"source": "prefilter",
} if {
	prefilter.passes
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
	"grant": data.reviewer.grant,
} if {
	reasons.silent
} else := {
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
	"obligations": _obligations,
	"rewrite": _rewrite,
	"otherwise": _otherwise,
	"interventions": reasons.interventions,
	"grant": _grant,
}

# Scores say whether a call is to be made. Of prompts, results and stops there is
# nothing to say where no rule speaks.
_nothing_to_weigh if {
	input.phase != "pre"
	spoken.rules == []
}

default _grant := false

# Only what policy itself allows, and not what it merely watches.
_grant if {
	data.reviewer.grant
	outcome.decision == "allow"
}

_rewrite := rewriting.operations if {
	outcome.enforced == "modify"
} else := []

_otherwise := {"effect": outcome.otherwise, "text": reasons.otherwise} if {
	outcome.enforced == "modify"
} else := null

default _obligations := []

# A checkpoint before a risky call that may run.
_obligations := ["checkpoint"] if {
	"changes_files" in input.facts
	input.phase == "pre"
	scores.score >= data.reviewer.risk.risk_threshold
	outcome.enforced != "block"
}
