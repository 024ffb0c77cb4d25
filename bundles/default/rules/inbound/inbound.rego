package reviewer.spoken

# METADATA
# title: Somebody may log in here
# description: On this machine; who hands out keys on others is asked there.
# custom:
#   id: login_granted
speaks contains "login_granted" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	some name in data.reviewer.inbound.logins
	some place in _spellings(e)
	endswith(place, concat("", ["/", name, "/"]))
}
