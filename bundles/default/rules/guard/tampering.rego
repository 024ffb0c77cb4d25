package reviewer.spoken

# METADATA
# title: The guard is touched
# description: By what a program or a variable says of itself.
# custom:
#   id: guard_tampering
speaks contains "guard_tampering" if {
	"guard_tampering" in input.action.signals
	input.phase == "pre"
}

# METADATA
# title: The guard is touched
# description: By what becomes of its files and its process.
# custom:
#   id: guard_tampering
speaks contains "guard_tampering" if {
	"changes" in input.facts
	input.phase == "pre"
	_touches_guard
}

_touches_guard if count({e.guard | some e in input.action.effects}) > 0
