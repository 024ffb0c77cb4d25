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

# METADATA
# title: Code that the session wrote, and that would be asked about or blocked, may run
# custom:
#   id: written_code
speaks contains "written_code" if {
	"inherits" in input.facts
	input.phase == "pre"
	count(objectionable_code) > 0
}

# METADATA
# title: Code of the session that a call may run and that is asked about
objectionable_code contains w if {
	some w in input.action.inherits
	w.named
}

objectionable_code contains w if {
	some w in input.action.inherits
	w.rules == []
}

objectionable_code contains w if {
	some w in input.action.inherits
	some id in w.rules
	not id in data.reviewer.code.by_name
}
