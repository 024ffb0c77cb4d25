package reviewer.spoken

import data.reviewer.scores

# METADATA
# title: The action could not be understood
# description: A target that is not known has a rule of its own.
# custom:
#   id: not_understood
speaks contains "not_understood" if {
	"not_understood" in input.facts
	input.phase == "pre"
	some o in input.action.opaque
	o.reason in {"syntax", "command", "code", "budget", "encoding", "arguments"}
}

# METADATA
# title: A tool of which nothing is known, where nobody can be asked
# description: Only where tools.unknown says block.
# custom:
#   id: unknown_tool
speaks contains "unknown_tool" if {
	"not_understood" in input.facts
	input.phase == "pre"
	data.reviewer.tools.unknown == "block"
	input.event.mode in data.reviewer.unattended_modes
	some o in input.action.opaque
	o.reason == "tool"
}

# METADATA
# title: A program that is not known is given a command that does harm
# description: >-
#   Whether it runs the command, nobody can tell. What other rules stop where it is
#   certain counts here: what is lost outside the scope, what changes the machine,
#   what leaves with a file.
# custom:
#   id: possible_command
speaks contains "possible_command" if {
	input.phase == "pre"
	_harm_is_possible
	not _only_tried
}

_only_tried if "dry_run" in input.action.possible_signals

_harm_is_possible if {
	some e in input.action.possible
	_harmful(e)
}

_harm_is_possible if {
	some s in input.action.possible_signals
	s in _harmful_signals
}

_harmful_signals := {
	"agent_unguarded", "broad_destructive", "container_host", "container_wipe", "database_destructive", "disk_write",
	"fork_bomb", "git_discard", "git_force_push", "git_history_rewrite", "guard_tampering", "infrastructure_delete",
	"persistence_mechanism", "power_state", "publish", "remote_code", "reverse_shell", "tunnel",
}

_harmful(e) if {
	e.kind == "file_delete"
	not scores.in_scope(e)
}

_harmful(e) if {
	e.kind == "file_delete"
	e.recursive
	e.git in {"dirty", "untracked"}
}

_harmful(e) if {
	e.kind == "system_call"
	not e.verb in {"start", "restart", "reload", "try-restart", "reload-or-restart", "try-reload-or-restart"}
}

_harmful(e) if {
	e.kind == "file_write"
	e.class in {"credential", "startup", "git_hook", "agent_config", "guard", "system_config"}
}

_harmful(e) if {
	e.kind == "file_write"
	e.location in {"root", "system", "device", "home_root"}
}

# What is sent, beside what is read to be sent.
_harmful(e) if {
	e.kind == "network"
	e.egress
	not e.loopback
	some read in input.action.possible
	read.kind == "file_read"
	_private(read)
}

_private(e) if e.class in {"credential", "env_file"}

_private(e) if {
	e.location in {"home", "home_root", "system", "outside", "root"}
	not scores.allowed_place(e)
}

# METADATA
# title: Code that the session wrote, and that would be asked about or blocked, may run
# custom:
#   id: written_code
speaks contains "written_code" if {
	"inherits" in input.facts
	input.phase == "pre"
	count(objectionable_code) > 0
}

# METADATA
# title: Code of the session that a call may run and that is asked about
objectionable_code contains w if {
	some w in input.action.inherits
	w.named
}

objectionable_code contains w if {
	some w in input.action.inherits
	w.rules == []
}

objectionable_code contains w if {
	some w in input.action.inherits
	some id in w.rules
	not id in data.reviewer.code.by_name
}
