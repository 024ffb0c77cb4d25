package reviewer.spoken

# METADATA
# title: Credentials exported from a secret store
# custom:
#   id: secret_store_export
speaks contains "secret_store_export" if {
	"credential_adjacent" in input.action.signals
	input.phase == "pre"
	not _file_of_secrets
	some c in input.action.commands
	some field in ["sub", "flags", "operands"]
	some word in c[field]
	word in data.reviewer.secrets.exports
}

# A file that holds secrets has rules of its own.
_file_of_secrets if {
	some e in input.action.effects
	e.class in {"credential", "env_file"}
}
