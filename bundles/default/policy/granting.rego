# METADATA
# title: Granted calls
# description: >-
#   Decides, where the agent is about to ask a person about a call, whether the person need not be
#   asked (grant: proven). That needs a proof: the call only reads, or what it changes can be undone,
#   or people approved calls of its form before. Without a proof the agent asks as usual: nothing is
#   denied here, and the rules have judged the call before.
# scope: package
package reviewer.granting

import data.reviewer.prefilter
import data.reviewer.scores

_cfg := data.reviewer.grants

# METADATA
# title: The decision about a request
decision := {
	"decision": "allow",
	"enforced": "allow",
	"reason": _cfg.texts[proof.by],
	"grant": true,
	"proof": proof,
} if {
	proof
} else := {
	"decision": "allow",
	"enforced": "allow",
	"reason": _cfg.texts.none,
	"reasons": array.concat([_cfg.texts.none], [_cfg.texts.lacks[word] | some word in sort(lacks)]),
} if {
	data.reviewer.grant == "proven"
} else := {
	"decision": "allow",
	"enforced": "allow",
	"reason": _cfg.texts.none,
}

# METADATA
# title: Why the person need not be asked
proof := {"by": "reads"} if {
	_usual
	_quiet
	_plain
	every e in input.action.effects { _reads(e) }
} else := {"by": "undo"} if {
	_usual
	_quiet
	_plain
	input.event.mode in _cfg.undo.modes
	input.request.checkpoint
	every e in input.action.effects { _undone(e) }
} else := {
	"by": "approved",
	"approvals": _approvals,
	"sessions": count(_sessions),
	"days": _cfg.approved.days,
} if {
	_usual
	_quiet
	_formed
	every e in input.action.effects { _limited(e) }
	_enough
	not _refused
}

# The policy allowed the call without a warning, a person is watching, and the call is understood completely.
_usual if {
	data.reviewer.grant == "proven"
	data.reviewer.enabled
	data.reviewer.enforcement == "enforce"
	input.event.mode in _cfg.modes
	_allowed
	_understood
	_of_types
	_carries_nothing
}

_allowed if {
	input.request.decision == "allow"
	input.request.enforced == "allow"
}

_understood if {
	_does_something
	input.action.opaque == []
	not input.action.possible
}

_of_types if {
	every t in input.action.types { t in _cfg.types }
	every s in input.action.signals { s in _cfg.signals }
}

# An unknown call has no proof.
_does_something if input.action.effects != []

_does_something if input.action.commands != []

# Nothing happened in the session after which a person would look closely.
_quiet if {
	not input.session.stopped
	not input.session.resumed
	not input.session.restored
	not input.session.late
	input.request.denied > _cfg.denied_within
	every l in input.session.labels { not l in _cfg.labels }
}

_carries_nothing if {
	not input.action.secrets_out
	not input.action.flows
	not input.action.inherits
	not input.action.starts
	not input.action.terminals
	not input.action.remotes
	not _sends_labels
}

_sends_labels if {
	input.action.carries
	some e in input.action.effects
	e.kind == "network"
	not e.loopback
}

# Programs of a project, such as its tests, may do anything: they run code that is not seen. A person
# can name programs whose changes a checkpoint undoes well enough.
_plain if {
	_seen
	every c in input.action.commands { _direct(c) }
}

_seen if not input.action.loads

_seen if {
	_trusted != set()
	every c in input.action.commands { _known(c) }
}

_known(c) if c.name in _cfg.undo.programs

# A program that loads no other code only reads: its effects are known.
_known(c) if c.name in _cfg.client.programs

_trusted := {c.name | some c in input.action.commands; c.name in _cfg.undo.programs}

_direct(c) if {
	every w in object.get(c, "wrappers", []) { w in _cfg.wrappers }
}

_reads(e) if {
	e.kind == "file_read"
	e.location in _cfg.reads
	prefilter.ordinary(e)
}

_reads(e) if _asks(e)

# What a service answers changes nothing here.
_asks(e) if {
	e.kind == "network"
	e.verb == "fetch"
	input.action.hosts != []
	every h in input.action.hosts { h in data.reviewer.hosts.known }
	not e.forced
	not e.privileged
}

_undone(e) if _reads(e)

_undone(e) if e.location == "null"

_undone(e) if {
	e.kind == "process"
	e.verb == "exec"
	e.target in _cfg.undo.programs
	not e.privileged
}

_undone(e) if _restorable(e)

# A file that a checkpoint has, and that guards or starts nothing.
_restorable(e) if {
	e.kind in {"file_write", "file_delete"}
	e.location in _cfg.undo.locations
	e.certainty in {"exact", "glob"}
	object.get(e, "class", "") in _cfg.undo.classes
	not e.guard
	not e.host
	not e.privileged
	not e.persistence
	not e.repository
	not scores.in_zone(e)
	_stored(e)
}

# The checkpoint has the file, or there is none yet.
_stored(_) if input.request.left == 0

_stored(e) if e.exists == "no"

_stored(e) if e.git in {"clean", "dirty"}

_stored(e) if e.ledger == "created"

# What an edit writes is not part of its form: approvals of other edits prove nothing about it.
# The form of a command consists of its words.
_formed if input.action.commands != []

_formed if {
	every e in input.action.effects { not e.kind in {"file_write", "file_delete"} }
}

# Effects that people may have approved for good: none that cannot be undone.
_limited(e) if {
	e.kind in {"file_read", "process"}
	not e.guard
	not e.privileged
	not e.persistence
	not object.get(e, "class", "") in _cfg.approved.not_classes
}

_limited(e) if {
	input.request.checkpoint
	_restorable(e)
}

_limited(e) if {
	not e.kind in {"file_read", "process"}
	scores.step(e) in _cfg.approved.steps
	scores.in_scope(e)
	not e.guard
	not e.privileged
	not e.persistence
	not object.get(e, "class", "") in _cfg.approved.not_classes
}

# METADATA
# title: What is missing for a proof
# description: For reports, and for the record of a request. What is missing for one proof may not be needed for another.
# scope: document
lacks contains "mode" if not input.event.mode in _cfg.modes

lacks contains "allowed" if not _allowed

lacks contains "understood" if not _understood

lacks contains "types" if not _of_types

lacks contains "alone" if not _carries_nothing

lacks contains "quiet" if not _quiet

lacks contains "code" if not _plain

lacks contains "files" if {
	some e in input.action.effects
	not _undone(e)
}

lacks contains "edits" if {
	_changes
	not input.event.mode in _cfg.undo.modes
}

lacks contains "checkpoint" if {
	_changes
	not input.request.checkpoint
}

lacks contains "limits" if {
	some e in input.action.effects
	not _limited(e)
}

lacks contains "formed" if not _formed

lacks contains "approvals" if not _enough

lacks contains "refused" if _refused

_changes if {
	some e in input.action.effects
	not _reads(e)
}

_enough if {
	_approvals >= _cfg.approved.count
	count(_sessions) >= _cfg.approved.sessions
}

_day := ((24 * 60) * 60) * 1000

# Answers do not count in a mode in which the agent asks nobody.
_counted := [a |
	some a in input.request.answers
	a.mode in _cfg.approved.modes
	a.ms < _cfg.approved.days * _day
]

_approvals := sum([n | some a in _counted; n := a.person + (a.inferred * _cfg.approved.inferred)])

_sessions := {a.session | some a in _counted; a.person + a.inferred > 0}

_refused if {
	some a in input.request.answers
	a.refused > 0
	a.refused_ms < _cfg.approved.refused_days * _day
}
