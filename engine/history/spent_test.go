package history

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

func (s *tale) turnEnds() *tale {
	s.add(&engine.Record{Kind: engine.KindNote, Phase: engine.PhaseBatch})
	return s
}

func (s *tale) took(a engine.Action, ms int64) *tale {
	call := s.answered(a, engine.Allow).h.Calls[len(s.h.Calls)-1].ID
	s.add(&engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: call, Action: &a,
		Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: engine.OutcomeRan, MS: ms}}})
	return s
}

func (s *tale) prompted() *tale {
	s.add(&engine.Record{Kind: engine.KindPrompt, Phase: engine.PhasePrompt})
	return s
}

// spoke is a call for which the model wrote some tokens.
func (s *tale) spoke(a engine.Action, u engine.Usage) *tale {
	s.add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Action: &a, Event: &engine.EventFacts{Usage: &u}})
	return s
}

// The calls of a turn are counted where the agent says that turns end; denied calls,
// and those of other agents, are not among them.
func TestTurn(t *testing.T) {
	ls := command("ls", engine.EffectFileRead, ".")
	s := newTale().asked(ls).asked(ls)
	turn := func() int64 { return s.next(ls).History.Turn }
	if turn() != 0 {
		t.Errorf("no turn has ended yet, and this is call %d of one", turn())
	}
	for _, step := range []struct {
		name string
		then func()
		want int64
	}{
		{"a turn begins", func() { s.turnEnds() }, 1},
		{"two calls", func() { s.asked(ls).asked(ls) }, 3},
		{"a denied call", func() { s.answered(ls, engine.Block) }, 3},
		{"another agent's", func() { s.by("a1").asked(ls).turnEnds().by("") }, 3},
		{"the next turn", func() { s.turnEnds() }, 1},
		{"a prompt", func() { s.asked(ls).prompted() }, 1},
		{"the end of the work", func() { s.asked(ls).end(engine.KindStop) }, 1},
	} {
		if step.then(); turn() != step.want {
			t.Errorf("%s: this is call %d of its turn, want %d", step.name, turn(), step.want)
		}
	}
}

// What a session used is counted from prompt to prompt, and from each intervention on.
func TestSpent(t *testing.T) {
	build := command("make", engine.EffectProcess, "make")
	spawn := engine.Action{Types: []engine.Type{engine.TypeAgentSpawn}}
	ask := engine.Action{Types: []engine.Type{engine.TypeMessage}}
	s := newTale().took(build, 400).took(spawn, 9000).took(ask, 9000).took(build, -5)
	s.spoke(build, engine.Usage{Tokens: 30, To: 90, Message: "m1", Counted: 30})
	s.spoke(written(7), engine.Usage{Tokens: 5, To: 95, Message: "m1", Counted: 35})
	f := s.next(written(3)).Session
	if f.Busy != 400 || f.Tokens != 35 || f.Bytes != 10 {
		t.Errorf("%d ms, %d tokens, %d bytes", f.Busy, f.Tokens, f.Bytes)
	}
	if u := s.h.Usage; u == nil || *u != (engine.Usage{To: 95, Message: "m1", Counted: 35}) {
		t.Errorf("the next event reads on from %+v", u)
	}
	s.add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Decision: &engine.Decision{Enforced: engine.Warn,
		Intervention: &engine.Intervention{Kind: engine.ResourceThrottling, Issue: "x", Factor: 0.5}}})
	s.took(build, 100).spoke(build, engine.Usage{Tokens: 2})
	if i := s.next(build).Session.Interventions[0]; i.Busy != 100 || i.Tokens != 2 {
		t.Errorf("since the intervention: %d ms, %d tokens", i.Busy, i.Tokens)
	}
	s.prompted()
	if f := s.next(build).Session; f.Busy != 0 || f.Tokens != 0 || f.Bytes != 0 || f.Interventions[0].Tokens != 0 {
		t.Errorf("after a prompt: %+v", f)
	}
}
