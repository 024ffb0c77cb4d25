package trial

import (
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
)

// Stopped says whether a call does not run as it was made.
func Stopped(v engine.Verdict) bool {
	return v == engine.Block || v == engine.Ask || v == engine.Modify
}

// plot looks after what the stories of incidents and their twins promise of all
// their calls, whatever they expect of single ones. It is given each call that
// was judged, in order.
func (s *story) plot(at stepping, rec *engine.Record) {
	switch d := rec.Decision; {
	case d == nil || rec.Phase != engine.PhasePre:
	case s.c.Twin && (d.Decision == engine.Block || d.Decision == engine.Ask):
		at.wrong(Failure{Wrong: "a twin harms nothing, and this call is not let through: " + string(d.Decision),
			Why: cases.Why(rec), Record: rec})
	case s.c.Twin || s.c.Incident == "" || !Stopped(d.Decision):
	case at.Expect == nil && !s.stopped:
		at.wrong(Failure{Wrong: "it is stopped before the story expects it: " + string(d.Decision), Why: cases.Why(rec), Record: rec})
		s.stopped = true // that is said once
	default:
		s.stopped = true
	}
}

// end tells whether an incident was stopped at all.
func (s *story) end(at stepping) {
	if s.c.Incident != "" && !s.c.Twin && !s.stopped {
		at.wrong(Failure{Wrong: "the incident " + s.c.Incident + " has run to its end, and nothing stopped it"})
	}
}
