package reviewer.spoken

# METADATA
# title: The repository's own data is deleted
# description: By name, or as part of a directory that goes.
# custom:
#   id: git_data_delete
speaks contains "git_data_delete" if {
	"changes_files" in input.facts
	input.phase == "pre"
	_loses_repository
}

_loses_repository if {
	some e in input.action.effects
	_gone(e)
	not _left_behind(e)
	not _hook_file(e)
	_own_data(e)
}

_own_data(e) if e.class == "git_data"

_own_data(e) if e.repository

_own_data(e) if {
	e.class == "git_hook"
	contains(concat("", [e.target, "/"]), "/.git/")
}

# What a git that crashed leaves behind.
_left_behind(e) if {
	endswith(e.target, ".lock")
	not e.recursive
}

# One file among the hooks.
_hook_file(e) if {
	e.certainty == "exact"
	not e.recursive
	regex.match(`/\.git/hooks/[^/]+$`, e.target)
}

# METADATA
# title: Checks before a commit or push are skipped
# description: A variable or a setting keeps git from running them.
# custom:
#   id: git_no_verify
speaks contains "git_no_verify" if {
	"git_no_verify" in input.action.signals
	input.phase == "pre"
}

# METADATA
# title: Checks before a commit or push are skipped
# description: A flag says so.
# custom:
#   id: git_no_verify
speaks contains "git_no_verify" if {
	input.phase == "pre"
	some c in input.action.commands
	c.name in {"git", "hub"}
	_without_hooks(c)
}

_without_hooks(c) if {
	some f in c.flags
	regex.match(`^--no-verif?y?$`, f)
}

# The letters before it have no value.
_without_hooks(c) if {
	"commit" in c.sub
	some f in c.flags
	regex.match(`^-[aeiopqsvz]*n`, f)
}

# METADATA
# title: Checks before a commit or push are skipped
# description: Checks before a commit or push are taken out.
# custom:
#   id: git_no_verify
speaks contains "git_no_verify" if {
	input.phase == "pre"
	some c in input.action.commands
	c.name in data.reviewer.git.hook_managers
	_uninstalls(c)
}

_uninstalls(c) if "--uninstall" in c.flags

_uninstalls(c) if "uninstall" in c.sub

_uninstalls(c) if c.operands[0] == "uninstall"

# METADATA
# title: Checks before a commit or push are skipped
# description: "Git runs no file whose name has a point in it: pre-push.sample, pre-push.bak."
# custom:
#   id: git_no_verify
speaks contains "git_no_verify" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	_gone(e)
	_hook_file(e)
	regex.match(`/[^./]+$`, e.target)
}
