package reviewer.intervention

import data.reviewer.outcome

# Kinds that the organisation has defined. They are in a ladder as others are. A program or a webhook of
# theirs is started after the decision was recorded; what they do besides is what a built-in kind does, within
# the settings for that kind.

_own_kinds := object.get(_settings, "kinds", {})

_like := {"remind": "context_reinforcement", "limit": "resource_throttling", "restore": "checkpoint_rollback", "stop": "emergency_stop"}

# It starts a program or calls a webhook.
_tells(kind) if {
	some key, _ in _own_kinds[kind]
	not key in {"text", "does"}
}

_may_do(kind) := {what | some what in _own_kinds[kind].does; _allowed(what)}

_allowed("wait")

_allowed("stop")

_allowed(what) if _settings[_like[what]] == true

# The chosen kind asks for it.
_wants(what) if _like[what] == _kind

_wants(what) if what in _may_do(_kind)

# What the chosen kind does: neither what is left to a person nor what is not possible. A stop is chosen before (_stop).
_done contains what if {
	some what in ["remind", "limit"]
	_wants(what)
}

_done contains "restore" if _rolls_back

_done contains "wait" if {
	_wants("wait")
	data.reviewer.enforcement == "enforce"
}

_rolls_back if {
	_wants("restore")
	_restores
	not _rolled_back_enough
}

_restoring("checkpoint_rollback")

_restoring(kind) if "restore" in _own_kinds[kind].does

_does_of := {"does": [what | some what in ["remind", "limit", "wait", "restore"]; what in _done]} if {
	_own_kinds[_kind]
	_done != set()
} else := {}

_named_stop := {"kind": _kind, "does": ["stop"]} if {
	_own_kinds[_kind]
} else := {}

# METADATA
# title: A person is asked about the call
# description: Whatever the answer would be, it is a question at least.
holds if {
	input.phase == "pre"
	"wait" in chosen.does
}

# METADATA
# title: A person is asked about the call, since an issue was found after the call before it
awaited if {
	_settings.enabled
	some i in _run
	i.next
	i.agent == input.agent
	"wait" in _own_kinds[i.kind].does
}

# What was done is told whatever the kind's own text is.
_own_text := _placed(_own_told)

_own_told := data.reviewer.messages.denial if {
	outcome.enforced == "block"
} else := _own_kinds[chosen.kind].text if {
	true
} else := _texts.own if {
	_tells(chosen.kind)
} else := _texts.own_duties

_placed(text) := replace(text, "{duties}", _duties) if {
	contains(text, "{duties}")
} else := text if {
	_duties == ""
} else := concat("\n", [text, trim_space(_duties)])

_duties := concat("", [text | some what in ["remind", "limit", "wait", "restore", "stop"]; text := _duty(what)])

_duty("remind") := _texts.duties.remind if "remind" in _done

_duty("limit") := _texts.duties.limit if "limit" in _done

# A call whose files are restored does not run: nobody is asked about it unless that fails.
_duty("wait") := _texts.duties.wait if {
	outcome.enforced == "ask"
	not _rolls_back
}

_duty("wait") := _texts.duties.wait_next if {
	"wait" in _done
	input.phase != "pre"
}

_duty("restore") := _texts.duties.restore if {
	"restore" in _done
} else := _texts.duties.restore_offered if {
	chosen.checkpoint
} else := _texts.duties.restore_unsuitable if {
	_wants("restore")
	not _rolled_back_enough
}

_duty("stop") := _texts.duties.stop_offered if _wants("stop")
