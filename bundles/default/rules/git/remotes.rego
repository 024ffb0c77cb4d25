package reviewer.fired

# METADATA
# title: Repository pushed to a new remote
# custom:
#   id: git_remote_new
fires contains "git_remote_new" if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.object == "new remote"
}

# METADATA
# title: Repository pushed to a new remote
# description: A remote is pointed at another address, and later pushes go there.
# custom:
#   id: git_remote_new
fires contains "git_remote_new" if {
	"redirect" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "redirect"
	e.object == "remote"
}

# METADATA
# title: Repository pushed to a new remote
# description: The session itself added the remote in an earlier call.
# custom:
#   id: git_remote_new
fires contains "git_remote_new" if {
	"network" in input.kinds
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "network"
	e.egress
	input.action.commands[e.command].name == "git"
	lower(e.target) in object.get(input.session, "remotes", [])
}

# METADATA
# title: File with secrets added to version control
# description: Git's ignore rules are overridden for the file, or for all ignored files.
# custom:
#   id: git_secret_staged
fires contains "git_secret_staged" if {
	"stage" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "stage"
	_holds_secrets(e)
}

_holds_secrets(e) if e.class in {"credential", "env_file"}

_holds_secrets(e) if e.location in {"self", "ancestor"}
