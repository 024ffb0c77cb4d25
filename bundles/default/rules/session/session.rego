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
	_used_up("tokens", data.reviewer.resources.max_token_usage, 1, input.event.usage.tokens)
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
# title: Call after an issue for which a person is asked
# custom:
#   id: waits_for_person
fires contains "waits_for_person" if {
	input.phase == "pre"
	input.session.interventions != []
	intervention.awaited
}

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
