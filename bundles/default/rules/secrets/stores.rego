package reviewer.families.secrets

import data.reviewer.effects

# METADATA
# title: Credentials exported from a secret store
# description: >-
#   Exports a whole store at once, or the token, key or login that identifies a person or a machine
#   elsewhere: secrets.exports lists the words.
# related_resources: ["https://attack.mitre.org/techniques/T1555/", "https://attack.mitre.org/techniques/T1528/"]
# custom:
#   severity: high
#   decision: ask
#   harm: exposure
#   tags: [essential, OWASP-ASI03, ATLAS-AML.T0055, ATTACK-T1555, ATTACK-T1528, SOC2-CC6.1]
#   message: "This exports the credentials of a person, a machine or a whole store: {command}"
#   remediation: use the program that is logged in (gh api, aws, kubectl), which needs no token in plain text
#   overridable: [organisation, user]
secret_store_export if {
	"credential_adjacent" in input.action.signals
	input.phase == "pre"
	not effects.file_of_secrets
	not _login_to_registry
	some c in input.action.commands
	some field in ["sub", "flags", "operands"]
	some word in c[field]
	word in data.reviewer.secrets.exports
}

# The token of a provider goes to the login of that provider's registry of images, and
# nowhere else: aws ecr get-login-password | docker login --password-stdin REGISTRY.
_login_to_registry if {
	count(input.action.commands) == 2
	not _keeps_file
	some c in input.action.commands
	c.name in data.reviewer.lists.image_clients
	"login" in c.sub
	some word in c.operands
	regex.match(_registries, word)
}

_keeps_file if {
	some e in input.action.effects
	e.kind == "file_write"
}

_registries := sprintf("^(https://)?(%s)(/|$)", [concat("|", data.reviewer.lists.image_registries)])
