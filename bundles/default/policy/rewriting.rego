# METADATA
# title: Rewriting
# description: >-
#   In which other form a call may run. A rule that says modify has a safe form
#   if it is among the offers (rules/**/*_rewrite.rego): a list of operations on
#   the call, by the index of a command among input.action.commands. Policy
#   writes no command: it sees masked text. Reviewer applies the operations to
#   the raw call, reviews the result, and runs it only if it does nothing that
#   the call does not and has no more than a warning against it.
# scope: package
package reviewer.rewriting

import data.reviewer.spoken

# METADATA
# title: The operations of all rules that spoke, say modify and are held to, in their order
operations := [op |
	some r in spoken.rules
	r.decision == "modify"
	r.mode == "enforce"
	some op in offers[r.id]
]

# METADATA
# title: A rule has a safe form for this call
offered(r) if count(offers[r.id]) > 0

# METADATA
# title: The call has a safe form
possible if operations != []
