package reviewer.families.files

import data.reviewer.scores

# METADATA
# title: Recursive deletion
# description: >-
#   Fires unless every target is in scope and recoverable: created by the session, tracked
#   by git, or rebuilt by a tool.
# related_resources: [https://attack.mitre.org/techniques/T1485/]
# custom:
#   severity: high
#   decision: block
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: "{deletion} is not allowed: {deleted} may not be recoverable."
#   remediation: delete the files by name, move them aside, or commit them first
#   overridable: [organisation, user]
prevent_recursive_deletion if {
	"deletes_recursive" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	e.recursive
	not scores.own_host(e) # see delete_elsewhere
	not _can_be_got_back(e)
}

_can_be_got_back(e) if {
	scores.known_path(e)
	scores.in_scope(e)
	scores.step(e) in {"R0", "R1", "R2", "R3"}
}

# A single file has a rule of its own (delete_untracked): -r makes no difference to it.
_can_be_got_back(e) if {
	e.entry == "file"
	scores.known_path(e)
	scores.in_scope(e)
}

# What does not exist cannot be lost.
_can_be_got_back(e) if {
	e.exists == "no"
	scores.in_scope(e)
}

_can_be_got_back(e) if scores.not_there(e)

# A temporary directory of the machine; its owner was not recorded. A name of which
# not even the beginning is known may be empty, so the target may be all of it.
_can_be_got_back(e) if {
	e.location == "temp"
	not endswith(e.short, "/?")
	not _leads_out(e)
}

# `$dir/..`, where nothing but the beginning of $dir is known.
_leads_out(e) if {
	e.certainty == "prefix"
	some word in object.get(input.action.commands[e.command], "operands", [])
	regex.match(`\?.*/\.\.(/|$)`, word)
}

_can_be_got_back(e) if {
	e.location == "beside"
	_made_by_call(e)
}

# METADATA
# title: Deletion outside the workspace
# scope: document
# related_resources: [https://attack.mitre.org/techniques/T1485/]
# custom:
#   severity: high
#   decision: block
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, SOC2-CC6.1]
#   message: "This {deletes} {deleted_outside}, which is outside the workspace {workspace}."
#   remediation: delete only inside the workspace, or ask the user to do it
#   overridable: [organisation, user]
delete_outside_scope if {
	"deletes" in input.facts
	input.phase == "pre"
	input.session.workspace != ""
	some e in input.action.effects
	e.kind == "file_delete"
	e.location in {"outside", "home", "temp_root", "home_root", "root", "ancestor", "system", "device"}
	not scores.own_host(e) # see delete_elsewhere
	not scores.not_there(e)
	not scores.own_file(e)
	not scores.cache(e)
	not scores.ordered(e)
}

# METADATA
# title: Deletion of a path outside the workspace, named in a prompt
# description: A prompt can be forged, so this asks.
# related_resources: [https://attack.mitre.org/techniques/T1485/]
# custom:
#   severity: medium
#   decision: ask
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, SOC2-CC6.1]
#   message: "This {deletes} {deleted_outside}, which is outside the workspace {workspace} but named in a prompt."
#   remediation: let the user check the path, or move the file to the trash (`reviewer trash FILE`)
#   overridable: [organisation, user]
delete_named if {
	"deletes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	scores.ordered(e)
	not scores.not_there(e)
	not scores.own_file(e)
}

# Next to a workspace among temporary files, only what the session created may be deleted.
delete_outside_scope if {
	"deletes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	e.location == "beside"
	not _made_here(e)
	not scores.not_there(e)
}

_made_here(e) if {
	e.ledger == "created"
	scores.known_path(e)
}

_made_here(e) if _made_by_call(e)

# A name that the same call created, such as one from mktemp.
_made_by_call(e) if {
	some w in input.action.effects
	w.kind == "file_write"
	w.verb in {"create", "mkdir"}
	w.command < e.command
	w.short == e.short
	not w.exists == "yes"
}

# METADATA
# title: Deletion in a container or virtual machine
# description: Applies to the hosts that scope.hosts lists; elsewhere it is treated like any other deletion.
# related_resources: [https://attack.mitre.org/techniques/T1485/]
# custom:
#   severity: high
#   decision: ask
#   harm: loss
#   tags: [OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: "This deletes files in a container or virtual machine, where their value cannot be checked: {command}"
#   remediation: start a fresh container (`docker run --rm IMAGE PROGRAM`), or let a person check
#   overridable: [organisation, user, project]
delete_elsewhere if {
	"deletes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	scores.own_host(e)
	e.location != "temp"
}

# METADATA
# title: Deletion of an unknown target
# related_resources: [https://www.gnu.org/software/bash/manual/html_node/Shell-Parameter-Expansion.html]
# custom:
#   severity: high
#   decision: ask
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: "The target that this deletes, moves or overwrites is only known at run time: {target}."
#   remediation: "write the path out, or guard the variable (${name:?})"
delete_unknown_target if {
	"unknown_target" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.certainty in {"unknown", "prefix"}
	e.location == "unknown"
	_destroys(e)
}

_destroys(e) if e.kind == "file_delete"

_destroys(e) if e.verb == "truncate"
