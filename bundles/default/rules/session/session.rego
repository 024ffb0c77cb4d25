package reviewer.spoken

import data.reviewer.intervention

# METADATA
# title: Session stopped
# custom:
#   id: session_stopped
speaks contains "session_stopped" if "stopped" in input.facts

# METADATA
# title: Too many file operations for one prompt
# custom:
#   id: limit_file_operations
speaks contains "limit_file_operations" if {
	"changes_files" in input.facts
	input.phase == "pre"
	input.session.file_ops > data.reviewer.resources.max_file_operations
}

# METADATA
# title: Limit of a throttled session
# custom:
#   id: throttled
speaks contains "throttled" if {
	input.phase == "pre"
	_has_limits
	intervention.exceeded != []
}

_has_limits if input.session.interventions != []

_has_limits if input.session.resumed == "limits"

# METADATA
# title: Tool that a session resumed with limits may not use
# custom:
#   id: resumed_with_limits
speaks contains "resumed_with_limits" if {
	input.phase == "pre"
	input.session.resumed == "limits"
	input.event.tool in data.reviewer.interventions.resume.dangerous_tools
}

# METADATA
# title: Change in a supervised session
# custom:
#   id: supervised
speaks contains "supervised" if {
	input.phase == "pre"
	input.session.resumed == "supervise"
	_does_more
}

_does_more if "not_understood" in input.facts

_does_more if {
	some t in input.action.types
	not t in data.reviewer.interventions.resume.unsupervised
}

_does_more if {
	some e in input.action.effects
	e.kind != "file_read"
}

# METADATA
# title: Files were restored
# custom:
#   id: files_restored
speaks contains "files_restored" if {
	input.phase == "pre"
	input.session.restored
}

# METADATA
# title: Executed call differs from the reviewed call
# custom:
#   id: executed_differs
speaks contains "executed_differs" if "executed_differs" in input.facts
