package reviewer.intervention

import data.reviewer.outcome

# Kinds that the organisation has defined. They are in a ladder as others are. A program or a webhook of
# theirs is started after the decision was recorded; what they do besides is what a built-in kind does, within
# the settings for that kind.

# METADATA
# title: The kinds that the organisation defines
own_kinds := object.get(settings, "kinds", {})

_like := {"remind": "context_reinforcement", "limit": "resource_throttling", "restore": "checkpoint_rollback", "stop": "emergency_stop"}

# METADATA
# title: A kind starts a program or calls a webhook
tells(kind) if {
	some key, _ in own_kinds[kind]
	not key in {"text", "does"}
}

# METADATA
# title: What a kind of the organisation may do
may_do(kind) := {what | some what in own_kinds[kind].does; _allowed(what)}

_allowed("wait")

_allowed("stop")

_allowed(what) if settings[_like[what]] == true

# METADATA
# title: The chosen kind asks for something
# scope: document
wants(what) if _like[what] == chosen_kind

wants(what) if what in may_do(chosen_kind)

# METADATA
# title: What the chosen kind does
# description: |-
#   Neither what is left to a person nor what is not possible. A stop is chosen before (_stop).
# scope: document
duties_done contains what if {
	some what in ["remind", "limit"]
	wants(what)
}

duties_done contains "restore" if _rolls_back

duties_done contains "wait" if {
	wants("wait")
	data.reviewer.enforcement == "enforce"
}

_rolls_back if {
	wants("restore")
	restores_files
	not rolled_back_enough
}

# METADATA
# title: A kind restores files
# scope: document
restoring("checkpoint_rollback")

restoring(kind) if "restore" in own_kinds[kind].does

# METADATA
# title: The duties in the record of the intervention
duties_of_chosen := {"does": [what | some what in ["remind", "limit", "wait", "restore"]; what in duties_done]} if {
	own_kinds[chosen_kind]
	duties_done != set()
} else := {}

# METADATA
# title: A stop by a kind of the organisation, as it is called
named_stop := {"kind": chosen_kind, "does": ["stop"]} if {
	own_kinds[chosen_kind]
} else := {}

# METADATA
# title: A person is asked about the call
# description: Whatever the answer would be, it is a question at least.
holds if {
	input.phase == "pre"
	"wait" in chosen.does
}

# METADATA
# title: A person is asked about the call, because an issue was found after the previous one
awaited if {
	settings.enabled
	some i in made
	i.next
	i.agent == input.agent
	"wait" in own_kinds[i.kind].does
}

# METADATA
# title: The text of a kind of the organisation
# description: |-
#   What was done is told whatever the kind's own text is.
own_text := _placed(_own_told)

_own_told := data.reviewer.messages.denial if {
	outcome.enforced == "block"
} else := own_kinds[chosen.kind].text if {
	true
} else := texts.own if {
	tells(chosen.kind)
} else := texts.own_duties

_placed(text) := replace(text, "{duties}", _duties) if {
	contains(text, "{duties}")
} else := text if {
	_duties == ""
} else := concat("\n", [text, trim_space(_duties)])

_duties := concat("", [text | some what in ["remind", "limit", "wait", "restore", "stop"]; text := _duty(what)])

_duty("remind") := texts.duties.remind if "remind" in duties_done

_duty("limit") := texts.duties.limit if "limit" in duties_done

# A call whose files are restored does not run: nobody is asked about it unless that fails.
_duty("wait") := texts.duties.wait if {
	outcome.enforced == "ask"
	not _rolls_back
}

_duty("wait") := texts.duties.wait_next if {
	"wait" in duties_done
	input.phase != "pre"
}

_duty("restore") := texts.duties.restore if {
	"restore" in duties_done
} else := texts.duties.restore_offered if {
	chosen.checkpoint
} else := texts.duties.restore_unsuitable if {
	wants("restore")
	not rolled_back_enough
}

_duty("stop") := texts.duties.stop_offered if wants("stop")
