package approval

import "github.com/agent-reviewer/reviewer/engine"

// Step is the next step of the process that holds up a call.
type Step struct {
	Wait   bool           // the question is pending
	Allow  bool           // the call runs; neither: it does not
	Record *engine.Record // to append first; nil: everything is recorded
}

// Next returns the step for a question at a time, which must be taken under the session's
// lock. id is that of its record. changed returns why an approval no longer applies; empty:
// it does. A question that is not known is denied.
func (q *Question) Next(id string, t int64, changed func() string) Step {
	if q == nil {
		return Step{}
	}
	switch q.StateAt(t) {
	case Pending:
		return Step{Wait: true}
	case Resumed:
		return Step{Allow: true}
	case Approved:
		if why := changed(); why != "" {
			return Step{Record: denial(id, engine.DecidedRule, why)}
		}
		return Step{Allow: true, Record: &engine.Record{Kind: engine.KindAct,
			Act: &engine.Act{Kind: engine.ActResumed, Of: id}}}
	case Expired:
		if q.At == 0 {
			return Step{Record: denial(id, engine.DecidedTimeout, "")}
		}
	case Stopped:
		if q.At == 0 {
			return Step{Record: denial(id, engine.DecidedStop, "")}
		}
	}
	return Step{}
}

func denial(id, who, why string) *engine.Record {
	return &engine.Record{Kind: engine.KindControl,
		Control: &engine.Control{Do: engine.ControlDeny, Record: id, Reason: why, Decided: &engine.Decided{Who: who}}}
}
