package reviewer.spoken

# METADATA
# title: The action could not be understood
# description: A target that is not known has a rule of its own.
# custom:
#   id: not_understood
speaks contains "not_understood" if {
	"not_understood" in input.facts
	input.phase == "pre"
	some o in input.action.opaque
	o.reason in {"syntax", "command", "code", "budget", "encoding", "arguments"}
}

# METADATA
# title: A tool of which nothing is known, where nobody can be asked
# description: Only where tools.unknown says block.
# custom:
#   id: unknown_tool
speaks contains "unknown_tool" if {
	"not_understood" in input.facts
	input.phase == "pre"
	data.reviewer.tools.unknown == "block"
	input.event.mode in data.reviewer.unattended_modes
	some o in input.action.opaque
	o.reason == "tool"
}
