# METADATA
# title: Scores
# description: >-
#   Risk, and the side effects that would remain. The formulas are here; every
#   number in them is data. A rule begins with a test on input.facts if it can: most
#   calls only read, and what cannot apply to them is skipped.
# scope: package
package reviewer.scores

import data.reviewer.effects
import data.reviewer.run

_cfg := data.reviewer.risk

# METADATA
# title: Risk
# description: clamp01(base + modifiers), rounded to 4 places, its level, and the factors that moved it.
risk := {"score": score, "level": level, "factors": sort(object.keys(object.remove(_modifiers, ["base"])))}

# METADATA
# title: Risk as a number from 0 to 1
score := _clamp(sum([m | some m in _modifiers]) * _together)

_clamp(raw) := 0 if {
	raw <= 0
} else := 1 if {
	raw >= 1
} else := to_number(sprintf("%.4f", [raw]))

default _together := 1

# Patterns that are worse in combination.
_together := run.factor if {
	some f in input.finding
	f.level
}

# METADATA
# title: Level of the risk
level := _level(score)

_level(s) := "minimal" if {
	s < _cfg.low_threshold
} else := "low" if {
	s < _cfg.medium_threshold
} else := "medium" if {
	s < _cfg.high_threshold
} else := "high" if {
	s < _cfg.critical_threshold
} else := "critical"

# METADATA
# title: Level of the risk of the call itself
# description: Without the factors that only describe the session before it (risk.soft).
own_level := _level(_clamp(sum([m | some m in object.remove(_modifiers, _cfg.soft)]) * _own_together)) if {
	_softened
} else := level

_softened if {
	some f in _cfg.soft
	_modifiers[f]
}

_softened if {
	"composite" in _cfg.soft
	_together != 1
}

_own_together := 1 if {
	"composite" in _cfg.soft
} else := _together

# METADATA
# title: The risk is near a boundary of its level
# description: The distance. A risk of 0 is near no boundary.
near_boundary := _distance if {
	score != 0
	_distance < data.reviewer.confidence.near_boundary
}

_distance := _cfg.low_threshold - score if {
	level == "minimal"
} else := min([score - _cfg.low_threshold, _cfg.medium_threshold - score]) if {
	level == "low"
} else := min([score - _cfg.medium_threshold, _cfg.high_threshold - score]) if {
	level == "medium"
} else := min([score - _cfg.high_threshold, _cfg.critical_threshold - score]) if {
	level == "high"
} else := score - _cfg.critical_threshold

# The highest of the action's types.
_modifiers["base"] := max([_cfg.base[t] | some t in input.action.types])

_modifiers["out_of_scope"] := _cfg.out_of_scope if out_of_scope

_modifiers["privileged"] := _cfg.privileged if "privileged" in input.facts

_modifiers["failed_before"] := _cfg.failed_similar[min([input.history.similar.failed, count(_cfg.failed_similar) - 1])] if {
	"failed_before" in input.facts
}

# A pattern that asks or blocks has a verdict of its own, so it does not raise the risk too.
_modifiers["active_pattern"] := max(_added) if {
	some f in input.finding
	f.level
	_added != []
}

_added := [_cfg.active_pattern[f.level] | some id, f in input.finding; not _decides(id)]

_decides(id) if data.reviewer.catalog[id].decision in {"modify", "ask", "block"}

_decides(id) if {
	some layer
	data.policies[layer].catalog[id].decision in {"modify", "ask", "block"}
}

# What the findings of other layers add.
_modifiers[concat(":", ["rule", id])] := amount if {
	some id, amount in _cfg.added
	_found(id)
}

_found(id) if id in input.findings

_found(id) if {
	some layer
	some f in data.policies[layer].findings
	f.id == id
}

_modifiers["reads_only"] := _cfg.reversibility.R0 if {
	"reads_only" in input.facts
	not out_of_scope
}

# The worst effect counts. Reversibility lowers the risk only in scope, and only if
# everything was analysed; an unknown one neither raises nor lowers it.
_modifiers["reversibility"] := m if {
	"changes" in input.facts
	m := max([object.get(_cfg.reversibility, s, 0) | some s in _steps])
	_counts(m)
}

_counts(m) if m > 0

_counts(m) if {
	m < 0
	not out_of_scope
	not "not_understood" in input.facts
}

# METADATA
# title: The action touches a path outside the session's scope
# description: If no scope is known, nothing is outside it.
out_of_scope if {
	"outside_workspace" in input.facts
	input.session.workspace != ""
	some e in input.action.effects
	_weighs(e)
	not in_scope(e)
}

# If an action does more than read, its reads do not show how much is lost: rules judge
# what leaves the machine (upload_outside, secret_egress).
_weighs(e) if e.kind != "file_read"

_weighs(_) if "reads_only" in input.facts

# METADATA
# title: An effect is in the session's scope
# description: Only paths have a scope.
# scope: document
in_scope(e) if e.location in data.reviewer.scope.locations

in_scope(e) if not e.location

# On other machines nothing is in the session's scope: reads there are ordinary, and
# changes count as in scope only if scope.hosts says so.
in_scope(e) if {
	e.host
	e.kind == "file_read"
}

in_scope(e) if own_host(e)

# A person added the place to the session's scope at a terminal.
in_scope(e) if e.scoped

in_scope(e) if allowed_place(e)

# A rule asks about it (delete_named).
in_scope(e) if ordered(e)

in_scope(e) if own_file(e)

in_scope(e) if cache(e)

# Data sent to a board at a serial port is not on a disk.
in_scope(e) if {
	e.kind == "file_write"
	e.location == "device"
	e.certainty == "exact"
	strings.any_prefix_match(e.target, data.reviewer.system.serial)
}

# METADATA
# title: A file outside the scope that did not exist before the session wrote it is deleted
# description: A person approved that write.
own_file(e) if {
	e.kind == "file_delete"
	e.location in {"outside", "home"}
	e.ledger == "created"
	e.certainty == "exact"
	not e.recursive
	not e.entry == "dir"
}

# METADATA
# title: A tool's cache is deleted
# description: The tool can download or build it again.
cache(e) if {
	e.kind == "file_delete"
	known_path(e)
	e.location in {"outside", "home"}
	some pattern in data.reviewer.scope.caches
	regex.match(pattern, e.short)
}

# METADATA
# title: The user asked by name to delete a file outside the scope
# description: One plain file whose path is fully known, while the request is to clean up.
ordered(e) if {
	e.kind == "file_delete"
	e.named
	"clean" in input.goal.intents
	e.location in {"outside", "home"}
	e.certainty == "exact"
	not e.class
	not e.recursive
	not e.entry == "dir"
}

# METADATA
# title: An effect is in a place that settings allow
# description: Besides the workspace, such as where the agent keeps its plans.
allowed_place(e) if {
	e.location in {"outside", "home", "beside"}
	known_path(e)
	below(e, data.reviewer.workspace.allowed)
}

# METADATA
# title: An effect is in one of several places
# description: A place may be written in short form or in full, or begin with {workspace}.
below(e, places) if strings.any_prefix_match(spellings(e), folders(places))

# METADATA
# title: The places as beginnings of paths
folders(places) := split(trim_suffix(replace(replace(listed, "/\u0000", "\u0000"), "\u0000", "/\u0000"), "\u0000"), "\u0000") if {
	places != []
	listed := replace(_listed("", array.concat(places, [""]), ""), "{workspace}", input.session.workspace)
}

# METADATA
# title: Each text of a list with something before and after it
# description: Without a loop over the list, whose cost would grow with the length of the list.
between(before, list, after) := split(_listed(before, list, after), "\u0000") if {
	list != []
}

# METADATA
# title: A text matches one of several patterns
# description: >-
#   As one pattern, since the cost of a loop would grow with the length of the list.
matches(text, patterns) if {
	patterns != []
	regex.match(concat("", ["(?:", concat(")|(?:", patterns), ")"]), text)
}

# METADATA
# title: A text is one of several, or ends in one after a separator
# description: Such as a host that is one of several, or a subdomain of one.
one_or_below(text, separator, list) if strings.any_suffix_match(concat("", [separator, text]), between(separator, list, ""))

# NUL separates the texts, since no path and no host has one.
_listed(before, list, after) := concat("", [before, concat(concat("", [after, "\u0000", before]), list), after])

# METADATA
# title: The forms of an effect's path
# description: In short form, and in full; either may be missing.
spellings(e) := [concat("", [trim_suffix(path, "/"), "/"]) | some field in ["short", "target"]; path := e[field]; path != ""]

# METADATA
# title: An effect happens in a local container or virtual machine
own_host(e) if strings.any_prefix_match(e.host, data.reviewer.scope.hosts)

# METADATA
# title: How far an effect can be undone
# description: >-
#   The classifier's fact, corrected by what the session itself did to the path and by
#   classes of files that a tool can regenerate; both only if the path is fully known.
step(e) := "R0" if {
	e.location == "null"
} else := s if {
	s := _cfg.ledger[e.ledger]
	known_path(e)
} else := _cfg.class.generated if {
	built(e)
} else := _cfg.class.generated if {
	e.kind == "system_call"
	e.object
	effects.rehearsal(e)
} else := _cfg.ledger.created if {
	made_by_call(e)
} else := _cfg.service if {
	_to_service(e)
} else := e.reversibility if {
	true
} else := s if {
	s := _cfg.class[e.class]
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
# title: The same call created the file that it deletes
made_by_call(e) if {
	e.kind == "file_delete"
	e.certainty == "exact"
	not e.recursive
	not e.reversibility
	some made in input.action.effects
	made.kind == "file_write"
	made.verb in {"write", "copy"}
	made.short == e.short
	made.certainty == "exact"
	made.command < e.command
	object.get(made, "exists", "no") == "no"
}

# Effects that leave something behind.
_changes := [e | some e in input.action.effects; e.kind != "file_read"]

# Another program in the same call undoes none of that: its known actions have effects
# of their own.
_steps := {step(e) | some e in _changes; e.kind != "process"}

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
} else := data.reviewer.side_effects.loopback if {
	e.loopback
} else := min([data.reviewer.side_effects.severity[e.kind] + 1, count(data.reviewer.side_effects.names) - 1]) if {
	e.kind in {"file_write", "file_delete"}
	step(e) in {"R4", "R5"}
	input.session.workspace != ""
	not in_scope(e)
} else := max(array.concat([data.reviewer.side_effects.severity[e.kind]], _least(e)))

# A device or a file of the system is worse than a file, and so is something deleted on another machine.
_least(e) := [n | n := data.reviewer.side_effects.locations[e.location]] if {
	e.kind in {"file_write", "file_delete"}
	not in_scope(e)
} else := [n | n := data.reviewer.side_effects.verbs[e.verb]] if {
	e.kind == "network"
} else := []

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
	some s in _steps
	not s in {"R0", "R1", "R2", "R3"}
}
