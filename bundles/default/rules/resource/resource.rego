package reviewer.fired

import data.reviewer.scores

# METADATA
# title: Oversized file created
# custom:
#   id: disk_fill
fires contains "disk_fill" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.bytes > data.reviewer.resources.max_file_bytes
}

# METADATA
# title: Cryptocurrency miner started
# custom:
#   id: miner_run
fires contains "miner_run" if {
	"changes" in input.facts
	input.phase == "pre"
	some c in input.action.commands
	_mines(c)
}

_mines(c) if lower(c.name) in data.reviewer.resources.miners

_mines(c) if {
	some text in array.concat(object.get(c, "operands", []), object.get(c, "flags", []))
	regex.match(`(?i)(^|=)stratum\d?\+(tcp|ssl|tls|udp)://`, text)
}

# METADATA
# title: System clock changed
# custom:
#   id: clock_change
fires contains "clock_change" if {
	"set" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "system_call"
	e.verb == "set"
	e.target in {"clock", "date"}
}

# METADATA
# title: Test deleted
# custom:
#   id: test_deleted
fires contains "test_deleted" if {
	"deletes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	e.verb in {"delete", "trash", "discard"}
	e.location in {"inside", "worktree"}
	not e.exists == "no"
	not e.class == "generated"
	not e.ledger == "created"
	not scores.made_by_call(e)
	some pattern in data.reviewer.integrity.tests
	regex.match(pattern, e.short)
}
