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

# Names of files, and nothing that is in them (credential_names).
_keeps(e) if _listed(e)

_listed(e) if {
	e.kind == "file_read"
	e.verb == "list"
	not _names_used
}

_names_used if {
	some c in input.action.commands
	not c.name in data.reviewer.secrets.listing
}

# What is read without being listed may be what was listed.
_names_used if {
	some e in input.action.effects
	e.certainty in {"unknown", "prefix"}
}

# METADATA
# title: Names of credential files are listed
# custom:
#   id: credential_names
speaks contains "credential_names" if {
	"credential_adjacent" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	e.class == "credential"
	_listed(e)
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
