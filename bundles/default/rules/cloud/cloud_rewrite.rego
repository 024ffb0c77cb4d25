package reviewer.rewriting

# METADATA
# title: A destroy command becomes a plan
# description: >-
#   The operation becomes plan with -destroy, wherever it is among the words:
#   terragrunt puts one before it. Flags that approve on a person's behalf are dropped.
# custom:
#   id: infrastructure_plan
offers["infrastructure_plan"] := array.flatten([array.concat(_into_plan(i), _unagreed(i)) | some i in _destroyers]) if {
	"infrastructure_delete" in input.action.signals
	data.reviewer.rewrite.destroy_plan
	count(_destroyers) > 0
}

_destroyers := sort({e.command |
	some e in input.action.effects
	e.kind == "network"
	e.object == "stack"
	e.verb == "delete"
	input.action.commands[e.command].name in data.reviewer.rewrite.planners
})

_into_plan(i) := [{"op": "replace_arg", "command": i, "arg": at, "value": "plan"}, {"op": "set_flag", "command": i, "flag": "-destroy"}] if {
	at := _operation(input.action.commands[i])
}

# The index of the operation among the words that are not flags.
_operation(c) := min([n |
	some n, w in array.flatten([[c.name], object.get(c, "sub", []), object.get(c, "operands", [])])
	w in {"destroy", "apply"}
])

_unagreed(i) := [{"op": "drop_flag", "command": i, "flag": flag} |
	some flag in input.action.commands[i].flags
	regex.match(`^--?(auto-approve|force)(=.*)?$`, flag)
]
