# METADATA
# title: The decision
# description: >-
#   The one entry point. It joins the scores, the matrix and the rules of all
#   layers into one document; everything that it weighs is data.
# scope: package
package reviewer

import data.reviewer.outcome
import data.reviewer.reasons
import data.reviewer.scores

# METADATA
# title: What is done with the action, and why
# entrypoint: true
decision := {
	"decision": outcome.decision,
	"enforced": outcome.enforced,
	"reason": reasons.primary,
	"reasons": reasons.all,
	"explanation": reasons.explanation,
	"rules": reasons.results,
	"risk": scores.risk,
	"rationality": scores.rationality,
	"side_effects": scores.side_effects,
	"confidence": scores.confidence,
	"alternatives": reasons.alternatives,
	"text": reasons.text,
	"obligations": _obligations,
	"interventions": reasons.interventions,
	"grant": data.reviewer.grant,
}

default _obligations := []

# A checkpoint before a risky call that may run.
_obligations := ["checkpoint"] if {
	scores.score >= data.reviewer.risk.risk_threshold
	input.phase == "pre"
	outcome.enforced != "block"
	"changes_files" in input.facts
}
