package reviewer.spoken

# METADATA
# title: A package whose name is nearly that of a popular one
# custom:
#   id: package_lookalike
speaks contains "package_lookalike" if {
	"package_install" in input.action.signals
	input.phase == "pre"
	some [registry, name] in _named_packages
	not name in data.reviewer.packages.popular[registry]
	not name in data.reviewer.packages.known
	some popular in data.reviewer.packages.popular[registry]
	abs(count(popular) - count(name)) <= 1
	_one_off(name, popular)
}

# The names behind an install, without version and extras.
_named_packages contains [registry, name] if {
	some c in input.action.commands
	some registry, programs in _installers
	c.name in programs
	some word in c.operands
	name := lower(regex.replace(word, `[@=<>~!;\[ ].*$`, ""))
	regex.match(`^[a-z][a-z0-9._-]{4,}$`, name)
}

_installers := {
	"npm": {"npm", "pnpm", "yarn", "bun", "npx", "bunx", "pnpx"},
	"python": {"pip", "pip3", "pipx", "uv", "uvx", "poetry", "pipenv", "pdm"},
}

# One letter more, less or other, or two that have changed places.
_one_off(a, b) if a in _shortened(b)

_one_off(a, b) if b in _shortened(a)

_one_off(a, b) if count(_shortened(a) & _shortened(b)) > 0

_shortened(word) := {concat("", [substring(word, 0, i), substring(word, i + 1, -1)]) | some i in numbers.range(0, count(word) - 1)}
