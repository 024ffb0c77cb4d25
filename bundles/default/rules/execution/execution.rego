package reviewer.families.execution

import data.reviewer.scores

# METADATA
# title: Action that could not be analysed
# description: An unknown target has a rule of its own.
# related_resources: ["https://www.gnu.org/software/bash/manual/bash.html"]
# custom:
#   severity: high
#   decision: ask
#   harm: unread
#   tags: [essential, OWASP-ASI05, ATTACK-T1027, SOC2-CC7.2]
#   message: "Part of this could not be analysed in advance ({opaque}), so it is treated as risky."
#   remediation: split it into plain commands, one at a time
not_understood if {
	"not_understood" in input.facts
	input.phase == "pre"
	some o in input.action.opaque
	o.reason in {"syntax", "command", "code", "budget", "encoding", "arguments"}
}

# METADATA
# title: Unknown tool where nobody can be asked
# description: Describe the tool in a row in tools/, or allow such tools with tools.unknown.
# custom:
#   severity: high
#   decision: block
#   harm: unread
#   tags: [OWASP-ASI02, SOC2-CC6.8]
#   message: "Nothing is known about what the tool {tool} does, and nobody can be asked in this mode."
#   remediation: use a known tool such as the shell or the file tools, or ask the user to describe this one in the policy
#   overridable: [organisation, user]
unknown_tool if {
	# Only if tools.unknown is block.
	"not_understood" in input.facts
	input.phase == "pre"
	data.reviewer.tools.unknown == "block"
	input.event.mode in data.reviewer.unattended_modes
	some o in input.action.opaque
	o.reason == "tool"
}

# METADATA
# title: Harmful command passed to an unknown program
# description: >-
#   A program that has no row in programs/ is given a harmful command as an argument, and may
#   run it. A row for the program specifies whether it does.
# related_resources: ["https://attack.mitre.org/techniques/T1202/"]
# custom:
#   severity: high
#   decision: ask
#   harm: unread
#   tags: [essential, OWASP-ASI05, ATTACK-T1202, SOC2-CC6.8]
#   message: "This passes a harmful command to an unknown program, which may run it: {command}"
#   remediation: run that command directly so that it can be judged; do not pass it to another program
#   overridable: [organisation, user]
possible_command if {
	# It is not known whether it runs the command. What other rules stop when it is certain counts
	# here: loss outside the scope, changes to the machine, files that are sent away.
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
	"agent_unguarded", "broad_destructive", "checked_code", "container_host", "container_wipe", "database_destructive", "disk_write",
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
	not e.verb in data.reviewer.lists.starting_verbs
}

_harmful(e) if {
	e.kind == "file_write"
	e.class in {"credential", "startup", "git_hook", "agent_config", "guard", "system_config"}
}

_harmful(e) if {
	e.kind == "file_write"
	e.location in {"root", "system", "device", "home_root"}
}

# Effects that send data, apart from the reads that supply the data.
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
# title: Code from this session that would be held up as a call
# description: >-
#   Code is judged when it is written, by the rules that apply to calls. A program that may
#   run such a file (a test or task runner, an interpreter, a build) is asked about
#   until the user approves it, and again when the file does something else. Rules in code.by_name count
#   only if the call names the file.
# related_resources: ["https://attack.mitre.org/techniques/T1059/"]
# custom:
#   severity: high
#   decision: ask
#   harm: foreign_code
#   tags: [essential, OWASP-ASI05, ATTACK-T1059, SOC2-CC6.8]
#   message: "This may run code from this session that would be held up if it were a call of its own: {written}"
#   remediation: remove the harmful part from that file, or run only code that does not load it
#   overridable: [organisation, user]
written_code if {
	"inherits" in input.facts
	input.phase == "pre"
	count(objectionable_code) > 0
}

# METADATA
# title: Code from this session that a call may run and that would be stopped
# scope: document
objectionable_code contains w if {
	some w in input.action.inherits
	w.named
	not _comes_upon_it(w)
}

# A test runner runs the same part of a file whether the file is named or found.
_comes_upon_it(w) if {
	input.action.check
	not "any" in input.action.loads
	not _run_as_program
	count(w.rules) > 0
	every id in w.rules { id in data.reviewer.code.by_name }
}

objectionable_code contains w if {
	some w in input.action.inherits
	w.rules == []
	not _elsewhere(w)
}

objectionable_code contains w if {
	some w in input.action.inherits
	some id in w.rules
	not id in data.reviewer.code.by_name
	not _elsewhere(w)
}

_run_as_program if {
	some c in input.action.commands
	c.name in data.reviewer.lists.script_runtimes
	every flag in c.flags { not regex.match(`^(-m|--test)(=|$)`, flag) }
}

# Its code runs at the service that the repository is pushed to.
_elsewhere(w) if {
	not w.named
	some pattern in data.reviewer.code.run_elsewhere
	regex.match(pattern, w.path)
	not _runs_pipelines
}

_runs_pipelines if {
	some c in input.action.commands
	c.name in data.reviewer.code.runners
}
