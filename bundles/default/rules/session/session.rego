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
	input.session.interventions != []
	intervention.exceeded != []
}

# METADATA
# title: Executed call differs from the reviewed call
# custom:
#   id: executed_differs
speaks contains "executed_differs" if "executed_differs" in input.facts
