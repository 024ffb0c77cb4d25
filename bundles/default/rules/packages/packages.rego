package reviewer.families.packages

import data.reviewer.effects
import data.reviewer.requested
import data.reviewer.scores

# METADATA
# title: Essential system package removed
# description: >-
#   Applies to the packages that packages.essential lists; in a container, packages_removed
#   asks instead.
# related_resources: [https://www.debian.org/doc/debian-policy/ch-binary.html]
# custom:
#   severity: critical
#   decision: block
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: "This removes packages that the machine needs in order to work: {command}"
#   remediation: install what you need alongside them, in a container or an environment of the project
#   overridable: [organisation, user]
essential_removed if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	_uninstalls(e)
	not e.host
	_essential(input.action.commands[e.command])
}

_uninstalls(e) if {
	e.kind == "system_call"
	e.verb == "uninstall"
	e.command >= 0
}

# A name, perhaps after a category, and before a version, an architecture or a pattern.
_essential(c) if {
	not _beside(c)
	some word in effects.arguments(c)
	name := regex.replace(regex.replace(lower(word), `^[a-z0-9-]+/`, ""), `([:=@~].*|[*+-]+)$`, "")
	some pattern in data.reviewer.packages.essential
	regex.match(concat("", ["^(", pattern, ")$"]), name)
}

# METADATA
# title: Bulk removal of system packages
# description: >-
#   Removes all packages, a list of packages that is only known at run time, or the base environment, or overrides a warning of the package manager.
# scope: document
# related_resources: [https://manpages.debian.org/stable/apt/apt-get.8.en.html]
# custom:
#   severity: high
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: "This removes packages in bulk, and others may need them: {command}"
#   remediation: name the one package that must go, and check first what is removed with it (`apt-get -s remove NAME`)
#   overridable: [organisation, user, project]
packages_removed if {
	"uninstall" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	_uninstalls(e)
	_broadly(input.action.commands[e.command])
}

# Essential packages in a container.
packages_removed if {
	"uninstall" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	_uninstalls(e)
	e.host
	_essential(input.action.commands[e.command])
}

# All installed packages of a language, in an environment that others may use.
packages_removed if {
	input.phase == "pre"
	some line in effects.lines
	scores.matches(line, data.reviewer.packages.broad)
	not "dry_run" in input.action.signals
}

_beside(c) if c.name in data.reviewer.packages.beside

_broadly(c) if {
	some word in effects.arguments(c)
	regex.match(sprintf("^(%s)$", [concat("|", data.reviewer.lists.removing_options)]), word)
}

# METADATA
# title: System package removed
# related_resources: [https://manpages.debian.org/stable/apt/apt-get.8.en.html]
# custom:
#   severity: low
#   decision: warn
#   tags: [OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: "This removes a package for everyone who uses this machine: {command}"
#   remediation: leave it if it does no harm
#   overridable: [organisation, user, project]
package_removed if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	_uninstalls(e)
}

# METADATA
# title: All packages of the machine upgraded
# description: By the commands of packages.upgrades, unless the user asked to upgrade the machine. In a container, nothing is asked.
# custom:
#   severity: medium
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, SOC2-CC8.1]
#   message: "This upgrades all packages of this machine: {command}"
#   remediation: install or upgrade only the packages that the work needs, by name
#   overridable: [organisation, user, project]
upgrade_everything if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "system_call"
	e.verb in {"install", "upgrade", "update"}
	scores.matches(effects.lines[e.command], data.reviewer.packages.upgrades)
	not scores.own_host(e)
	not data.reviewer.workspace.disposable
	not requested.asked("upgrade")
}
