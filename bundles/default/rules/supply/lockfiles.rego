package reviewer.families.supply

# METADATA
# title: Lock file edited directly
# description: >-
#   Lock files pin exactly what is installed; only the package manager should write them.
#   packages.lockfiles lists their names.
# related_resources: ["https://docs.npmjs.com/cli/configuring-npm/package-lock-json"]
# custom:
#   severity: medium
#   decision: warn
#   tags: [OWASP-ASI04, ATTACK-T1195, SOC2-CC8.1]
#   message: "This edits a lock file, which only its package manager should write: {target}"
#   remediation: change the manifest and run the package manager (`npm install`, `poetry lock`, `cargo update`)
#   overridable: [organisation, user, project]
lockfile_edit if {
	# By a tool of the agent, or by a program that is told what to write. Changing its permissions or
	# its name, or restoring the committed version, is not an edit.
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	e.location in {"inside", "worktree"}
	_base_name(e.short) in data.reviewer.packages.lockfiles
	not e.verb in data.reviewer.lists.handling_verbs
}

_base_name(path) := parts[count(parts) - 1] if parts := split(path, "/")
