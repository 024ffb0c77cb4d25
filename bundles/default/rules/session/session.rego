package reviewer.fired

import data.reviewer.intervention

# METADATA
# title: Session stopped
# custom:
#   id: session_stopped
fires contains "session_stopped" if {
	"stopped" in input.facts
	not intervention.spared
}

# METADATA
# title: Prompt in a stopped session
# custom:
#   id: stopped_prompt
fires contains "stopped_prompt" if {
	"stopped" in input.facts
	input.phase == "prompt"
}

# METADATA
# title: Too many file operations for one prompt
# custom:
#   id: limit_file_operations
fires contains "limit_file_operations" if {
	"changes_files" in input.facts
	input.phase == "pre"
	input.session.file_ops > data.reviewer.resources.max_file_operations
}

# METADATA
# title: Too many output tokens for one prompt
# custom:
#   id: limit_tokens
fires contains "limit_tokens" if {
	input.phase in {"pre", "post"}
	_used_up("limit_tokens", "tokens", data.reviewer.resources.max_token_usage, 1, input.event.usage.tokens)
}

# METADATA
# title: Long run time for one prompt
# custom:
#   id: limit_time
fires contains "limit_time" if {
	input.phase == "post"
	not "message" in input.action.types
	not "agent_spawn" in input.action.types
	most := data.reviewer.resources.max_execution_time_seconds * 1000
	_used_up("limit_time", "busy", most, data.reviewer.resources.time_multiple, input.event.result.ms)
}

# The number was used up again since the session was last told. The session is first told when a
# multiple of the number was used since the prompt.
_used_up(id, what, most, _, _) if {
	_acts_on_limits
	object.get(_last_told(id), what, 0) >= most
}

_used_up(id, what, most, first, _) if {
	_acts_on_limits
	not _last_told(id)
	object.get(input.session, what, 0) >= most * first
}

# If interventions are disabled, what the session was told is not recorded; then only the
# event that reaches another multiple of the number counts.
_used_up(_, what, most, first, added) if {
	not _acts_on_limits
	now := input.session[what]
	floor(now / most) >= first
	floor(now / most) > floor((now - added) / most)
}

_acts_on_limits if {
	data.reviewer.interventions.enabled
	data.reviewer.enforcement != "observe"
}

_last_told(id) := about[count(about) - 1] if {
	about := [i | some i in input.session.interventions; i.run; i.issue == id]
	about != []
}

# METADATA
# title: Limit of a throttled session
# custom:
#   id: throttled
fires contains "throttled" if {
	input.phase == "pre"
	_has_limits
	intervention.exceeded != []
}

_has_limits if input.session.interventions != []

_has_limits if input.session.resumed == "limits"

# METADATA
# title: Tool denied in a session that was resumed with limits
# custom:
#   id: resumed_with_limits
fires contains "resumed_with_limits" if {
	input.phase == "pre"
	input.session.resumed == "limits"
	input.event.tool in data.reviewer.interventions.resume.dangerous_tools
}

# METADATA
# title: Change in a supervised session
# custom:
#   id: supervised
fires contains "supervised" if {
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
fires contains "files_restored" if {
	input.phase == "pre"
	input.session.restored
}

# METADATA
# title: Executed call differs from the reviewed call
# custom:
#   id: executed_differs
fires contains "executed_differs" if "executed_differs" in input.facts
