package reviewer.families.platform

import data.reviewer.effects
import data.reviewer.requested
import data.reviewer.scores

# METADATA
# title: Repository made public
# description: Anything that has been public may have been copied.
# related_resources:
#   - https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/managing-repository-settings/setting-repository-visibility
# custom:
#   severity: critical
#   decision: block
#   harm: exposure
#   tags: [essential, OWASP-ASI03, ATTACK-T1567.001, SOC2-CC6.7]
#   message: "This makes a repository public, with its entire history: {command}"
#   remediation: check the history for secrets first, and let a person change the visibility
#   overridable: [organisation, user]
repository_public if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "expose"
	effects.of_repository(e)
	effects.reached(e)
}

# METADATA
# title: Code review bypassed
# description: A merge with administrator rights, or a change to branch protection (services.reviews).
# related_resources:
#   - https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches
# custom:
#   severity: high
#   decision: ask
#   harm: outward
#   tags: [essential, OWASP-ASI09, ATTACK-T1562, SOC2-CC8.1]
#   message: "This bypasses the review that the branch requires: {command}"
#   remediation: request the review (`gh pr edit PR --add-reviewer NAME`)
#   overridable: [organisation, user]
review_bypass if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "network"
	not e.verb in {"fetch", "disable"}
	e.object in data.reviewer.services.reviews
	effects.reached(e)
}

# METADATA
# title: Payment or transfer of money
# description: >-
#   A request to a payment service: services.money lists the words, services.payments the hosts; and commands, tools and buttons that pay
#   (services.pays).
# related_resources:
#   - https://docs.stripe.com/testing
#   - https://attack.mitre.org/techniques/T1657/
# custom:
#   severity: high
#   decision: ask
#   harm: outward
#   tags: [essential, OWASP-ASI02, ATTACK-T1657, SOC2-CC6.1]
#   message: "This moves money, or asks a service to do so: {command}"
#   remediation: try it against a mock on this machine or with the service's test keys, and let a person make the payment
#   overridable: [organisation, user]
payment if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	_goes_out(e)
	_by(e, data.reviewer.services.money, data.reviewer.services.payments)
}

payment if {
	some text in requested.texts
	scores.matches(text, data.reviewer.services.pays)
	every word in split(text, " ") { not word in data.reviewer.lists.version_control }
}

# METADATA
# title: Message sent to people
# description: >-
#   E-mail, text messages and chats: services.messages lists the words, services.messengers
#   the hosts.
# related_resources:
#   - https://genai.owasp.org/
# custom:
#   severity: medium
#   decision: ask
#   harm: outward
#   tags: [OWASP-ASI09, ATTACK-T1567, SOC2-CC2.3]
#   message: "This sends a message to people, and it cannot be undone: {command}"
#   remediation: write the text to a file, show it, and let a person send it
#   overridable: [organisation, user, project]
message_sent if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	_goes_out(e)
	_by(e, data.reviewer.services.messages, data.reviewer.services.messengers)
}

_goes_out(e) if {
	e.kind == "network"
	e.verb == "send"
	not e.loopback
}

# By the kind of operation, or by the service that performs it.
_by(e, objects, _) if e.object in objects

_by(e, _, hosts) if {
	host := lower(regex.find_all_string_submatch_n(`^(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:[^/?#\\\s]*@)?([^/?#\\\s:@]+)`, e.target, 1)[0][1])
	scores.one_or_below(host, ".", hosts)
}
