package reviewer.families.git

# METADATA
# title: Repository pushed to a new remote
# description: >-
#   A push to a URL or remote that is new to the repository or that nothing was fetched from, or
#   a change of a remote's URL.
# scope: document
# related_resources: ["https://attack.mitre.org/techniques/T1567/001/"]
# custom:
#   severity: high
#   decision: ask
#   harm: exposure
#   tags: [OWASP-ASI03, ATLAS-AML.T0086, ATTACK-T1567, SOC2-CC6.7]
#   message: "This sends the repository, now or with the next push, to a location that was not one of its remotes: {command}"
#   remediation: push to the existing remote, or let the user add the other one
#   overridable: [organisation, user]
git_remote_new if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.object == "new remote"
}

# A remote is pointed at another address, and later pushes go there.
git_remote_new if {
	"redirect" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "redirect"
	e.object == "remote"
}

# The session itself added the remote in an earlier call.
git_remote_new if {
	"network" in input.kinds
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "network"
	e.egress
	input.action.commands[e.command].name == "git"
	lower(e.target) in object.get(input.session, "remotes", [])
}

# METADATA
# title: File with secrets added to version control
# description: Git's ignore rules are overridden for the file, or for all ignored files.
# related_resources: ["https://attack.mitre.org/techniques/T1552/001/"]
# custom:
#   severity: high
#   decision: ask
#   harm: exposure
#   tags: [OWASP-ASI03, ATTACK-T1552, SOC2-CC6.1]
#   message: "This adds a file with secrets to version control, although git ignores it: {command}"
#   remediation: leave it out, and commit an example without values (.env.example)
#   overridable: [organisation, user]
git_secret_staged if {
	"stage" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.verb == "stage"
	_holds_secrets(e)
}

_holds_secrets(e) if e.class in {"credential", "env_file"}

_holds_secrets(e) if e.location in {"self", "ancestor"}

# A file that is added although git ignores it, and whose name says so.
_holds_secrets(e) if {
	some flag in input.action.commands[e.command].flags
	flag in {"-f", "--force"}
	some part in data.reviewer.lists.secret_names
	contains(regex.replace(lower(e.target), `^.*/`, ""), part)
}
