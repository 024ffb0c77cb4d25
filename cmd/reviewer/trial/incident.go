package trial

import (
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
)

// Stopped reports whether a call does not run in its original form.
func Stopped(v engine.Verdict) bool {
	return v == engine.Block || v == engine.Ask || v == engine.Modify
}

// plot checks the rules for incidents and their harmless twins as a whole, in addition
// to the expectations of single calls. It gets each judged call, in order.
func (s *story) plot(at stepping, rec *engine.Record) {
	switch d := rec.Decision; {
	case d == nil || rec.Phase != engine.PhasePre:
	case s.c.Twin && (d.Decision == engine.Block || d.Decision == engine.Ask):
		at.wrong(Failure{Wrong: "the twin is harmless, but this call is held up: " + string(d.Decision),
			Why: cases.Why(rec), Record: rec})
	case s.c.Twin || s.c.Incident == "":
	case d.Obliges(engine.ObligationSave):
		s.stopped = true // it runs, and nothing is lost
	case !Stopped(d.Decision):
	case at.Expect == nil && !s.stopped:
		at.wrong(Failure{Wrong: "it is stopped earlier than the story expects: " + string(d.Decision), Why: cases.Why(rec), Record: rec})
		s.stopped = true // reported once
	default:
		s.stopped = true
	}
}

// end reports whether an incident was stopped at all.
func (s *story) end(at stepping) {
	if s.c.Incident != "" && !s.c.Twin && !s.stopped {
		at.wrong(Failure{Wrong: "the incident " + s.c.Incident + " ran to its end and nothing stopped it"})
	}
}
