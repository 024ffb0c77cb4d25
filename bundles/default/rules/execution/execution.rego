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
