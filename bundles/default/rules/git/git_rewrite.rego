package reviewer.rewriting

# METADATA
# title: A force push becomes a push with a lease
# description: >-
#   Only what a lease can stand for: --force and -f. A pushed +refspec, --mirror
#   and --delete overwrite whatever is there, with a lease or without. A lease
#   that the call has already keeps its value, and a flag that takes a force or a
#   lease back leaves the order of the flags to decide: that is not rewritten.
# custom:
#   id: git_force_push
offers["git_force_push"] := array.concat(
	[{"op": "set_flag", "command": i, "flag": "--force-with-lease"} | some i in _forced_pushes; not _leased(i)],
	[{"op": "drop_flag", "command": i, "flag": flag} | some i in _forced_pushes; some flag in ["--force", "-f"]; _has(i, flag)],
) if {
	data.reviewer.rewrite.force_push
	"git_force_push" in input.action.signals
	count(_forced_pushes) > 0
}

_forced_pushes := sort({i |
	some i, c in input.action.commands
	c.name == "git"
	"push" in c.sub
	not _taken_back(i)
	some flag in ["--force", "-f"]
	_has(i, flag)
})

# A letter may stand in a cluster: -uf.
_has(i, flag) if flag in input.action.commands[i].flags

_has(i, "-f") if {
	some f in input.action.commands[i].flags
	regex.match(`^-[A-Za-z]*f[A-Za-z]*$`, f)
}

_leased(i) if {
	some f in input.action.commands[i].flags
	startswith(f, "--force-with-lease")
}

_taken_back(i) if {
	some f in input.action.commands[i].flags
	startswith(f, "--no-force")
	f != "--no-force-if-includes"
}
