# What others see or what production becomes, without an order for it.
package reviewer.families.outward

import data.reviewer.effects
import data.reviewer.families.git
import data.reviewer.requested
import data.reviewer.said
import data.reviewer.scores

_services := data.reviewer.services

# METADATA
# title: Deployment or change of production that nobody ordered
# description: >-
#   Commands, tools of servers, requests and methods of services' libraries, by the settings services.deploys, configures,
#   operates and flushes, and by services.production where their words name production. What names another stage
#   (services.stages) or this machine (services.here) is not asked about. A change of rows in a database of production counts too.
# related_resources: [https://attack.mitre.org/techniques/T1578/]
# custom:
#   severity: high
#   decision: ask
#   harm: outward
#   tags: [OWASP-ASI02, SOC2-CC8.1]
#   message: "This deploys, or changes what runs in production, and the user did not ask for it: {command}"
#   remediation: show what would change, and let the user order the deployment
#   overridable: [organisation, user, project]
deploy_unasked if {
	input.phase == "pre"
	not "dry_run" in input.action.signals
	some act in {"deploys", "configures", "operates", "flushes", "production"}
	_unordered(act)
}

_unordered("deploys") if {
	some text in _elsewhere_texts
	scores.matches(text, _services.deploys)
	not _another_stage(text)
	not _deployment_ordered
}

_unordered(act) if {
	act in {"configures", "operates", "flushes"}
	some text in _elsewhere_texts
	scores.matches(text, _services[act])
	not _another_stage(text)
	not requested.ordered(_orders[act])
}

_unordered("production") if {
	some text in _elsewhere_texts
	scores.matches(text, _services.production)
	_names_production(text)
	not _deployment_ordered
	not requested.ordered("configure")
}

# Rows of a database whose name, server or command names production.
_unordered("configures") if {
	some e in input.action.effects
	e.kind == "process"
	e.object == "rows"
	effects.production(e)
	not requested.ordered("configure")
}

_orders := {"configures": "configure", "operates": "operate", "flushes": "flush"}

_deployment_ordered if said.allows("deploy")

_deployment_ordered if said.allows("release")

_deployment_ordered if requested.asked("go_live")

_deployment_ordered if requested.ordered("operate")

_names_production(text) if effects.marked(text, data.reviewer.markers.production)

# The arguments of a tool are not in its text.
_names_production(text) if {
	startswith(text, "mcp ")
	some value in input.event.args
	is_string(value)
	count(value) < 100
	effects.marked(value, data.reviewer.markers.production)
}

_another_stage(text) if {
	effects.marked(text, _services.stages)
	not effects.marked(text, data.reviewer.markers.production)
}

_elsewhere_texts contains text if {
	some text in requested.texts
	not scores.matches(text, _services.rehearsals)
	not scores.matches(text, _services.here)
}

# METADATA
# title: Push to a shared branch that nobody ordered
# description: The person only asked to look or to explain (goals.looks), and this pushes to a branch of git.protected.
# custom:
#   severity: medium
#   decision: ask
#   harm: outward
#   tags: [OWASP-ASI02, SOC2-CC8.1]
#   message: "This changes a branch that others build on or that is deployed, and the user only asked to look: {command}"
#   remediation: show the change, or push it to a branch of your own, and let the user decide
#   overridable: [organisation, user, project]
push_unasked if {
	input.phase == "pre"
	some i, c in input.action.commands
	c.name == "git"
	"push" in c.sub
	not "dry_run" in input.action.signals
	count(input.goal.intents) > 0
	every intent in input.goal.intents { intent in data.reviewer.goals.looks }
	some branch in git.pushed(i, c)
	some pattern in data.reviewer.git.protected
	glob.match(pattern, ["/"], branch)
	every act in ["push", "commit", "deploy", "release"] { not said.allows(act) }
	not requested.asked("go_live")
}

# METADATA
# title: Merge on a code host that nobody ordered
# description: By the commands, tools and requests of services.merges.
# related_resources: [https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request]
# custom:
#   severity: high
#   decision: ask
#   harm: outward
#   tags: [OWASP-ASI09, SOC2-CC8.1]
#   message: "This merges on the code host, and the user did not ask for it: {command}"
#   remediation: open the pull request, and let the user merge it or ask for the merge
#   overridable: [organisation, user, project]
merge_unasked if {
	input.phase == "pre"
	some text in _elsewhere_texts
	scores.matches(text, _services.merges)
	not said.allows_exactly("merge")
	not requested.ordered("land")
}

# METADATA
# title: Words in the person's name that nobody ordered
# description: >-
#   Comments, issues, reviews, approvals and pull requests on code hosts and trackers, by the commands, tools and requests of
#   services.speaks and services.proposes. Mail, chats and text messages are message_sent.
# related_resources: ["https://genai.owasp.org/"]
# custom:
#   severity: medium
#   decision: ask
#   harm: outward
#   tags: [OWASP-ASI09, SOC2-CC2.3]
#   message: "Others see this under the user's account, and the user did not ask for it: {command}"
#   remediation: show the text, and let the user post it or ask for it
#   overridable: [organisation, user, project]
speech_unasked if {
	input.phase == "pre"
	some text in _elsewhere_texts
	scores.matches(text, _services.speaks)
	not said.allows_exactly("speak")
	not requested.ordered("tell")
}

speech_unasked if {
	input.phase == "pre"
	some text in _elsewhere_texts
	scores.matches(text, _services.proposes)
	not said.allows("pull_request")
	not requested.ordered("propose")
}

# METADATA
# title: Machine stopped through its interface
# description: A request to another machine whose path is one of services.stops, or of services.restarts if the person did not name the machine.
# custom:
#   severity: high
#   decision: ask
#   harm: outward
#   tags: [OWASP-ASI02, SOC2-CC7.5]
#   message: "This stops or restarts a machine that others may be using: {command}"
#   remediation: read its state first, and ask the user which machine they mean
#   overridable: [organisation, user, project]
machine_stopped if {
	"network" in input.kinds
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "network"
	e.verb != "fetch"
	_stops(e)
	_elsewhere(e)
}

_stops(e) if scores.matches(e.target, _services.stops)

_stops(e) if {
	scores.matches(e.target, _services.restarts)
	not _named_machine(e)
}

_named_machine(e) if e.named

# The machine that the command goes to.
_named_machine(e) if {
	e.command > 0
	count(object.get(input.action.commands[e.command], "via", [])) > 0
	some other in input.action.effects
	other.kind == "network"
	other.verb == "exec"
	other.named
}

_elsewhere(e) if not e.loopback

_elsewhere(e) if input.action.commands[e.command].via

_elsewhere(e) if e.host

# METADATA
# title: Production selected for later commands
# description: By the commands of services.selects, if their words name production.
# custom:
#   severity: high
#   decision: ask
#   harm: outward
#   tags: [OWASP-ASI02, SOC2-CC8.1]
#   message: "All commands after this go to production: {command}"
#   remediation: name the context in the one command that needs it (`kubectl --context NAME get pods`)
#   overridable: [organisation, user, project]
production_selected if {
	input.phase == "pre"
	some line in effects.lines
	scores.matches(line, _services.selects)
	effects.marked(line, data.reviewer.markers.production)
}
