# Workspace enforcement: it judges the effects of the action, with real paths and
# symbolic links resolved, whichever tool causes them. Deletions outside the workspace
# have a rule of their own (delete_outside_scope).
package reviewer.families.workspace

import data.reviewer.effects
import data.reviewer.scores

_workspace := data.reviewer.workspace

# METADATA
# title: Access to a denied place
# description: Applies to the places that workspace.denied lists; to reads only if workspace.enforce is all.
# custom:
#   severity: critical
#   decision: block
#   harm: closed
#   tags: [essential, OWASP-ASI02, OWASP-ASI03, ATTACK-T1552]
#   message: "{place} is off limits for this session."
#   remediation: leave it alone, and tell the user what you need from there
#   overridable: [organisation, user]
workspace_denied if {
	input.phase == "pre"
	input.action.paths != []
	some e in input.action.effects
	_enforced_on(e)
	_denied(e)
	not effects.closes_key(e)
}

# METADATA
# title: File outside the workspace
# custom:
#   severity: high
#   decision: ask
#   harm: closed
#   tags: [OWASP-ASI02]
#   message: "{place} is outside the workspace {workspace}."
#   remediation: write inside the workspace, or let the user add the place to workspace.allowed
#   overridable: [organisation, user]
workspace_outside if {
	_workspace.outside == "ask"
	_outside
}

# METADATA
# title: File outside a closed workspace
# description: Like workspace_outside, where workspace.outside is block.
# custom:
#   severity: high
#   decision: block
#   harm: closed
#   tags: [OWASP-ASI02]
#   message: "{place} is outside the workspace {workspace}, and this session may not use files there."
#   remediation: stay inside the workspace
#   overridable: [organisation]
workspace_closed if {
	_workspace.outside == "block"
	_outside
}

# METADATA
# title: File outside the project's scope
# description: Fires if scope.paths lists parts of the workspace, for example in a project's .reviewer.yaml.
# custom:
#   severity: medium
#   decision: ask
#   harm: closed
#   tags: [OWASP-ASI02]
#   message: "{place} is in a part of the workspace that is not in this project's scope."
#   remediation: change only the parts that scope.paths names, or ask the user whether this belongs to the task
#   overridable: [organisation, user]
scope_left_out if {
	data.reviewer.scope.paths != ["."]
	input.phase == "pre"
	some e in input.action.effects
	left_out(e)
}

# METADATA
# title: An effect in a part of the workspace that is not in the project's scope
# description: >-
#   Except build output and git's own data, which have fixed places, and files that a
#   user named or whose folder a person added to the scope.
left_out(e) if {
	data.reviewer.scope.paths != ["."]
	e.kind in {"file_write", "file_delete"}
	e.location in {"inside", "self"}
	not _made_by_tools(e)
	not e.named
	not scores.below(e, data.reviewer.scope.paths)
	not _in_pattern(e)
}

# A path that matches a pattern of scope.paths, or is below one that does: * and ? stand for
# characters other than a slash, ** for any number of folders.
_in_pattern(e) if {
	e.certainty == "exact"
	some place in scores.spellings(e)
	scores.matches(place, [_expression(pattern) | some pattern in data.reviewer.scope.paths; regex.match(`[*?]`, pattern)])
}

_expression(pattern) := concat("", ["^", between, "/"]) if {
	literal := regex.replace(pattern, `[.+()|{}\[\]^$\\]`, `\$0`)
	folders := replace(literal, "**/", "\u0001")
	between := strings.replace_n({"\u0001": "(?:[^/]+/)*", "\u0002": ".*", "*": "[^/]*", "?": "[^/]"}, replace(folders, "**", "\u0002"))
}

_made_by_tools(e) if e.class in {"generated", "git_data"}

_outside if {
	"outside_workspace" in input.facts
	input.phase == "pre"
	input.session.workspace != ""
	some e in input.action.effects
	outside_place(e)
}

# METADATA
# title: An effect that workspace enforcement stops
# description: >-
#   Deletions, devices and unknown targets are left to their own rules. A place
#   somewhere under a folder that contains the workspace does not count as inside the workspace.
outside_place(e) if {
	_enforced_on(e)
	e.kind != "file_delete"
	not scores.in_scope(e)
	not _untold(e)
	not _changed_before(e)
	not _asked_for(e)
	not _in_pod(e)
	not effects.closes_key(e)
}

# What is written into a pod is in the pod or its volumes, as with kubectl cp.
_in_pod(e) if {
	startswith(e.host, "pod:")
	e.verb in _workspace.writing
	not effects.production(e)
	every c in input.action.commands { not effects.marked(effects.line(c), data.reviewer.markers.production) }
}

# METADATA
# title: An effect that workspace enforcement stops
# description: Next to a workspace among temporary files, files that existed before may be someone's work.
outside_place(e) if {
	_enforced_on(e)
	e.kind == "file_write"
	e.location == "beside"
	not e.scoped
	e.exists == "yes"
	not e.entry == "dir"
	not _changed_before(e)
	not scores.allowed_place(e)
}

# A person approved a call that wrote the file, or one in its folder.
_changed_before(e) if e.agreed == "file"

# New files of the same kind in the same folder: no file that is there, none that is hidden or runs, and none where
# programs are.
_changed_before(e) if {
	e.agreed == "folder"
	_workspace.answer == "folder"
	_plain_file(e)
	e.exists == "no"
	not e.mode
	not scores.program_folder(e)
	name := regex.replace(e.short, `^.*/`, "")
	regex.match(`^[^.].*\.[^.]+$`, name)
	not scores.one_or_below(lower(name), "", _workspace.executable)
}

_changed_before(e) if {
	e.ledger == "created"
	scores.known_path(e)
}

# The user wrote the full path, or that of a folder above it, and asked for more than
# reading. Files that configure programs or hold secrets are still asked about: a
# prompt can be forged.
_asked_for(e) if {
	e.given
	e.location in _workspace.given
	_plain_file(e)
	not _only_looking
}

# The user named the machine, and asked for more than reading. It has no workspace; its programs, settings and start-up files are
# still asked about.
_asked_for(e) if {
	effects.on_named_machine(e)
	e.verb in _workspace.writing
	e.location in _workspace.given
	_plain_file(e)
	not _only_looking
}

_plain_file(e) if not e.class

_plain_file(e) if e.class in {"generated", "test"}

_only_looking if {
	input.goal.intents != []
	every i in input.goal.intents {
		not "file_modification" in data.reviewer.rationality.alignment.kinds[i]
	}
}

_untold(e) if e.location == "device"

_untold(e) if {
	e.location == "unknown"
	e.certainty != "prefix"
}

# METADATA
# title: An effect in a place that is denied
denied_place(e) if {
	_enforced_on(e)
	_denied(e)
	not effects.closes_key(e)
}

_enforced_on(e) if {
	_workspace.enforce in {"writes", "all"}
	e.kind in {"file_write", "file_delete"}
}

_enforced_on(e) if {
	_workspace.enforce == "all"
	e.kind == "file_read"
}

_denied(e) if scores.below(e, _workspace.denied)

# A folder that contains a denied place is denied with it.
_denied(e) if {
	e.recursive
	e.kind != "file_read"
	strings.any_prefix_match(scores.folders(_workspace.denied), scores.spellings(e))
}
