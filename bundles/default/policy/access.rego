# METADATA
# title: Access rules
# description: >-
#   The answers of the lists in access/**.yaml to a call that has not run yet. Of
#   each list, only the first rule that matches is among the findings. No list loosens the answer
#   of another list or of a rule.
# scope: package
package reviewer.access

# METADATA
# title: The answers of the lists
# description: In the form of rules that fired. A list that allows is left out.
# scope: document
results contains r if {
	input.phase == "pre"
	some name, list in data.reviewer.access_lists
	r := _result(_answer(name, list), false)
}

results contains r if {
	input.phase == "pre"
	some layer
	some name, list in data.policies[layer].access_lists
	r := _result(_answer(name, list), layer == "organisation")
}

# The rule that was found, else the list's default.
_answer(name, list) := _said(id, list.rules[id]) if {
	some id in input.findings
} else := {"id": id, "effect": list.default, "message": _text("access_default", id)} if {
	id := concat(".", ["access", name, "default"])
}

# If a rule cannot be evaluated, it is not known whether it matches, nor what the rules
# after it would have answered.
_said(id, rule) := {"id": id, "effect": "deny", "message": _text("access_failed", id)} if {
	input.finding[id].failed
} else := {"id": id, "effect": rule.effect, "message": object.get(rule, "message", _words(id, rule.effect))}

_words(id, effect) := _text("access_approval", id) if {
	effect == "require_approval"
} else := _text("access_denied", id)

_text(name, id) := object.get(data.reviewer.messages, name, id)

# A user cannot allow what the organisation's lists block or ask about.
_result(answer, firm) := {
	"id": answer.id,
	"decision": _decision(answer.effect),
	"severity": "medium",
	"message": answer.message,
	"mode": data.reviewer.enforcement,
	"remediation": "",
	"firm": firm,
} if {
	answer.effect != "allow"
}

_decision(effect) := "ask" if {
	effect == "require_approval"
} else := "block"
