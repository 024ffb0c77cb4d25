package reviewer.spoken

# METADATA
# title: A credential store is touched
# custom:
#   id: credential_access
speaks contains "credential_access" if {
	"credential_adjacent" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	e.class == "credential"
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
