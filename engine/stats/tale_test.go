package stats

import (
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
)

// tale is a session that is told record by record.
type tale struct {
	records []*engine.Record
	t       int64
}

const second = int64(1000)

// newTale begins on 2026-01-31 at noon, UTC.
func newTale() *tale { return &tale{t: 1769860800000} }

func (s *tale) add(r *engine.Record) *engine.Record {
	r.N, r.T, r.Chain = int64(len(s.records)+1), s.t, "cccccccccccccccccccccccccccccccc"
	s.records = append(s.records, r)
	return r
}

// call adds a tool call that is answered so because of these rules.
func (s *tale) call(effect engine.Verdict, rules ...string) *engine.Record {
	r := s.add(&engine.Record{
		Kind: engine.KindPre, Phase: engine.PhasePre, Call: fmt.Sprint("call-", len(s.records)),
		Event:    &engine.EventFacts{Tool: "Bash"},
		Decision: &engine.Decision{Decision: effect, Enforced: effect},
		Answer:   &engine.AnswerFacts{Effect: effect, Mode: engine.ModeEnforced, MS: 4},
	})
	for _, id := range rules {
		r.Decision.Rules = append(r.Decision.Rules, engine.RuleResult{ID: id, Decision: effect})
	}
	return r
}

// calls adds calls that are simply allowed, a number of seconds apart.
func (s *tale) calls(n int, pause int64) {
	for range n {
		s.t += pause * second
		s.call(engine.Allow)
	}
}

func (s *tale) other(kind engine.Kind, phase engine.Phase, effect engine.Verdict) *engine.Record {
	return s.add(&engine.Record{Kind: kind, Phase: phase,
		Decision: &engine.Decision{Decision: effect, Enforced: effect},
		Answer:   &engine.AnswerFacts{Effect: effect, Mode: engine.ModeEnforced, MS: 2}})
}

// soon is the default of interventions.effectiveness.
var soon = Soon{Actions: 10, Seconds: 60}

// told counts sessions, the first one stopped.
func told(by Grouping, since int64, tales ...*tale) Document {
	c, err := NewCollector(since, by, soon)
	if err != nil {
		return Document{By: err.Error()}
	}
	for i, s := range tales {
		c.Begin(fmt.Sprint("session-", i))
		for _, r := range s.records {
			c.Add(r)
		}
		c.End(i == 0)
	}
	return c.Document()
}

// eventful is a session of which every metric has something to tell.
func eventful() *tale {
	s := newTale()
	s.add(&engine.Record{Kind: engine.KindOpen})
	s.call(engine.Allow).Source = engine.SourcePrefilter
	warned := s.call(engine.Warn, "loop")
	warned.Findings = []engine.Finding{{ID: "loop", Level: "medium", Measure: 3}, {ID: "broken", Error: "no such key"}}
	s.call(engine.Block, "loop", "workspace").Decision.Errors = []engine.RuleError{{Rule: "mine", Message: "division by zero"}}
	observed := s.call(engine.Block, "remote_code")
	observed.Decision.Enforced, observed.Answer.Effect, observed.Answer.Mode = engine.Allow, engine.Allow, engine.ModeObserve
	observed.Decision.Rules[0].Enforcement = "observe"
	asked := s.call(engine.Ask, "credential_access")
	s.other(engine.KindPost, engine.PhasePost, engine.Allow).Answer.Approvals = []engine.Approval{{Of: asked.ID(), Approved: true}}
	s.call(engine.Modify, "git_force_push").Rewritten = &engine.Rewritten{Failure: "no such flag"}
	asked.Answer.CPU, warned.Answer.CPU, warned.Answer.Slow = 5, 120, true
	s.add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Event: &engine.EventFacts{Tool: "Write"},
		Answer: &engine.AnswerFacts{Effect: engine.Block, Mode: engine.ModeDegraded, MS: 30, Failure: "no policy"}})
	stopping := s.call(engine.Block, "exfiltration")
	s.add(&engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.EmergencyStop, Of: stopping.ID()}})
	s.add(&engine.Record{Kind: engine.KindNote, Note: &engine.Note{What: "duplicate"},
		Answer: &engine.AnswerFacts{Effect: engine.Block, Mode: engine.ModeDuplicate}})
	s.add(&engine.Record{Kind: engine.KindNote, Note: &engine.Note{What: "recovered"}})
	s.add(&engine.Record{Kind: engine.KindKeyframe})
	early := s.call(engine.Allow)
	early.Source, early.Answer.MS = engine.SourceAsync, 0
	s.add(&engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.ActLateReview, Of: early.ID(), Result: "warn",
		Late: &engine.LateReview{Decision: &engine.Decision{Decision: engine.Warn, Enforced: engine.Warn}}}})
	s.add(&engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.ActLateReview, Of: early.ID(), Result: engine.LateReviewFailed,
		Late: &engine.LateReview{Failure: "no memory"}}})
	s.add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlDeny, Record: "00000000-1",
		Decided: &engine.Decided{Who: engine.DecidedTimeout}}})
	s.add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlStop}})
	return s
}
