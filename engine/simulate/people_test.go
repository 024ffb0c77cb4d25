package simulate

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// What people meet: a stop, the calls and prompts after it until a person resumes the session, and questions, also without those
// that repeat one.
func TestWhatPeopleMeet(t *testing.T) {
	side := func(v engine.Verdict, stop bool) sideAnswer {
		d := &engine.Decision{Decision: v, Enforced: v}
		if stop {
			d.Intervention = &engine.Intervention{Kind: engine.EmergencyStop, Issue: "loop"}
		}
		return sideAnswer{verdict: v, decision: d}
	}
	allow, ask, stop := side(engine.Allow, false), side(engine.Ask, false), side(engine.Block, true)
	p := newPeople()
	step := func(phase engine.Phase, resource, mode string, base, now sideAnswer) {
		p.count(Step{Phase: phase, Tool: "Bash", Resource: resource, From: base.verdict, To: now.verdict,
			Time: 1_760_000_000_000}, mode, base, now)
	}
	step(engine.PhasePre, "make", "plan", ask, ask)
	step(engine.PhasePre, "make", "plan", ask, allow)
	step(engine.PhasePre, "git push", "", allow, ask)
	step(engine.PhasePre, "rm", "", allow, stop)
	step(engine.PhasePre, "ls", "", allow, allow)
	step(engine.PhasePrompt, "", "", allow, allow)
	step(engine.PhasePost, "ls", "", allow, allow)
	step(engine.PhasePre, "rm", "", stop, stop) // the candidate has stopped the session already
	step(engine.PhasePre, "ls", "", allow, allow)
	p.record(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlResume}})
	step(engine.PhasePre, "ls", "", allow, allow)
	step(engine.PhasePre, "rm", "", allow, stop)

	m := newImpact(Named{}, Named{}, "", Selection{})
	p.sum(m)
	if want := (StopCounts{1, 2, 1, 4}); m.Stops == nil || *m.Stops != want {
		t.Errorf("stops: %+v, want %+v", m.Stops, want)
	}
	if want := (QuestionCounts{2, 2, 1, 0}); m.Questions == nil || *m.Questions != want {
		t.Errorf("questions: %+v, want %+v", m.Questions, want)
	}
	for _, g := range m.Modes {
		if want := map[string][3]int64{"plan": {2, 2, 1}, "": {7, 0, 1}}[g.Name]; [3]int64{g.Total, g.Baseline, g.Candidate} != want {
			t.Errorf("mode %q: %+v, want %v", g.Name, g, want)
		}
	}
	if len(m.Days) != 1 || m.Days[0].Name != "2025-10-09" || m.Days[0].Total != 9 {
		t.Errorf("days: %+v", m.Days)
	}
	sum := newImpact(Named{}, Named{}, "", Selection{})
	sum.Add(m)
	sum.Add(m)
	if sum.Stops.AfterCandidate != 8 || sum.Questions.RepeatedBaseline != 2 || sum.Days[0].Total != 18 {
		t.Errorf("of two parts: %+v, %+v, %+v", sum.Stops, sum.Questions, sum.Days)
	}
}
