package reviewer.families.inbound

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Login access granted
# description: Applies to the files that inbound.logins lists, which decide who can log in without a password.
# related_resources: ["https://attack.mitre.org/techniques/T1098/004/", "https://man.openbsd.org/sshd#AUTHORIZED_KEYS_FILE_FORMAT"]
# custom:
#   severity: critical
#   decision: block
#   harm: hold
#   tags: [essential, OWASP-ASI03, ATTACK-T1098, SOC2-CC6.1]
#   message: "This changes who may log in to this machine: {target}"
#   remediation: show the key to the user and let them add it
#   overridable: [organisation, user]
login_granted if {
	# On this machine; key files on other machines are judged as changes there.
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	strings.any_suffix_match(scores.spellings(e), scores.between("/", data.reviewer.inbound.logins, "/"))
}

# METADATA
# title: Listener reachable from other machines
# related_resources: ["https://attack.mitre.org/techniques/T1571/"]
# custom:
#   severity: medium
#   decision: warn
#   tags: [OWASP-ASI02, ATTACK-T1571, SOC2-CC6.6]
#   message: "This listens on an address that other machines can reach: {command}"
#   remediation: bind to 127.0.0.1
#   overridable: [organisation, user, project]
inbound_listener if {
	data.reviewer.inbound.listeners == "warn"
	_listens
}

# METADATA
# title: Listener reachable from other machines (asks)
# description: Like inbound_listener, where inbound.listeners is ask.
# related_resources: [https://attack.mitre.org/techniques/T1571/]
# custom:
#   severity: medium
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI03, ATTACK-T1571, SOC2-CC6.6]
#   message: "This accepts connections from other machines: {command}"
#   remediation: bind to 127.0.0.1
#   overridable: [organisation, user]
listener_asked if {
	data.reviewer.inbound.listeners == "ask"
	_listens
}

_listens if {
	"network_request" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "listen"
	not e.egress
	not e.target in data.reviewer.inbound.local
}

_listens if {
	"share" in input.verbs
	"share" in effects.system_verbs
}
