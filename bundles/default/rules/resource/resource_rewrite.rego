package reviewer.rewriting

# METADATA
# title: A command without an end gets a time limit
# description: A shell loop is not a command, and has no such form.
# custom:
#   id: unbounded_resource
offers["unbounded_resource"] := array.flatten([[
	{"op": "insert_arg", "command": i, "arg": 0, "value": "timeout"},
	{"op": "insert_arg", "command": i, "arg": 0, "value": sprintf("%d", [data.reviewer.rewrite.time_limit_seconds])},
] |
	some i in _endless
]) if {
	data.reviewer.rewrite.time_limit
	count(_endless) > 0
}

_endless := sort({e.command | some e in input.action.effects; e.kind == "resource"; e.verb != "fork"; e.command >= 0})
