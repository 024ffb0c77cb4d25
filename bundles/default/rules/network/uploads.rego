package reviewer.families.network

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Upload of a whole home directory or more
# related_resources: ["https://attack.mitre.org/techniques/T1048/"]
# custom:
#   severity: critical
#   decision: block
#   harm: exposure
#   tags: [essential, OWASP-ASI03, ATLAS-AML.T0086, ATTACK-T1048, SOC2-CC6.7]
#   message: "This uploads a home directory, or a folder that contains the workspace, to {host}, with all secrets in it."
#   remediation: send only the one file that is needed
upload_broad if {
	"network_request" in input.action.types
	input.phase == "pre"
	some sent in input.action.effects
	effects.sends_away(sent)
	some e in input.action.effects
	e.kind == "file_read"
	e.recursive
	e.location in {"home_root", "root", "ancestor"}
	_goes_with(e, sent)
}

# METADATA
# title: Upload of a file from outside the workspace
# related_resources: ["https://attack.mitre.org/techniques/T1048/"]
# custom:
#   severity: high
#   decision: ask
#   harm: exposure
#   tags: [OWASP-ASI03, ATLAS-AML.T0086, ATTACK-T1048, SOC2-CC6.7]
#   message: "This sends files from outside the workspace {workspace} to {host}: {command}"
#   remediation: send only files of the workspace, or let the user send it
#   overridable: [organisation, user]
upload_outside if {
	"network_request" in input.action.types
	input.phase == "pre"
	input.session.workspace != ""
	some sent in input.action.effects
	effects.sends_away(sent)
	some e in input.action.effects
	e.kind == "file_read"
	not scores.in_scope(e)
	e.command == sent.command
}

# The same command reads and sends, or one passes on what another has read.
_goes_with(e, sent) if e.command == sent.command

_goes_with(_, _) if "pipe_to_external" in input.action.signals
