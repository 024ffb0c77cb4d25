package reviewer.fired

# What a review found after its call was answered (mode: async). The next call is told.

# METADATA
# title: Earlier call would have been blocked
# custom:
#   id: late_block
fires contains "late_block" if {
	input.phase == "pre"
	input.session.late.decision == "block"
}

# METADATA
# title: Earlier call would have needed approval
# custom:
#   id: late_ask
fires contains "late_ask" if {
	input.phase == "pre"
	input.session.late.decision in {"ask", "modify"}
}

# METADATA
# title: Warning about an earlier call
# custom:
#   id: late_warning
fires contains "late_warning" if {
	input.phase == "pre"
	input.session.late.decision == "warn"
}
