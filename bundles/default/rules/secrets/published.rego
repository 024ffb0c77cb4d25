package reviewer.families.secrets

# METADATA
# title: Copy of a file with secrets that others get to see
# description: >-
#   A file with secrets, or all variables of the environment, is copied, encoded or archived into a file that the same call
#   adds to version control, or into a folder that a web server publishes.
# related_resources: ["https://attack.mitre.org/techniques/T1552/001/"]
# custom:
#   severity: high
#   decision: ask
#   harm: exposure
#   tags: [OWASP-ASI03, ATTACK-T1552, SOC2-CC6.1]
#   message: "This copies secrets to where others get to see them: {command}"
#   remediation: leave the secrets out, and copy an example without values (.env.example)
#   overridable: [organisation, user]
secret_published if {
	"changes_files" in input.facts
	input.phase == "pre"
	some w in input.action.effects
	w.kind == "file_write"
	w.location in {"inside", "worktree"}
	not _stays_private(w)
	_seen_by_others(w)
	_takes_secrets(w.command)
}

_stays_private(w) if w.class in {"credential", "env_file", "git_data"}

_stays_private(w) if w.git == "ignored"

_takes_secrets(i) if {
	some r in input.action.effects
	r.kind == "file_read"
	r.command == i
	r.class in {"credential", "env_file"}
	r.verb == "read"
}

_takes_secrets(i) if {
	"environment_dump" in input.action.signals
	input.action.commands[i].name in data.reviewer.lists.environment_printers
}

_seen_by_others(w) if {
	some name in data.reviewer.lists.published_folders
	contains(concat("", ["/", w.short]), concat("", ["/", name, "/"]))
}

_seen_by_others(w) if {
	some i, c in input.action.commands
	c.name == "git"
	some sub in c.sub
	sub in {"add", "stage", "commit"}
	i > w.command
}
