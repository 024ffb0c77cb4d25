package reviewer.rewriting

# METADATA
# title: A package from an unknown source is installed without its scripts
# description: For the managers that know the flag; what pip builds runs in any case.
# custom:
#   id: package_install_url
offers["package_install_url"] := [{"op": "set_flag", "command": i, "flag": "--ignore-scripts"} | some i in _installs] if {
	data.reviewer.rewrite.ignore_scripts
	"package_install_url" in input.action.signals
	count(_installs) > 0
}

_installs := [i |
	some i, c in input.action.commands
	c.name in {"npm", "pnpm", "yarn"}
	some sub in c.sub
	sub in data.reviewer.lists.package_installs
]
