package reviewer.spoken

# METADATA
# title: The repository goes to a place that it had no remote of
# custom:
#   id: git_remote_new
speaks contains "git_remote_new" if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.object == "new remote"
}

# METADATA
# title: The repository goes to a place that it had no remote of
# description: A remote is pointed elsewhere, and what is pushed from then on goes there.
# custom:
#   id: git_remote_new
speaks contains "git_remote_new" if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "redirect"
	e.object == "remote"
}

# METADATA
# title: A file with secrets is put under version control
# description: Git ignores it or was told to, and is overruled; or all that it ignores is added.
# custom:
#   id: git_secret_staged
speaks contains "git_secret_staged" if {
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "stage"
	_holds_secrets(e)
}

_holds_secrets(e) if e.class in {"credential", "env_file"}

_holds_secrets(e) if e.location in {"self", "ancestor"}
