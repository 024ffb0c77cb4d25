# METADATA
# title: Checkpoints
# description: >-
#   Decides before which calls the files of the workspace are stored. Only a call that is
#   proved to change no file is left out: what a command is expected to change does not
#   prove what it will change.
# scope: package
package reviewer.checkpoint

# METADATA
# title: Files are stored before the call runs
required if {
	data.reviewer.checkpoints.enabled
	data.reviewer.enabled
	input.phase == "pre"
	_may_change
}

_may_change if "not_understood" in input.facts

_may_change if {
	some e in input.action.effects
	e.kind in {"file_write", "file_delete"}
	not e.location == "null"
}

# A program that does more than read is not known well enough: what it starts, contacts
# or builds may write files as well.
_may_change if {
	input.action.commands != []
	some kind in input.kinds
	not kind in {"file_read", "file_write"}
}
