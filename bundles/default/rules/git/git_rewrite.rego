package reviewer.rewriting

# METADATA
# title: A force push becomes a push with a lease
# description: >-
#   Only what a lease can replace: --force and -f. A pushed +refspec, --mirror and
#   --delete overwrite the remote with or without a lease. A lease that the call
#   already has keeps its value. With a flag that negates a force or a lease, the
#   order of the flags decides: that is not rewritten.
# custom:
#   id: git_force_push
offers["git_force_push"] := array.concat(
	[{"op": "set_flag", "command": i, "flag": "--force-with-lease"} | some i in _forced_pushes; not _leased(i)],
	[{"op": "drop_flag", "command": i, "flag": flag} | some i in _forced_pushes; some flag in ["--force", "-f"]; _has_flag(i, flag)],
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
	_has_flag(i, flag)
})

# A letter may be part of a group of flags: -uf.
_has_flag(i, flag) if flag in input.action.commands[i].flags

_has_flag(i, "-f") if {
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
