package reviewer.families.session

# What a review found after its call was answered (mode: async). The next call is told.

# METADATA
# title: Earlier call would have been blocked
# description: >-
#   In mode async a call was answered before its review, and the review failed or would have denied it.
#   Only the next call is denied for it.
# custom:
#   severity: high
#   decision: block
#   harm: closed
#   tags: [essential, OWASP-ASI10]
#   message: "An earlier call ran before its review was finished, and the review would have blocked it ({late}): {late_reason}"
#   remediation: undo what that call did if you can, tell the user about it, and do not repeat it
#   overridable: [organisation, user]
late_block if {
	input.phase == "pre"
	input.session.late.decision == "block"
}

# METADATA
# title: Earlier call would have needed approval
# description: >-
#   In mode async a call was answered before its review, which would have asked a person, or
#   changed the call.
# custom:
#   severity: medium
#   decision: ask
#   harm: closed
#   tags: [OWASP-ASI10]
#   message: "An earlier call ran before its review was finished, and the review would have asked about it or changed it ({late}): {late_reason}"
#   remediation: tell the user what that call did, and ask whether it should stay
#   overridable: [organisation, user]
late_ask if {
	input.phase == "pre"
	input.session.late.decision in {"ask", "modify"}
}

# METADATA
# title: Warning about an earlier call
# description: In mode async a call was answered before its review, which has a warning about it.
# custom:
#   severity: low
#   decision: warn
#   tags: [OWASP-ASI10]
#   message: "Warning about an earlier call ({late}): {late_reason}"
#   remediation: take the warning into account from now on
#   overridable: [organisation, user]
late_warning if {
	input.phase == "pre"
	input.session.late.decision == "warn"
}
