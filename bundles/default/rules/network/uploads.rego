package reviewer.fired

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Upload of a whole home directory or more
# custom:
#   id: upload_broad
fires contains "upload_broad" if {
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
# custom:
#   id: upload_outside
fires contains "upload_outside" if {
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
