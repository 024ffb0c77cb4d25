package reviewer.families.supply

# METADATA
# title: Possible typosquatting
# description: >-
#   The name differs by one letter, or by two swapped letters, from a name in packages.popular. Add legitimate names to
#   packages.known.
# related_resources: ["https://attack.mitre.org/techniques/T1195/001/", "https://owasp.org/www-project-top-10-ci-cd-security-risks/"]
# custom:
#   severity: high
#   decision: ask
#   harm: foreign_code
#   tags: [OWASP-ASI04, ATLAS-AML.T0010, ATTACK-T1195, SOC2-CC6.8]
#   message: "The name of this package differs from that of a popular one only by a letter or by two swapped letters (possible typosquatting): {command}"
#   remediation: look the name up in the project's own manifest or on the registry's website before you install it
#   overridable: [organisation, user, project]
package_lookalike if {
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
# description: >-
#   Models name packages that do not exist, mostly by joining two names that do, and attackers
#   then publish packages under those names. Add legitimate names to packages.known.
# related_resources: ["https://attack.mitre.org/techniques/T1195/001/"]
# custom:
#   severity: high
#   decision: ask
#   harm: foreign_code
#   tags: [OWASP-ASI04, OWASP-ASI08, ATLAS-AML.T0010, ATTACK-T1195, SOC2-CC6.8]
#   message: "The name of this package combines parts of two popular ones, a pattern typical of hallucinated package names: {command}"
#   remediation: look the name up in the project's own manifest or on the registry's website before you install or run it
#   overridable: [organisation, user, project]
package_invented if {
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
	"npm": data.reviewer.lists.npm_installers,
	"python": data.reviewer.lists.python_installers,
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
