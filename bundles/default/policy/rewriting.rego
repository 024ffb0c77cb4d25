# METADATA
# title: Rewriting
# description: >-
#   The safer form in which a call may run. A rule with decision modify has one if it is
#   among the offers (rules/**/*_rewrite.rego), or if the organisation or the user has
#   operations for a rule of their own: a list of operations on the call, by the index
#   of a command in input.action.commands. Policy writes no commands, since it sees
#   masked text. Reviewer applies the operations to the raw call, reviews the result,
#   and runs it only if it does nothing that the original call did not, and is answered
#   with a warning at most.
# scope: package
package reviewer.rewriting

import data.reviewer.fired

# METADATA
# title: The operations of all rules that fired with modify and are enforced, in order
operations := [op |
	some r in fired.rules
	r.decision == "modify"
	r.mode == "enforce"
	some op in form(r.id)
]

# METADATA
# title: A rule has a safe form for this call
offered(r) if count(form(r.id)) > 0

# METADATA
# title: The call has a safe form
possible if operations != []

# METADATA
# title: The operations that a rule's own layer defines for it
# description: >-
#   A layer offers forms for its own rules only: otherwise it could turn the question of
#   a rule above it into another answer. The project's layer can be written by the agent
#   and offers none.
form(id) := offers[id] if {
	offers[id]
} else := data.policies.organisation.operations[id] if {
	_own("organisation", id)
} else := data.policies.user.operations[id] if {
	_own("user", id)
	not _own("organisation", id)
}

_own(layer, id) if {
	data.policies[layer].catalog[id]
	not data.reviewer.catalog[id]
}

_own(layer, id) if {
	some f in data.policies[layer].findings
	f.id == id
	not data.reviewer.catalog[id]
}
