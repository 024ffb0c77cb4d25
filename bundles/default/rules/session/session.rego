package reviewer.families.session

import data.reviewer.intervention

# METADATA
# title: Session stopped
# description: >-
#   A stop applies to every call until a person resumes the session. Once a person has written, reads of
#   files in the workspace pass (interventions.stops.reads).
# custom:
#   severity: critical
#   decision: block
#   harm: closed
#   limit: true
#   always: true
#   tags: [essential, OWASP-ASI10]
#   message: This session was stopped.
#   remediation: wait for a person to resume the session
session_stopped if {
	"stopped" in input.facts
	not intervention.spared
}

# METADATA
# title: Prompt in a stopped session
# description: A person's prompt passes, and they and the agent are told that the session is stopped, and why.
# custom:
#   severity: medium
#   decision: warn
#   always: true
#   tags: [OWASP-ASI10]
#   message: This session is stopped.
#   remediation: answer without tools, and tell the user where you stopped and what is left
stopped_prompt if {
	"stopped" in input.facts
	input.phase == "prompt"
}

# METADATA
# title: Too many file operations for one prompt
# custom:
#   severity: high
#   decision: block
#   harm: closed
#   limit: true
#   tags: [essential, OWASP-ASI08]
#   message: "File operation limit exceeded: {operations} writes and deletions since the last prompt."
#   remediation: stop here, say what is done and what is left, and ask the user whether to continue
#   overridable: [organisation, user]
limit_file_operations if {
	"changes_files" in input.facts
	input.phase == "pre"
	input.session.file_ops > data.reviewer.resources.max_file_operations
}

# METADATA
# title: Too many output tokens for one prompt
# description: >-
#   Since the prompt, the model has written resources.max_token_usage tokens, according to the agent's
#   own record of the session. Fires at each multiple.
# custom:
#   severity: medium
#   decision: warn
#   tags: [essential, OWASP-ASI08]
#   message: "The work on this prompt has used {tokens} output tokens."
#   remediation: finish the current step, say what is done and what is left, and ask the user whether to continue
#   overridable: [organisation, user]
limit_tokens if {
	input.phase in {"pre", "post"}
	_used_up("tokens", data.reviewer.resources.max_token_usage, 1, input.event.usage.tokens)
}

# METADATA
# title: Long run time for one prompt
# description: >-
#   Since the prompt, calls have taken resources.time_multiple times resources.max_execution_time_seconds.
#   Fires at this and each further multiple. Messages and sub-agents do not count.
# custom:
#   severity: medium
#   decision: warn
#   tags: [essential, OWASP-ASI08]
#   message: "The calls for this prompt have run for {seconds} seconds."
#   remediation: run only what the next step needs, such as one test instead of all, and run long tasks in the background
#   overridable: [organisation, user]
limit_time if {
	input.phase == "post"
	not "message" in input.action.types
	not "agent_spawn" in input.action.types
	most := data.reviewer.resources.max_execution_time_seconds * 1000
	_used_up("busy", most, data.reviewer.resources.time_multiple, input.event.result.ms)
}

# This event reached another multiple of the number, whatever was told before.
_used_up(what, most, first, added) if {
	now := input.session[what]
	floor(now / most) >= first
	floor(now / most) > floor((now - added) / most)
}

# METADATA
# title: Limit of a throttled session
# description: >-
#   The session was throttled after the last prompt, or resumed with limits, and this call exceeds
#   one of its limits (interventions.limits). Calls that were denied do not count.
# custom:
#   severity: high
#   decision: block
#   harm: closed
#   limit: true
#   tags: [essential, OWASP-ASI08]
#   message: "The session is throttled, and this call exceeds its limit of {limits}."
#   remediation: take fewer and smaller steps, wait a minute, or say what is left and ask the user whether to continue
#   overridable: [organisation, user]
throttled if {
	input.phase == "pre"
	_has_limits
	intervention.exceeded != []
}

_has_limits if input.session.interventions != []

_has_limits if input.session.resumed == "limits"

# METADATA
# title: Call after an issue for which a person is asked
# description: >-
#   After the agent's latest call an issue was found, for which the organisation's own kind of intervention has a
#   person asked (interventions.kinds, does: [wait]). Only the next call waits.
# custom:
#   severity: medium
#   decision: ask
#   harm: closed
#   tags: [OWASP-ASI10]
#   message: "An issue was found after the last call, so a person is asked about this one."
#   remediation: say what you have tried and what this call is for, and wait for the answer
waits_for_person if {
	input.phase == "pre"
	input.session.interventions != []
	intervention.awaited
}

# METADATA
# title: Tool denied in a session that was resumed with limits
# description: >-
#   A person resumed the session with `reviewer session resume --limits`, and the tool is
#   one of interventions.resume.dangerous_tools. Limits apply as in a throttled session.
# custom:
#   severity: high
#   decision: block
#   harm: closed
#   limit: true
#   always: true
#   tags: [essential, OWASP-ASI10]
#   message: "This session was resumed with limits and may not use the tool {tool}."
#   remediation: do the work in this session, step by step
resumed_with_limits if {
	input.phase == "pre"
	input.session.resumed == "limits"
	input.event.tool in data.reviewer.interventions.resume.dangerous_tools
}

# METADATA
# title: Change in a supervised session
# description: >-
#   A person resumed the session with `reviewer session resume --supervise`: every call that
#   does more than read is asked about (except those in interventions.resume.unsupervised).
# custom:
#   severity: high
#   decision: ask
#   harm: closed
#   always: true
#   tags: [essential, OWASP-ASI10]
#   message: "This session was resumed on condition that each change is approved."
#   remediation: say what the change is for, and make it as small as you can
supervised if {
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
# description: >-
#   A person restored files of the workspace to a checkpoint (`reviewer checkpoint restore`,
#   `reviewer session rollback`) since the last call. Only the next call gets this message.
# custom:
#   severity: medium
#   decision: warn
#   always: true
#   tags: [OWASP-ASI10]
#   message: "A person restored files of the workspace to an earlier state: later changes to them are undone."
#   remediation: read files again before you change them, and do not repeat the undone changes; try another approach
files_restored if {
	input.phase == "pre"
	input.session.restored
}

# METADATA
# title: Executed call differs from the reviewed call
# description: Another hook or the agent changed the arguments after the review.
# custom:
#   severity: critical
#   decision: warn
#   always: true
#   tags: [essential, OWASP-ASI02]
#   message: "The call that ran ({command}) is not the call that was reviewed: another hook or the agent changed it."
#   remediation: tell the user which hooks are installed; `reviewer doctor` lists them
executed_differs if "executed_differs" in input.facts
