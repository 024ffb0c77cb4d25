package reviewer.families.privilege

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: System account changed
# related_resources: [https://attack.mitre.org/techniques/T1136/]
# custom:
#   severity: high
#   decision: ask
#   harm: hold
#   tags: [OWASP-ASI03, ATTACK-T1136, ATTACK-T1098, SOC2-CC6.2]
#   message: "This creates or changes an account on this machine: {command}"
#   remediation: let a person manage accounts
#   overridable: [organisation, user]
account_change if {
	"account" in input.verbs
	"account" in effects.system_verbs
}

# METADATA
# title: Administrator rights granted
# description: >-
#   Applies to the groups that system.admin_groups lists: their members can do anything,
#   even without a password.
# related_resources: [https://attack.mitre.org/techniques/T1098/, "https://docs.docker.com/engine/security/#docker-daemon-attack-surface"]
# custom:
#   severity: critical
#   decision: block
#   harm: hold
#   tags: [essential, OWASP-ASI03, ATTACK-T1098, SOC2-CC6.3]
#   message: "This gives an account administrator rights: {command}"
#   remediation: say which permission is missing, and let a person grant only that one
#   overridable: [organisation, user]
admin_group if {
	# The name of the group is a word of the command, or the value of a flag.
	"account" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "system_call"
	e.verb == "account"
	_words(input.action.commands[e.command]) & {g | some g in data.reviewer.system.admin_groups} != set()
}

_words(c) := {lower(w) |
	some field in ["operands", "flags"]
	some text in c[field]
	some w in regex.split(`[,=]`, text)
}

# METADATA
# title: System access rules changed
# description: >-
#   Applies to changes in the places that system.rights lists: sudo, PAM, polkit, accounts,
#   the SSH server.
# related_resources: [https://attack.mitre.org/techniques/T1548/, "https://www.sudo.ws/docs/man/sudoers.man/"]
# custom:
#   severity: critical
#   decision: block
#   harm: hold
#   tags: [essential, OWASP-ASI03, ATTACK-T1548, SOC2-CC6.3]
#   message: "This changes the access rules of this machine: {target}"
#   remediation: show the user the line that you would add, and explain its purpose
#   overridable: [organisation, user]
rights_changed if {
	"changes_files" in input.facts
	"outside_workspace" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind in {"file_write", "file_delete"}
	not e.host
	strings.any_prefix_match(concat("", [e.target, "/"]), scores.between("", data.reviewer.system.rights, "/"))
}

# METADATA
# title: Overly broad permissions
# related_resources: [https://attack.mitre.org/techniques/T1222/]
# custom:
#   severity: high
#   decision: ask
#   harm: hold
#   tags: [OWASP-ASI03, ATTACK-T1222, ATTACK-T1548, SOC2-CC6.1]
#   message: "This lets everyone write to files, or gives a program elevated rights: {command}"
#   remediation: give only the file that needs it the one permission it needs
#   overridable: [organisation, user]
permission_broad if {
	"changes_files" in input.facts
	input.phase == "pre"
	effects.opens_widely
}
