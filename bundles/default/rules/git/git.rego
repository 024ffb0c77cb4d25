package reviewer.families.git

import data.reviewer.scores

# METADATA
# title: Force push to a shared branch
# description: >-
#   git.protected lists the branches. A lease does not help where others build on the
#   existing commits. A push that names no branch writes to the one that is checked out.
# related_resources: [https://git-scm.com/docs/git-push]
# custom:
#   severity: critical
#   decision: block
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, SOC2-CC8.1]
#   message: "This rewrites the history of a branch that others build on: {command}"
#   remediation: revert with a new commit (`git revert COMMIT`), or push to a branch of your own and open a pull request
#   overridable: [organisation, user]
#   examples:
#     match: [{Bash: git push --force origin main}, {Bash: "git push origin +HEAD:refs/heads/main"}]
#     no_match: [{Bash: git push --force origin topic}, {Bash: git push origin main}]
git_force_push_protected if {
	input.phase == "pre"
	some i, c in input.action.commands
	_forces(c)
	some branch in pushed(i, c)
	some pattern in data.reviewer.git.protected
	glob.match(pattern, ["/"], branch)
}

# With or without a lease.
_forces(c) if {
	c.name in {"git", "hub"}
	"push" in c.sub
	"git_force_push" in input.action.signals
}

_forces(c) if {
	c.name in {"git", "hub"}
	"push" in c.sub
	not "dry_run" in input.action.signals
	some flag in object.get(c, "flags", [])
	startswith(flag, "--force-with-lease")
}

# METADATA
# title: The branches that a push writes to
# description: Those that it names, or the one that is checked out.
# scope: document
pushed(_, c) := {_pushed(spec) | some spec in _named_branches(c)} if {
	not _all_branches(c)
	count(_named_branches(c)) > 0
}

pushed(i, c) := _checked_out(i) if {
	not _all_branches(c)
	count(_named_branches(c)) == 0
}

pushed(_, c) := {trim_suffix(p, "/*") | some p in data.reviewer.git.protected} if _all_branches(c)

_all_branches(c) if {
	some flag in object.get(c, "flags", [])
	flag in {"--all", "--branches"}
}

_all_branches(c) if {
	some spec in object.get(c, "operands", [])
	regex.match(`^\+?refs/(heads/)?\*`, spec)
}

_named_branches(c) := [spec |
	operands := object.get(c, "operands", [])
	some spec in array.slice(operands, 1, count(operands))
	not trim_prefix(spec, "+") in {"HEAD", "@"}
]

# The branch that a refspec writes to: topic of +HEAD:refs/heads/topic.
_pushed(spec) := trim_prefix(parts[count(parts) - 1], "refs/heads/") if {
	parts := split(trim_prefix(spec, "+"), ":")
}

# The last one that the call itself checks out, or the one before the call.
_checked_out(i) := {changes[count(changes) - 1]} if {
	changes := _branch_changes(i)
	count(changes) > 0
} else := {e.target |
	some e in input.action.effects
	e.command == i
	e.verb == "push"
	e.object == "branch"
}

_branch_changes(i) := [name |
	some j, c in input.action.commands
	j < i
	c.name == "git"
	some sub in c.sub
	sub in {"checkout", "switch"}
	not _restores(j)
	name := _new_branch(c)
]

# A checkout of a file leaves the branch as it is.
_restores(j) if {
	some e in input.action.effects
	e.command == j
	e.kind == "file_write"
	e.verb == "discard"
}

_new_branch(c) := substring(made, indexof(made, "=") + 1, -1) if {
	some made in object.get(c, "flags", [])
	regex.match(`^(-[bBcC]|--(orphan|create|force-create))=`, made)
} else := c.operands[0] if count(c.operands) == 1

# METADATA
# title: Uncommitted work discarded
# description: >-
#   Fires if uncommitted work would be lost, or if that cannot be determined. Does not fire if
#   the working tree is clean, if the session created the discarded files, or if git has just
#   stashed them.
# scope: document
# related_resources: [https://git-scm.com/docs/git-stash]
# custom:
#   severity: high
#   decision: block
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: "This discards uncommitted work: {command}"
#   remediation: "stash it first: `git stash push --include-untracked` (for one file: `git stash push -- FILE`), or commit it to a branch"
#   overridable: [organisation, user, project]
git_discard if {
	# Does not fire where nothing would be lost: there is nothing to discard, the session itself
	# created it, git has just stashed it, or the same call copied it first.
	"git_discard" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "discard"
	not scores.step(e) in {"R0", "R1", "R2", "R3"}
	not _copied_before(e)
}

_copied_before(e) if {
	e.certainty == "exact"
	not e.recursive
	some r in input.action.effects
	r.kind == "file_read"
	r.short == e.short
	r.command < e.command
	input.action.commands[r.command].name in {"cp", "copy", "copy-item"}
	some w in input.action.effects
	w.kind == "file_write"
	w.command == r.command
	w.certainty == "exact"
	w.short != e.short
	not _gone_after(w)
}

# A copy that the same call deletes, moves or overwrites does not count.
_gone_after(w) if {
	some other in input.action.effects
	other.kind in {"file_delete", "file_write"}
	other.short == w.short
	other.command > w.command
}

# One side is checked out of a file that has changes and no conflict.
git_discard if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "resolve"
	e.git == "dirty"
	not scores.step(e) in {"R0", "R1", "R2", "R3"}
}

# What is discarded is not named, so all of it may be lost.
git_discard if {
	"git_discard" in input.action.signals
	input.phase == "pre"
	not _discards
}

_discards if {
	some e in input.action.effects
	e.verb == "discard"
}
