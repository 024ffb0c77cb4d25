package reviewer.families.secrets

# METADATA
# title: Search for secrets outside the workspace
# description: A search of a home directory or the whole machine, for words that secrets.hunted lists.
# related_resources: ["https://attack.mitre.org/techniques/T1552/001/"]
# custom:
#   severity: high
#   decision: ask
#   harm: exposure
#   tags: [essential, OWASP-ASI03, ATLAS-AML.T0055, ATTACK-T1552, SOC2-CC6.1]
#   message: "This searches for secrets outside the workspace: {command}"
#   remediation: say which credential is missing and what it is for, and let the user configure it
#   overridable: [organisation, user]
secret_search if {
	"outside_workspace" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_read"
	not e.location in {"inside", "self", "worktree", "temp", "null"}
	_many_files(e)
	some word in _sought(e)
	some pattern in data.reviewer.secrets.hunted
	regex.match(pattern, word)
}

_many_files(e) if e.recursive

_many_files(e) if e.entry == "dir"

_many_files(e) if e.location in {"home_root", "root", "ancestor"}

_many_files(e) if {
	some flag in input.action.commands[e.command].flags
	regex.match(`^(-[a-zA-Z]*[rR]|--(dereference-)?recursive$)`, flag)
}

# What a program or tool searches for.
_sought(e) := array.concat(object.get(c, "flags", []), object.get(c, "operands", [])) if {
	c := input.action.commands[e.command]
	c.name in data.reviewer.secrets.searchers
}

_sought(_) := words if {
	input.action.name in {"safe.read.grep", "safe.read.glob"}
	words := [word |
		some key in ["pattern", "query", "queries"]
		some word in _texts(object.get(input.event.args, key, []))
		is_string(word)
	]
}

_texts(value) := [value] if is_string(value)

_texts(value) := value if is_array(value)
