package reviewer.families.supply

# METADATA
# title: Package installed from outside the registry
# description: Does not fire if its scripts do not run, or all sources are known.
# related_resources: ["https://attack.mitre.org/techniques/T1195/"]
# custom:
#   severity: high
#   decision: modify
#   harm: foreign_code
#   tags: [OWASP-ASI04, ATLAS-AML.T0010, ATTACK-T1195, SOC2-CC6.8]
#   message: "This installs a package from a URL, a repository or another index: {command}"
#   remediation: install a pinned version from the usual registry
#   overridable: [organisation, user]
package_install_url if {
	"package_install_url" in input.action.signals
	input.phase == "pre"
	not _inert
	not _known_sources
}

# Every request belongs to an installation that runs no package scripts.
_inert if {
	some e in input.action.effects
	e.kind == "network"
	every e in input.action.effects { _scriptless(e) }
}

_scriptless(e) if e.kind != "network"

_scriptless(e) if {
	command := input.action.commands[e.command]
	command.name in {"npm", "pnpm", "yarn"}
	"--ignore-scripts" in command.flags
	not _runs_scripts(e.command)
}

# The flag alone is not enough: a later --no-ignore-scripts negates it, and packages
# from git are built whatever the flags are.
_runs_scripts(command) if {
	some e in input.action.effects
	e.kind == "process"
	e.command == command
}

_known_sources if {
	count(data.reviewer.packages.sources) > 0
	count(_sources) > 0
	every s in _sources { _known_source(s) }
}

# Words of the commands that name a source: an address, or a git host's short form.
_sources contains word if {
	some c in input.action.commands
	some word in c.operands
	regex.match(`://|^git[+@]|^[a-z]+:[^/]|\.git$`, word)
}

_sources contains concat("", ["https://", module]) if {
	some c in input.action.commands
	c.name == "go"
	some module in c.operands
	regex.match(`^[\w-]+(\.[\w-]+)+/[^ ]*@`, module)
}

_sources contains value if {
	some c in input.action.commands
	some flag in c.flags
	[_, value] := split(flag, "=")
	contains(value, "://")
}

_known_source(address) if {
	some known in data.reviewer.packages.sources
	contains(known, "://")
	startswith(address, known)
}

_known_source(address) if {
	host := lower(regex.find_all_string_submatch_n(`^(?:git\+)?[a-z]+://(?:[^/@]*@)?([^/:?#]+)`, address, 1)[0][1])
	some known in data.reviewer.packages.sources
	_same_host(host, known)
}

_same_host(host, known) if host == known

_same_host(host, known) if endswith(host, concat("", [".", known]))

# METADATA
# title: Package, image or release published
# related_resources: ["https://docs.npmjs.com/policies/unpublish"]
# custom:
#   severity: high
#   decision: ask
#   harm: outward
#   tags: [essential, OWASP-ASI02, ATTACK-T1195, SOC2-CC8.1]
#   message: "This publishes to other people, and it cannot be undone: {command}"
#   remediation: show what would be published, with a dry run where the tool has one, and let a person publish
#   overridable: [organisation, user]
publish if {
	"network_request" in input.action.types
	input.phase == "pre"
	_publishes
}

_publishes if {
	some e in input.action.effects
	e.kind == "network"
	e.egress
	not e.loopback
	e.verb == "send"
	e.object in data.reviewer.services.published
}

# A published package is removed from the registry.
_publishes if {
	some e in input.action.effects
	e.kind == "network"
	e.egress
	e.verb == "delete"
	e.object == "package"
}
