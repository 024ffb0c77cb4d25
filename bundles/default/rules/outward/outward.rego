# What others see or what production becomes, without an order for it.
package reviewer.families.outward

import data.reviewer.acts
import data.reviewer.effects
import data.reviewer.families.git
import data.reviewer.requested
import data.reviewer.said
import data.reviewer.scores

_services := data.reviewer.services

# METADATA
# title: Deployment or change of production that nobody ordered
# description: >-
#   The commands are those of services.deploys and, where production is named, of services.production and services.migrations:
#   by their words, by a variable that the call sets or uses, by a host, or by a folder or a file of variables before it. A command that names another
#   stage (services.stages) is not asked about.
# related_resources: [https://attack.mitre.org/techniques/T1578/]
# custom:
#   severity: high
#   decision: ask
#   harm: outward
#   tags: [OWASP-ASI02, SOC2-CC8.1]
#   message: "This deploys, or changes production, and the user did not ask for it: {command}"
#   remediation: show what would change, and let the user order it
#   overridable: [organisation, user, project]
deploy_unasked if {
	input.phase == "pre"
	some i, line in effects.lines
	_deploys(i, line)
	not requested.operates(i)
	not "dry_run" in input.action.signals
	not scores.matches(line, _services.rehearsals)
	not requested.typed
	not said.allows("deploy")
	not said.allows("release")
	not requested.asked("go_live")
	not _migration_ordered(line)
	not _restart_ordered(i)
}

# Something that runs is ended or restarted, and the person ordered that of what the call names.
_restart_ordered(i) if {
	acts.does_act(i, "process")
	said.allows("process")
	every e in input.action.effects { _named_host(e) }
}

_named_host(e) if not e.host

_named_host(e) if said.names("process", {regex.replace(e.host, `^[a-z]+:(.*@)?`, "")})

_migration_ordered(line) if {
	scores.matches(line, _services.migrations)
	said.names("migrate", data.reviewer.markers.production)
}

_deploys(i, line) if {
	scores.matches(line, _services.deploys)
	not effects.marked(line, _services.stages)
	_acts(i)
}

_deploys(i, line) if {
	some patterns in [_services.production, _services.migrations]
	scores.matches(line, patterns)
	_of_production(i, line)
	_acts(i)
}

_of_production(_, line) if effects.marked(line, data.reviewer.markers.production)

# A migration runs where the words around it say: kubectl --context prod exec web -- rails db:migrate.
_of_production(_, line) if {
	scores.matches(line, _services.migrations)
	not effects.marked(input.action.resource, _services.stages)
	effects.marked(input.action.resource, data.reviewer.markers.production)
}

# A variable that the call sets or uses: RAILS_ENV=production, DATABASE_URL=$PROD_URL.
_of_production(_, line) if {
	not effects.marked(line, _services.stages)
	some word in regex.find_n(`[$]\{?[A-Za-z_]\w*|(^|[\s;&|("'])[A-Za-z_]\w*=("[^"]*"|'[^']*'|[^\s;&|]+)`, input.action.resource, -1)
	effects.marked(word, data.reviewer.markers.production)
}

# A host that the command runs on.
_of_production(i, _) if {
	some e in input.action.effects
	e.command == i
	effects.marked(e.host, data.reviewer.markers.production)
}

# A folder that the call enters before, or a file of variables that it reads: cd infra/prod, source .env.production.
_of_production(i, line) if {
	not effects.marked(line, _services.stages)
	some before, c in input.action.commands
	c.name in {"cd", "pushd", "source", "."}
	before < i
	some place in c.operands
	effects.marked(place, data.reviewer.markers.production)
}

# A command that only reads, or that starts nothing, is none of these.
_acts(i) if {
	some e in input.action.effects
	e.command == i
	_does(e)
}

_does(e) if e.kind == "process"

_does(e) if {
	e.kind == "system_call"
	e.host
}

_does(e) if {
	e.kind == "network"
	e.verb != "fetch"
}

# METADATA
# title: Push that deploys and that nobody ordered
# description: >-
#   Workflows, pipelines and settings of hosting services say which branches are deployed when something is pushed (words
#   pipelines.hosting, pipelines.deploys; pipelines.stages are not production). An order to push, to deploy or to release
#   covers it.
# related_resources: [https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#onpush]
# custom:
#   severity: high
#   decision: ask
#   harm: outward
#   tags: [OWASP-ASI02, SOC2-CC8.1]
#   message: "Pushing to this branch deploys it, as the repository's workflows or settings say, and the user did not ask for it: {command}"
#   remediation: push to a branch of your own and open a pull request, or let the user order the push
#   overridable: [organisation, user, project]
push_deploys if {
	"external_network" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "deploy"
	command := input.action.commands[e.command]
	some branch in git.pushed(e.command, command)
	glob.match(e.target, ["/"], branch)
	not _left_out(e, branch)
	not _pushes_others(command)
	not "dry_run" in input.action.signals
	not said.allows("push")
	not said.allows("deploy")
	not said.allows("release")
	not requested.asked("go_live")
	not requested.typed
}

# The file that deploys other branches leaves this one out.
_left_out(e, branch) if {
	some other in input.action.effects
	other.verb == "deploy"
	other.object == e.object
	startswith(other.target, "!")
	glob.match(trim_prefix(other.target, "!"), ["/"], branch)
}

# A branch is deleted, or only tags are pushed.
_pushes_others(command) if {
	some flag in object.get(command, "flags", [])
	flag in {"--delete", "-d"}
}

_pushes_others(command) if {
	"--tags" in object.get(command, "flags", [])
	count(object.get(command, "operands", [])) < 2
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
	some text in _sent
	scores.matches(text, _services.merges)
	not said.allows_exactly("merge")
	not requested.typed
}

_sent contains text if {
	some text in requested.texts
	not scores.matches(text, _services.rehearsals)
}

# METADATA
# title: Text under the user's account that nobody ordered
# description: >-
#   Issues, comments, reviews and verdicts on code hosts and trackers, by the commands, tools and requests of services.speaks.
#   Mail, chats and text messages are message_sent. The team's own trackers (services.team, empty by default) are left out.
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
	some text in _sent
	scores.matches(text, _services.speaks)
	not scores.matches(text, _services.team)
	not said.allows_exactly("speak")
	not requested.ordered("tell")
	not requested.typed
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
