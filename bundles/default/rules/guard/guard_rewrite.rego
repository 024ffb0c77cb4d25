package reviewer.rewriting

# METADATA
# title: A commit or push runs with its checks
# description: >-
#   Only if a flag of its own skips them: not if a setting or a variable redirects the
#   hooks, nor if the flag is a letter in a group of flags with a value.
# custom:
#   id: git_no_verify
offers["git_no_verify"] := [{"op": "drop_flag", "command": i, "flag": flag} |
	some i, c in input.action.commands
	some flag in _skips_checks(c)
] if {
	data.reviewer.rewrite.keep_checks
	some c in input.action.commands
	count(_skips_checks(c)) > 0
}

_skips_checks(c) := {flag | some flag in c.flags; flag == "--no-verify"} | {"-n" | "commit" in c.sub; "-n" in c.flags} if {
	c.name == "git"
}
