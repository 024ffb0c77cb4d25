package reviewer.spoken

# METADATA
# title: Something is installed that runs later by itself
# custom:
#   id: persistence
speaks contains "persistence" if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.persistence
}

# METADATA
# title: Something is installed that runs later by itself
# description: A file is written that something runs later by itself.
# custom:
#   id: persistence
speaks contains "persistence" if {
	"changes_files" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_write"
	e.class in data.reviewer.persistence.classes
}
