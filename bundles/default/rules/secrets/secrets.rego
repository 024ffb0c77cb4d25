package reviewer.families.secrets

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Credential file accessed
# related_resources: ["https://attack.mitre.org/techniques/T1552/"]
# custom:
#   severity: high
#   decision: ask
#   harm: exposure
#   tags: [essential, OWASP-ASI03, ATLAS-AML.T0055, ATTACK-T1552, SOC2-CC6.1]
#   message: "This reads or changes a credential file: {command}"
#   remediation: use the tool that owns the credential (ssh-agent, the cloud's CLI) without printing it
#   overridable: [organisation, user]
credential_access if {
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

_keeps(e) if effects.closes_key(e)

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
# description: Lists folders of keys and reads none of the keys.
# related_resources: ["https://attack.mitre.org/techniques/T1083/"]
# custom:
#   severity: low
#   decision: warn
#   tags: [OWASP-ASI03, ATTACK-T1083, SOC2-CC6.1]
#   message: "This lists where credentials are stored: {command}"
#   remediation: look only at the names, and leave the contents to the tool that owns them
#   overridable: [organisation, user, project]
credential_names if {
	"credential_adjacent" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	e.class == "credential"
	_listed(e)
}

# A key that this session made in the workspace, such as one for development.
_keeps(e) if {
	e.ledger == "created"
	_in_workspace(e)
}

_keeps(e) if {
	_in_workspace(e)
	some made in input.action.effects
	made.kind == "file_write"
	made.verb in {"write", "create"}
	made.short == e.short
	made.exists == "no"
	made.command < e.command
}

_in_workspace(e) if {
	e.certainty == "exact"
	e.location == "inside"
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
# related_resources: ["https://attack.mitre.org/techniques/T1552/"]
# custom:
#   severity: medium
#   decision: warn
#   tags: [OWASP-ASI03, ATLAS-AML.T0055, ATTACK-T1552, SOC2-CC6.1]
#   message: This reads an environment file, which usually contains secrets. Do not repeat its values.
#   remediation: read the example (`cat .env.example`), or only the names of the variables
#   overridable: [organisation, user, project]
env_file_read if {
	data.reviewer.secrets.env_files == "warn"
	_reads_env_file
}

# METADATA
# title: Environment file with secrets read (asks)
# description: Like env_file_read, where secrets.env_files is ask.
# related_resources: ["https://attack.mitre.org/techniques/T1552/"]
# custom:
#   severity: medium
#   decision: ask
#   harm: exposure
#   tags: [OWASP-ASI03, ATLAS-AML.T0055, ATTACK-T1552, SOC2-CC6.1]
#   message: "This reads an environment file, which usually contains secrets: {command}"
#   remediation: read the example (`cat .env.example`), or only the names of the variables
#   overridable: [organisation, user]
env_file_asked if {
	data.reviewer.secrets.env_files == "ask"
	_reads_env_file
}

_reads_env_file if {
	"credential_adjacent" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	e.class == "env_file"
	e.kind == "file_read"
	not _only_measured(e)
}

# Names, sizes and counts are not secret, unless what is listed is read in its turn.
_only_measured(e) if {
	e.verb == "list"
	not _read_in_turn
}

_read_in_turn if {
	some e in input.action.effects
	e.kind == "file_read"
	e.certainty in {"unknown", "prefix"}
}

# METADATA
# title: System configuration read
# description: >-
#   Fires if secrets.system_config is ask, for files under /etc or /root and for other users'
#   start-up files.
# related_resources: ["https://attack.mitre.org/techniques/T1082/"]
# custom:
#   severity: medium
#   decision: ask
#   harm: exposure
#   tags: [OWASP-ASI03, ATTACK-T1082, SOC2-CC6.1]
#   message: "This reads the configuration of the machine, or the start-up files of another user's shell: {command}"
#   remediation: look up only the one fact that you need, such as a version (`uname -a`)
#   overridable: [organisation, user]
system_config_read if {
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
