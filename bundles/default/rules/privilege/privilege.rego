package reviewer.fired

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: System account changed
# custom:
#   id: account_change
fires contains "account_change" if {
	"account" in input.verbs
	"account" in effects.system_verbs
}

# METADATA
# title: Administrator rights granted
# description: >-
#   The name of the group is a word of the command, or the value of a flag.
# custom:
#   id: admin_group
fires contains "admin_group" if {
	"account" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "system_call"
	e.verb == "account"
	_words(input.action.commands[e.command]) & {g | some g in data.reviewer.system.admin_groups} != set()
}

_words(c) := {lower(w) |
	some field in ["operands", "flags"]
	some text in c[field]
	some w in regex.split(`[,=]`, text)
}

# METADATA
# title: System access rules changed
# custom:
#   id: rights_changed
fires contains "rights_changed" if {
	"changes_files" in input.facts
	"outside_workspace" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind in {"file_write", "file_delete"}
	not e.host
	strings.any_prefix_match(concat("", [e.target, "/"]), scores.between("", data.reviewer.system.rights, "/"))
}

# METADATA
# title: Overly broad permissions
# custom:
#   id: permission_broad
fires contains "permission_broad" if {
	"changes_files" in input.facts
	input.phase == "pre"
	effects.opens_widely
}
