package reviewer.rewriting

# METADATA
# title: A prune keeps volumes and tagged images
# custom:
#   id: container_prune
offers["container_prune"] := [{"op": "drop_flag", "command": i, "flag": flag} |
	some i in _pruners
	some flag in ["--volumes", "--all", "-a"]
	_has_all(i, flag)
] if {
	"container_wipe" in input.action.signals
	data.reviewer.rewrite.keep_volumes
}

_pruners := {e.command |
	some e in input.action.effects
	e.kind == "system_call"
	e.verb == "prune"
	object.get(e, "host", "") == "" # on another machine, nobody has looked at what would be left
}

_has_all(i, flag) if flag in input.action.commands[i].flags

_has_all(i, "-a") if {
	some f in input.action.commands[i].flags
	regex.match(`^-[A-Za-z]*a[A-Za-z]*$`, f)
}
