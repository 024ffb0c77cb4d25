# METADATA
# title: Review rules
# description: >-
#   Which rules fired. A rule is a row of the catalogue (rules/**): in YAML, or in the METADATA of
#   a rule in Rego. It fires if its condition is among the findings, or if its rule in Rego is true.
#   Other layers add findings and exceptions of their own.
# scope: package
package reviewer.fired

import data.reviewer.access
import data.reviewer.firing
import data.reviewer.run

_order := {"block": 0, "ask": 1, "modify": 2, "warn": 3, "allow": 4}

_severity := {"critical": 0, "high": 1, "medium": 2, "low": 3}

# METADATA
# title: The rules that fired, strictest first
# description: >-
#   Among equally strict rules, those about what the call does come before one that only
#   reports that it was denied in another form; among those, the most severe comes first.
rules := [k[4] | some k in sort(_keyed)]

_keyed contains _key(_result(id, data.reviewer.catalog[id])) if some id in _ids

_keyed contains _key(_firm(layer, row, _result(id, row))) if {
	some id in input.findings
	some layer
	row := data.policies[layer].catalog[id]
	row.decision
	_applies(row)
	not run.told(id, row)
}

# A layer's Rego may fire a row of its catalogue, or provide the whole rule itself.
_keyed contains _key(_firm(layer, row, _result(id, row))) if {
	some layer
	some f in data.policies[layer].findings
	id := object.get(f, "id", concat(".", [layer, "unnamed"]))
	row := object.union(_row(layer, id), f)
	_applies(row)
}

# Access lists of all layers.
_keyed contains _key(object.union(r, {"mode": _mode(r)})) if {
	data.reviewer.enabled
	some r in access.results
}

_applies(row) if row.always

_applies(row) if {
	data.reviewer.enabled
	not _excepted(row)
}

# METADATA
# title: What a user cannot allow
# description: >-
#   Rules of the organisation's layer, unless it lets users make exceptions. Built-in
#   rules that always apply need no entry here.
_firm("organisation", row, r) := object.union(r, {"firm": true}) if {
	not "user" in object.get(row, "overridable", [])
} else := r

_firm(layer, _, r) := r if layer != "organisation"

_key(r) := [_order[r.decision], _echo(r.id), object.get(_severity, r.severity, 0), r.id, r]

_echo("deny_workaround") := 1

_echo(id) := 0 if id != "deny_workaround"

_row(layer, id) := data.policies[layer].catalog[id] if {
	true
} else := {}

_ids contains id if {
	some id in firing.ids
	_enabled(id)
}

_ids contains id if {
	some id in input.findings
	data.reviewer.catalog[id].decision
	_enabled(id)
	not run.told(id, data.reviewer.catalog[id])
}

_result(id, row) := {
	"id": id,
	"decision": _verdict(row),
	"severity": object.get(row, "severity", "medium"),
	"message": object.get(row, "message", id),
	"mode": _mode(row),
	"remediation": object.get(row, "remediation", ""),
	"firm": object.get(row, "always", false),
	"harm": harm_of(object.get(row, "harm", "closed")),
	"limit": _is_limit(row),
	"unattended": object.get(row, "unattended", ""),
}

# METADATA
# title: Harm by today's word
# description: Layers, and records of earlier versions, may have an earlier word for it.
harm_of(word) := data.reviewer.former_harms[word] if {
	true
} else := word

# METADATA
# title: What a denial counts as, by today's word
# description: Those by a limit are a word of their own.
counted_as(word) := word if {
	word == "limit"
} else := harm_of(word)

# Earlier versions had limit as a harm.
_is_limit(row) if {
	row.limit
} else if {
	row.harm == "limit"
} else := false

# A missing decision, or one that is not a verdict, counts as the strictest.
_verdict(row) := row.decision if {
	_order[row.decision]
} else := "block"

# Modes do not soften a person's own decision or the protection of reviewer itself.
_mode(row) := "enforce" if row.always

_mode(row) := object.get(_milder[data.reviewer.enforcement], _own_mode(row), data.reviewer.enforcement) if not row.always

# A rule's mode in the settings takes precedence over the one in its row.
_own_mode(row) := data.reviewer.rules.enforcement[row.id] if {
	true
} else := object.get(row, "enforcement", "")

# Modes that a rule may have instead of the bundle's own.
_milder := {
	"enforce": {"warn": "warn", "observe": "observe"},
	"warn": {"observe": "observe"},
	"observe": {},
}

_enabled(id) if data.reviewer.catalog[id].always

_enabled(id) if {
	data.reviewer.enabled
	not id in data.reviewer.rules.disabled
	_in_set(id)
	not _excepted(data.reviewer.catalog[id])
}

_in_set(_) if data.reviewer.rules.builtin == "all"

_in_set(id) if {
	data.reviewer.rules.builtin == "essential"
	"essential" in data.reviewer.catalog[id].tags
}

# An exception counts only if the rule allows this layer to make one.
_excepted(row) if {
	some layer in row.overridable
	some e in data.policies[layer].exceptions
	e.rule == row.id
	_current(e)
}

# The settings of its own layer disable it.
_excepted(row) if row.disabled

# A rule ends at its moment.
_excepted(row) if row.expires <= input.time.ms

# Settings disable it in one workspace, for rules that the user may make exceptions to.
_excepted(row) if {
	"user" in row.overridable
	some place, ids in data.reviewer.rules.disabled_in
	row.id in ids
	_within(input.session.workspace, place)
}

_within(path, place) if path == place

_within(path, place) if startswith(path, concat("", [trim_suffix(place, "/"), "/"]))

# An exception whose end cannot be read has ended.
_current(e) if not "expires_at" in object.keys(e)

_current(e) if {
	is_string(e.expires_at)
	input.time.ms < _moment(e.expires_at)
}

_moment(text) := time.parse_rfc3339_ns(concat("", [text, "T00:00:00Z"])) / 1000000 if {
	regex.match(`^\d{4}-\d{2}-\d{2}$`, text)
} else := time.parse_rfc3339_ns(text) / 1000000 if {
	regex.match(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}`, text)
}
