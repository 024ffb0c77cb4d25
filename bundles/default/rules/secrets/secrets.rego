package reviewer.fired

import data.reviewer.scores

# METADATA
# title: Credential file accessed
# custom:
#   id: credential_access
fires contains "credential_access" if {
	"credential_adjacent" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	e.class == "credential"
	not _keeps(e)
}

# Names of files, and none of their content (credential_names).
_keeps(e) if _listed(e)

# It lists hosts, and holds no key.
_keeps(e) if {
	e.kind == "file_read"
	e.certainty == "exact"
	some pattern in data.reviewer.secrets.plain
	regex.match(pattern, e.short)
}

_listed(e) if {
	e.kind == "file_read"
	e.verb == "list"
	not _names_used
}

_names_used if {
	some c in input.action.commands
	not c.name in data.reviewer.secrets.listing
}

# A read that is not itself listed may be of a listed file.
_names_used if {
	some e in input.action.effects
	e.certainty in {"unknown", "prefix"}
}

# METADATA
# title: Names of credential files listed
# custom:
#   id: credential_names
fires contains "credential_names" if {
	"credential_adjacent" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	e.class == "credential"
	_listed(e)
}

# The mode lets only the owner read the file.
_keeps(e) if {
	e.verb == "restrict"
	scores.in_scope(e)
}

# A new one is created: nothing was there, and nothing was read.
_keeps(e) if {
	e.verb in {"write", "create"}
	e.exists == "no"
	e.certainty == "exact"
	scores.in_scope(e)
}

# METADATA
# title: Environment file with secrets read
# custom:
#   id: env_file_read
fires contains "env_file_read" if {
	data.reviewer.secrets.env_files == "warn"
	_reads_env_file
}

# METADATA
# title: Environment file with secrets read (asks)
# custom:
#   id: env_file_asked
fires contains "env_file_asked" if {
	data.reviewer.secrets.env_files == "ask"
	_reads_env_file
}

_reads_env_file if {
	"credential_adjacent" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	e.class == "env_file"
	e.kind == "file_read"
}

# METADATA
# title: System configuration read
# custom:
#   id: system_config_read
fires contains "system_config_read" if {
	data.reviewer.secrets.system_config == "ask"
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_read"
	_of_machine(e)
}

_of_machine(e) if e.class == "system_config"

_of_machine(e) if {
	e.location == "system"
	regex.match(`^(/private)?/etc(/|$)`, e.target)
}

_of_machine(e) if {
	e.class == "startup"
	e.location in {"system", "outside"}
}

_of_machine(e) if regex.match(`^/(root|var/root)/`, e.short)
