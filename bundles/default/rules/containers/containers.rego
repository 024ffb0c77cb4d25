package reviewer.spoken

# METADATA
# title: Volumes or namespaces are deleted
# custom:
#   id: container_wipe
speaks contains "container_wipe" if {
	"container_wipe" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	_wiped(e)
	e.verb != "prune"
	not _for_tests(e)
}

# METADATA
# title: Volumes or namespaces are deleted
# description: Of a cluster what holds others, or all of a kind.
# custom:
#   id: container_wipe
speaks contains "container_wipe" if {
	"container_wipe" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	_ends(e)
	e.target == "kubernetes"
	_reached(e)
}

# METADATA
# title: Volumes are thrown away with what is not in use
# custom:
#   id: container_prune
speaks contains "container_prune" if {
	"container_wipe" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	_wiped(e)
	e.verb == "prune"
}

_wiped(e) if {
	e.kind == "system_call"
	e.verb in {"wipe", "prune"}
}

# Nothing that is for tests only is lost, as a word of the command says.
_for_tests(e) if {
	not _production(e)
	some text in _said(e)
	_marked(text, data.reviewer.markers.test)
}
