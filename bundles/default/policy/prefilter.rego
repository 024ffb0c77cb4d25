# METADATA
# title: Safe reads
# description: >-
#   Lets a call pass before any score is computed: it only reads ordinary locations.
#   A call that a rule, an access list, a signal or a condition applies to does not
#   pass here, and neither does a credential, a protected zone or a stopped session.
# scope: package
package reviewer.prefilter

import data.reviewer.fired
import data.reviewer.scores

# METADATA
# title: The call passes
passes if {
	"reads_only" in input.facts
	data.reviewer.prefilter.enabled
	data.reviewer.enabled
	input.phase == "pre"
	input.findings == []
	input.action.signals == []
	not "stopped" in input.facts
	_known_types
	_ordinary_places
	fired.rules == []
}

_known_types if {
	every t in input.action.types { t in data.reviewer.prefilter.types }
}

_ordinary_places if {
	every e in input.action.effects { ordinary(e) }
}

# METADATA
# title: An effect is at an ordinary place
# description: It is known, and neither protected nor of a class that matters.
ordinary(e) if {
	e.location in data.reviewer.prefilter.locations
	scores.known_path(e)
	not _sensitive(e)
	not scores.in_zone(e)
}

# Generated files, build configuration and tests are as harmless to read as any other
# file.
_sensitive(e) if {
	e.class
	not e.class in {"generated", "ci_config", "git_data", "test"}
}
