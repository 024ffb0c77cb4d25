package reviewer.fired

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Essential system package removed
# custom:
#   id: essential_removed
fires contains "essential_removed" if {
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
# custom:
#   id: packages_removed
fires contains "packages_removed" if {
	"uninstall" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	_uninstalls(e)
	_broadly(input.action.commands[e.command])
}

# METADATA
# title: Bulk removal of system packages
# description: Essential packages in a container.
# custom:
#   id: packages_removed
fires contains "packages_removed" if {
	"uninstall" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	_uninstalls(e)
	e.host
	_essential(input.action.commands[e.command])
}

# METADATA
# title: Bulk removal of system packages
# description: All installed packages of a language, in an environment that others may use.
# custom:
#   id: packages_removed
fires contains "packages_removed" if {
	input.phase == "pre"
	some line in effects.lines
	scores.matches(line, data.reviewer.packages.broad)
	not "dry_run" in input.action.signals
}

_beside(c) if c.name in data.reviewer.packages.beside

_broadly(c) if {
	some word in effects.arguments(c)
	regex.match(`^(\?|\*|all|-a[a-z]*|--all|--force-all|--force-depends|--force-remove-essential|--allow-remove-essential|--nodeps|-[a-zA-Z]*dd)$`, word)
}

# METADATA
# title: System package removed
# custom:
#   id: package_removed
fires contains "package_removed" if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	_uninstalls(e)
}
