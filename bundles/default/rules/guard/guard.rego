package reviewer.families.guard

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Agent instructions changed
# description: >-
#   Instructions, commands, skills and sub-agents. All later sessions follow these files,
#   including those of other people.
# related_resources: ["https://genai.owasp.org/"]
# custom:
#   severity: medium
#   decision: warn
#   tags: [OWASP-ASI06, ATLAS-AML.T0080, SOC2-CC8.1]
#   message: "This changes the instructions that coding agents follow in every later session: {target}"
#   remediation: write only what the user asked for, and show them the lines
#   overridable: [organisation, user, project]
agent_instructions if {
	# Files that decide what agents may do belong to guard_tampering.
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	e.class == "agent_config"
	not _empty_folder(e)
	not "guard_tampering" in input.findings
}

# METADATA
# title: Agent instructions removed
# description: What they forbid is not held any more in later sessions. Files that the session made may go.
# related_resources: ["https://genai.owasp.org/"]
# custom:
#   severity: medium
#   decision: ask
#   harm: hold
#   tags: [OWASP-ASI06, SOC2-CC8.1]
#   message: "This removes instructions that coding agents follow: {target}"
#   remediation: leave the file, and show the user what should change in it
#   overridable: [organisation, user, project]
instructions_removed if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	effects.gone(e)
	e.class == "agent_config"
	not effects.written_here(e)
	not "guard_tampering" in input.findings
}

_empty_folder(e) if {
	e.verb == "create"
	input.action.commands[e.command].name in {"mkdir", "md"}
}

# METADATA
# title: Client settings changed in another folder
# description: >-
#   Settings that a client reads that is started in that folder, such as another checkout. Copies of the session's own
#   settings are left out.
# related_resources: ["https://attack.mitre.org/techniques/T1562/"]
# custom:
#   severity: high
#   decision: ask
#   harm: hold
#   tags: [OWASP-ASI10, ATLAS-AML.T0081, SOC2-CC8.1]
#   message: "This changes the settings with which an agent works in another folder: {target}"
#   remediation: tell the user which settings the agents there would get, and why
#   overridable: [organisation, user]
agent_settings_elsewhere if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	e.guard == "elsewhere"
	not _copied(e)
}

# The session's own settings are copied as they are.
_copied(e) if {
	input.action.commands[e.command].name in {"cp", "rsync", "ditto", "robocopy", "xcopy"}
	some r in input.action.effects
	r.kind == "file_read"
	r.command == e.command
	r.class == "agent_config"
	r.certainty == "exact"
	r.location in {"inside", "home", "self"}
}

# METADATA
# title: CI check weakened
# description: >-
#   A workflow is deleted, or changed so that failures pass, outsiders get rights, or checks
#   are skipped.
# related_resources: ["https://docs.github.com/en/actions/security-for-github-actions", "https://owasp.org/www-project-top-10-ci-cd-security-risks/"]
# custom:
#   severity: high
#   decision: ask
#   harm: hold
#   tags: [OWASP-ASI10, ATTACK-T1562, SOC2-CC8.1]
#   message: "This weakens or removes a CI check: {target}"
#   remediation: fix what the check finds; the owner of the pipeline decides what it checks
#   overridable: [organisation, user]
ci_weakened if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.class == "ci_config"
	_weakens(e)
}

_weakens(e) if {
	e.kind == "file_delete"
	not e.ledger == "created"
}

_weakens(e) if {
	e.kind == "file_write"
	some id, _ in input.action.detected
	startswith(id, "ci.")
}

# METADATA
# title: Audit traces removed
# description: >-
#   Applies to the activity records that guard.traces lists, such as shell histories, logins and
#   the audit log.
# related_resources: ["https://attack.mitre.org/techniques/T1070/"]
# custom:
#   severity: critical
#   decision: block
#   harm: guard
#   tags: [essential, OWASP-ASI10, ATTACK-T1070, SOC2-CC7.2]
#   message: "This empties or replaces a record of what was done on this machine: {target}"
#   remediation: leave the records alone; if a disk is full, name the large file to the user
#   overridable: [organisation, user]
trace_removal if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	_replaces(e)
	scores.below(e, data.reviewer.guard.traces)
}

_replaces(e) if e.kind == "file_delete"

# Appending removes nothing.
_replaces(e) if {
	e.kind == "file_write"
	not e.verb in {"append", "chmod", "chown", "restrict", "mkdir"}
}
