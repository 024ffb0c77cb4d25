package reviewer.scores

import data.reviewer.effects

# METADATA
# title: How far an effect can be undone
# description: >-
#   The classifier's fact, corrected by what the session itself did to the path and by
#   classes of files that a tool can regenerate; both only if the path is fully known.
step(e) := "R0" if {
	e.location == "null"
} else := s if {
	s := data.reviewer.risk.ledger[e.ledger]
	known_path(e)
} else := data.reviewer.risk.class.generated if {
	built(e)
} else := data.reviewer.risk.class.generated if {
	e.kind == "system_call"
	e.object
	effects.rehearsal(e)
} else := data.reviewer.risk.ledger.created if {
	effects.made_here(e)
} else := data.reviewer.risk.ledger.created if {
	made_by_call(e)
} else := data.reviewer.risk.service if {
	_to_service(e)
} else := e.reversibility if {
	true
} else := s if {
	s := data.reviewer.risk.class[e.class]
	known_path(e)
} else := "unknown"

# METADATA
# title: Build output that only its neighbour identifies is deleted
# description: >-
#   Such as `bin`, which by itself may hold scripts, together with `obj` next to it.
#   Files that git does not ignore are judged by their state in git.
# scope: document
built(e) if {
	e.kind == "file_delete"
	known_path(e)
	object.get(e, "git", "ignored") == "ignored"
	some pair in data.reviewer.scope.built_with
	[name, neighbour] := split(pair, " ")
	endswith(e.short, concat("", ["/", name]))
	some other in input.action.effects
	other.kind == "file_delete"
	other.short == concat("", [trim_suffix(e.short, name), neighbour])
}

built(e) if cache(e)

# What goes to the service that hosts the repository, and replaces nothing, can be
# undone there.
_to_service(e) if {
	e.reversibility == "R5"
	e.kind == "network"
	e.verb == "send"
	not e.forced
	not e.object
	e.target in data.reviewer.hosts.repository
}

# METADATA
# title: The same call created the file that it deletes or moves away
made_by_call(e) if {
	e.kind == "file_delete"
	e.certainty == "exact"
	not e.reversibility
	some made in input.action.effects
	made.kind == "file_write"
	_makes_file(made, e)
	made.short == e.short
	made.certainty == "exact"
	made.command < e.command
	object.get(made, "exists", "no") == "no"
}

# What is written is a file. A copy may be of a folder to which something else was added since.
_makes_file(made, _) if made.verb == "write"

_makes_file(made, e) if {
	made.verb == "copy"
	not e.recursive
}

# Effects that leave something behind.
_changes := [e | some e in input.action.effects; e.kind != "file_read"]

# METADATA
# title: How far what the call leaves behind can be undone
# description: >-
#   Another program in the same call undoes none of that: its known actions have effects of their own.
steps := {step(e) | some e in _changes; e.kind != "process"}

# METADATA
# title: An effect's path is fully known
# description: Otherwise the worst is assumed; a known beginning may continue with `/../..`.
known_path(e) if e.certainty in {"exact", "glob"}

# METADATA
# title: Everything the action does is known, reversible, in scope, and sends nothing
contained if {
	not "not_understood" in input.facts
	not "unknown" in input.action.types
	not "secret_out" in input.facts
	every e in input.action.effects {
		known_path(e)
		in_scope(e)
		not e.egress
		_undone(e)
	}
}

_undone(e) if e.kind in {"file_read", "process"}

_undone(e) if step(e) in {"R0", "R1", "R2", "R3"}

# METADATA
# title: The action only queries services, and reads
asks_service if {
	"network_request" in input.action.types
	not "not_understood" in input.facts
	every e in input.action.effects {
		_only_asks(e)
	}
}

_only_asks(e) if e.kind == "file_read"

_only_asks(e) if {
	e.kind == "network"
	e.verb == "fetch"
	not e.egress
}

# METADATA
# title: Side effects
# description: >-
#   The worst severity, that of each effect in the order of the action's effects,
#   whether everything is reversible, and the kinds of effects.
side_effects := {
	"severity": data.reviewer.side_effects.names[worst],
	"severities": [data.reviewer.side_effects.names[_left(e)] | some e in input.action.effects],
	"reversible": _reversible,
	"kinds": kinds,
} if {
	"changes" in input.facts
} else := {"severity": "none", "reversible": true}

# METADATA
# title: Safer ways by kind of side effect
mitigations := [m | some k in kinds; m := data.reviewer.side_effects.mitigations[k]]

# METADATA
# title: Severity of the side effects as a number
# description: 0 none to 4 critical.
# scope: document
default worst := 0

worst := max([_severity(e) | some e in _changes]) if "changes" in input.facts

# Reads leave nothing behind.
_left(e) := 0 if {
	e.kind == "file_read"
} else := _severity(e)

_severity(e) := 0 if {
	e.location == "null"
} else := data.reviewer.side_effects.critical if {
	e.kind in {"file_write", "file_delete"}
	in_zone(e)
	not effects.closes_key(e)
} else := data.reviewer.side_effects.loopback if {
	e.loopback
} else := min([data.reviewer.side_effects.severity[e.kind] + 1, count(data.reviewer.side_effects.names) - 1]) if {
	e.kind in {"file_write", "file_delete"}
	step(e) in {"R4", "R5"}
	input.session.workspace != ""
	not in_scope(e)
} else := max([data.reviewer.side_effects.severity[e.kind], least]) if {
	least := _least(e)
} else := data.reviewer.side_effects.severity[e.kind]

# A device or a file of the system is worse than a file, and so is something deleted on another machine.
_least(e) := data.reviewer.side_effects.verbs[e.verb] if e.kind == "network"

_least(e) := data.reviewer.side_effects.locations[e.location] if {
	e.kind in {"file_write", "file_delete"}
	not in_scope(e)
}

# METADATA
# title: An effect is in a protected zone
# scope: document
in_zone(e) if strings.any_prefix_match(concat("", [e.short, "/"]), data.reviewer.zones)

# A folder that contains a zone is affected with it.
in_zone(e) if {
	e.recursive
	strings.any_prefix_match(data.reviewer.zones, concat("", [trim_suffix(e.short, "/"), "/"]))
}

# METADATA
# title: Kinds of effects that leave something behind
# scope: document
default kinds := []

kinds := sort({e.kind | some e in _changes}) if "changes" in input.facts

default _reversible := true

_reversible := false if {
	some s in steps
	not s in {"R0", "R1", "R2", "R3"}
}
