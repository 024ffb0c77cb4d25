package reviewer.fired

# METADATA
# title: Possible typosquatting
# custom:
#   id: package_lookalike
fires contains "package_lookalike" if {
	"changes" in input.facts
	input.phase == "pre"
	some [registry, name] in _named_packages
	not name in data.reviewer.packages.popular[registry]
	not name in data.reviewer.packages.known
	some popular in data.reviewer.packages.popular[registry]
	abs(count(popular) - count(name)) <= 1
	_one_off(name, popular)
}

# METADATA
# title: Possibly hallucinated package name
# custom:
#   id: package_invented
fires contains "package_invented" if {
	"changes" in input.facts
	input.phase == "pre"
	some [registry, name] in _named_packages
	not name in data.reviewer.packages.popular[registry]
	not name in data.reviewer.packages.known
	_made_of_two(name, data.reviewer.packages.popular[registry])
}

# The first word of one name and the end of another that begins inside a word, as in
# react-codeshift: models join names that they saw together. People who name an add-on
# use whole words.
_made_of_two(name, popular) if {
	some whole in popular
	some cut in [1, 2, 3]
	end := substring(whole, cut, -1)
	endswith(name, end)
	regex.match(`^[a-z]{6,}$`, end)
	not contains(substring(whole, 0, cut), "-")
	first := trim_right(trim_suffix(name, end), "-_.")
	first != name
	some other in popular
	other != whole
	startswith(other, concat("", [first, "-"]))
}

# The names that follow an install command.
_named_packages contains [registry, name] if {
	"package_install" in input.action.signals
	some c in input.action.commands
	some registry, programs in _installers
	c.name in programs
	some word in c.operands
	name := _package(word)
}

# What a runner downloads if it is missing, and then runs.
_named_packages contains [registry, name] if {
	some c in input.action.commands
	some wrapper in c.wrappers
	some registry, programs in _runners
	wrapper in programs
	name := _package(c.name)
}

# Without version and extras. Short names resemble many others.
_package(word) := name if {
	name := lower(regex.replace(word, `[@=<>~!;\[ ].*$`, ""))
	regex.match(`^[a-z][a-z0-9._-]{4,}$`, name)
}

_installers := {
	"npm": {"npm", "pnpm", "yarn", "bun"},
	"python": {"pip", "pip3", "pipx", "uv", "poetry", "pipenv", "pdm"},
}

_runners := {
	"npm": {"npx", "bunx", "pnpx"},
	"python": {"uvx", "pipx"},
}

# One letter added, removed or replaced, or two swapped.
_one_off(a, b) if a in _shortened(b)

_one_off(a, b) if b in _shortened(a)

_one_off(a, b) if count(_shortened(a) & _shortened(b)) > 0

_shortened(word) := {concat("", [substring(word, 0, i), substring(word, i + 1, -1)]) | some i in numbers.range(0, count(word) - 1)}
