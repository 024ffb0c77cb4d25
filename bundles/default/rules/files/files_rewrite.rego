package reviewer.rewriting

# METADATA
# title: A deletion becomes a move to the trash
# description: >-
#   The program is replaced and every flag of rm is dropped: the trash does not
#   prompt, and takes folders only where rm would have.
# custom:
#   id: delete_untracked
offers["delete_untracked"] := array.flatten([_into_trash(i) | some i in _removers]) if {
	data.reviewer.rewrite.trash
	"deletes" in input.facts
	not "privileged" in input.facts
	count(_removers) > 0
}

_removers := [i | some i, c in input.action.commands; c.name in {"rm", "unlink"}]

_into_trash(i) := array.flatten([
	{"op": "replace_arg", "command": i, "arg": 0, "value": "{reviewer}"},
	{"op": "insert_arg", "command": i, "arg": 1, "value": "trash"},
	[{"op": "drop_flag", "command": i, "flag": f} | some f in input.action.commands[i].flags],
	_forgiving(i),
])

# rm -f does not report missing files.
_forgiving(i) := [{"op": "set_flag", "command": i, "flag": "--ignore-missing"}] if {
	some f in input.action.commands[i].flags
	regex.match(`^(--force|-[a-zA-Z]*f[a-zA-Z]*)$`, f)
} else := []
