package reviewer.families.git

import data.reviewer.effects

# METADATA
# title: Git's own data deleted
# description: By name, or as part of a directory that is deleted.
# related_resources: [https://git-scm.com/docs/gitrepository-layout]
# custom:
#   severity: critical
#   decision: block
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: "This deletes or overwrites git's own data ({target}), and with it the history."
#   remediation: leave .git alone; use git's own commands
git_data_delete if {
	"changes_files" in input.facts
	input.phase == "pre"
	effects.loses_repository
}
