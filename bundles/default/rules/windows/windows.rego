package reviewer.families.windows

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Windows registry changed
# description: >-
#   Applies to the keys that registry.asked lists, not to keys where programs store settings of
#   a single user.
# related_resources: [https://attack.mitre.org/techniques/T1112/]
# custom:
#   severity: high
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, ATTACK-T1112, SOC2-CC8.1]
#   message: "This changes a setting of this machine in the Windows registry: {command}"
#   remediation: say which value is needed and what for, and let a person set it
#   overridable: [organisation, user]
registry_change if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	effects.in_registry(e)
	some pattern in data.reviewer.registry.asked
	regex.match(pattern, e.target)
}

# METADATA
# title: Code run through a trusted system program
# description: >-
#   Applies to the programs that execution.proxies lists: they load a library, a script or a
#   control panel under the name of a trusted program; installers need them, builds and tests do
#   not.
# related_resources: [https://attack.mitre.org/techniques/T1218/]
# custom:
#   severity: high
#   decision: ask
#   harm: foreign_code
#   tags: [OWASP-ASI05, ATTACK-T1218, SOC2-CC6.8]
#   message: "This makes a trusted system program run code from another file: {command}"
#   remediation: run the program directly, under its own name
#   overridable: [organisation, user, project]
#   examples:
#     match: [{Bash: "rundll32.exe javascript:a"}]
#     no_match: [{Bash: "where rundll32.exe"}]
proxy_execution if {
	input.phase == "pre"
	some line in effects.lines
	scores.matches(line, data.reviewer.execution.proxies)
}

# METADATA
# title: Screen, keyboard, microphone or network recorded
# description: >-
#   Applies to the programs that execution.records lists: such a recording contains what
#   people type, see and say.
# related_resources: [https://attack.mitre.org/techniques/T1113/]
# custom:
#   severity: high
#   decision: ask
#   harm: exposure
#   tags: [OWASP-ASI03, ATTACK-T1113, SOC2-CC6.7]
#   message: "This records what people at this machine type, see, say or send: {command}"
#   remediation: take a screenshot of only the page or window you need, with a browser of your own
#   overridable: [organisation, user, project]
recording if {
	input.phase == "pre"
	some i, line in effects.lines
	scores.matches(line, data.reviewer.execution.records)
	not _shows_recording(input.action.commands[i])
}

_shows_recording(c) if {
	some pattern in data.reviewer.execution.replays
	regex.match(pattern, concat(" ", effects.arguments(c)))
}
