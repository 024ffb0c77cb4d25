# METADATA
# title: Saving
# description: >-
#   Which calls run because the files that they destroy are stored first. All contents that are lost have to be known, on
#   this machine, and lost while the call itself runs. Some are counted before; whether all of them fit the limits of the
#   setting save is known when they are stored. If they do not, the rules give their own answer.
# scope: package
package reviewer.saving

import data.reviewer.families.workspace
import data.reviewer.fired
import data.reviewer.scores

_cfg := data.reviewer.save

# METADATA
# title: A rule's objection is met by saving
# scope: document
answers(r) if {
	r.id in _cfg.rules
	r.mode == "enforce"
	possible
	_about_contents(r)
}

# A rule about places objects to more than a loss, unless all of these places are open.
_about_contents(r) if not r.id in _cfg.places

_about_contents(r) if {
	r.id in _cfg.places
	every e in input.action.effects { _open(e) }
}

_open(e) if not workspace.outside_place(e)

_open(e) if scores.open_kind(e)

# METADATA
# title: Some rule's objection is met by saving
used if {
	possible
	some r in fired.rules
	answers(r)
}

# METADATA
# title: All files that the call destroys can be saved
possible if {
	_cfg.mode == "on"
	input.phase == "pre"
	data.reviewer.enabled
	not "not_understood" in input.facts
	losses != []
	every i in losses { _savable(input.action.effects[i]) }
	sum([object.get(input.action.effects[i], "held_files", 0) | some i in losses]) <= _cfg.max_files
	sum([object.get(input.action.effects[i], "held_bytes", 0) | some i in losses]) <= _cfg.max_bytes
	not _later
	not _other_loss
	every r in fired.rules { _same_call(r) }
}

# What is moved there as root takes the place of the device.
_other_loss if {
	some e in input.action.effects
	e.verb == "move"
	some word in object.get(input.action.commands[e.command], "operands", [])
	startswith(word, "/dev/")
}

# A stash is not a file.
_other_loss if {
	some e in input.action.effects
	e.verb == "discard"
	not e.kind in {"file_write", "file_delete"}
	not e.git == "clean"
}

# METADATA
# title: The effects that destroy contents of files
# description: By their index in the action. What git has, what a tool makes again and what is not there is no loss.
losses := [i |
	some i, e in input.action.effects
	e.kind in {"file_write", "file_delete"}
	_destroys(e)
]

_destroys(e) if {
	not e.exists == "no"
	not e.verb in _cfg.keeps
	not e.location == "null"
	not e.class == "generated"
	not e.git == "clean"
}

# A call that runs in another form does not do what was saved for.
_same_call(r) if r.decision != "modify"

_same_call(r) if r.id in _cfg.rules

_savable(e) if {
	_in_reach(e)
	scores.known_path(e)
	not _everything(e)
	not _whole_tree(e)
	not e.host
	not e.guard
	not e.privileged
	not e.repository
	not object.get(e, "class", "") in _cfg.not_classes
	not _wiped(e)
}

_in_reach(e) if e.location in _cfg.locations

# Outside the workspace: what the person's words name, and documents.
_in_reach(e) if scores.open_kind(e)

_in_reach(e) if scores.ordered(e)

# The workspace as a whole. What git discards there is only what it does not have.
_everything(e) if {
	e.location == "self"
	e.verb != "discard"
}

# A working tree of git is more than its files.
_whole_tree(e) if {
	e.kind == "file_delete"
	e.verb == "discard"
	e.recursive
	e.certainty == "exact"
}

_wiped(e) if input.action.commands[e.command].name in _cfg.wipes

_wiped(e) if {
	c := input.action.commands[e.command]
	some option in object.get(c, "options", object.get(c, "flags", []))
	concat(" ", [c.name, option]) in _cfg.wipes
}

# Something else could change the files until they are destroyed.
_later if input.action.waits

_later if input.action.terminals

_later if {
	some i in losses
	some how in object.get(input.action.commands[input.action.effects[i].command], "via", [])
	how in _cfg.later
}

_later if {
	some e in input.action.effects
	e.persistence
}

_later if {
	some started in input.action.starts
	some i in losses
	some program in _programs(input.action.effects[i])
	program in object.get(started, "programs", [])
}

_later if {
	some started in input.action.starts
	count(object.get(started, "programs", [])) == 0
}

# A link that the call makes could lead out of the workspace.
_later if {
	some e in input.action.effects
	e.verb == "link"
	e.kind == "file_write"
	not e.exists == "yes"
}

# The program, and those that start it.
_programs(e) := array.concat([c.name], object.get(c, "wrappers", [])) if c := input.action.commands[e.command]
