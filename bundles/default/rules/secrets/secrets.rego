package reviewer.spoken

import data.reviewer.scores

# METADATA
# title: A credential store is touched
# custom:
#   id: credential_access
speaks contains "credential_access" if {
	"credential_adjacent" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	e.class == "credential"
	not _keeps(e)
}

# Only its owner can read it afterwards.
_keeps(e) if {
	e.verb == "restrict"
	scores.in_scope(e)
}

# A new one is made: nothing of it was read, and nothing was there.
_keeps(e) if {
	e.verb in {"write", "create"}
	e.exists == "no"
	e.certainty == "exact"
	scores.in_scope(e)
}

# METADATA
# title: An environment file with secrets is read
# custom:
#   id: env_file_read
speaks contains "env_file_read" if {
	"credential_adjacent" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	e.class == "env_file"
	e.kind == "file_read"
}
