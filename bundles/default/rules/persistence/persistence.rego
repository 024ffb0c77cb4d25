package reviewer.families.persistence

import data.reviewer.scores

# METADATA
# title: Persistent code installed
# description: >-
#   Services, timers and the like, and files that run automatically (persistence.classes lists
#   the classes).
# related_resources: [https://attack.mitre.org/techniques/T1546/]
# custom:
#   severity: high
#   decision: ask
#   harm: hold
#   tags: [essential, OWASP-ASI10, ATTACK-T1053, ATTACK-T1546, SOC2-CC6.8]
#   message: "This installs something that runs automatically after the session ends: {target}"
#   remediation: show the lines to the user and let them install it
#   overridable: [organisation, user]
persistence if {
	# persistence.classes lists the classes of files that something runs.
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	_stays(e)
}

_stays(e) if {
	e.persistence
	not _ordered_unit(e)
}

_stays(e) if {
	e.class in data.reviewer.persistence.classes
	e.kind == "file_write"
	not scores.start_up_named(e)
}

# A unit of the person's own, which they want to run at certain times: what it starts was judged when it was written.
_ordered_unit(e) if {
	e.timed
	e.kind == "system_call"
	e.verb in {"enable", "start"}
	not e.host
	not e.privileged
	c := input.action.commands[e.command]
	c.name == "systemctl"
	some flag in c.flags
	flag == "--user"
}
