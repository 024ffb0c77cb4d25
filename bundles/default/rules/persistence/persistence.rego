package reviewer.fired

# METADATA
# title: Persistent code installed
# description: persistence.classes lists the classes of files that something runs.
# custom:
#   id: persistence
fires contains "persistence" if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	_stays(e)
}

_stays(e) if e.persistence

_stays(e) if {
	e.class in data.reviewer.persistence.classes
	e.kind == "file_write"
}
