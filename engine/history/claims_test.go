package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

// stops is an agent's stop, with what its last message claims.
func (s *tale) stops(says *engine.LastMessage) *engine.ClaimFacts {
	r := &engine.Record{Kind: engine.KindStop, Phase: engine.PhaseStop, Event: &engine.EventFacts{Says: says}}
	return NewInput(r, s.h, engine.View{}).History.Claims
}

// writesFile gives a file of the workspace its content.
func writesFile(path string) engine.Action {
	a := on(path, engine.EffectFileWrite, func(e *engine.Effect) { e.Location = engine.LocationInside })
	a.Fingerprint = engine.HexSum([]byte(path))
	a.Contents = map[string]engine.ContentFacts{"content": {Bytes: 1, Lines: 1, MAC: a.Fingerprint}}
	return a
}

func checksWork(print string) engine.Action {
	a := command(print, engine.EffectProcess, "")
	a.Check = true
	return a
}

func TestClaimFacts(t *testing.T) {
	const long = "./a/long/folder/name/that/is/cut/short/in/the/history/of/the/session/cart.go"
	for name, test := range map[string]struct {
		tale *tale
		want engine.ClaimFacts
	}{
		"nothing happened":          {newTale(), engine.ClaimFacts{Missing: []string{"./docs/plan.md"}}},
		"an edit":                   {newTale().ran(writesFile("./a.go"), "1"), engine.ClaimFacts{Changed: []string{"./a.go"}, Missing: []string{"./docs/plan.md"}}},
		"an edit that was denied":   {newTale().answered(writesFile("./a.go"), engine.Block), engine.ClaimFacts{Missing: []string{"./docs/plan.md"}}},
		"a check after it":          {newTale().ran(writesFile("./a.go"), "1").ran(checksWork("test"), "2"), engine.ClaimFacts{Missing: []string{"./docs/plan.md"}}},
		"a check before it":         {newTale().ran(checksWork("test"), "2").ran(writesFile("./a.go"), "1").ran(reads("./b.go"), "3"), engine.ClaimFacts{Changed: []string{"./a.go"}, Missing: []string{"./docs/plan.md"}}},
		"a program after it":        {newTale().ran(writesFile("./a.go"), "1").ran(command("make", engine.EffectProcess, ""), "2"), engine.ClaimFacts{Runs: 1, Missing: []string{"./docs/plan.md"}}},
		"a program before a check":  {newTale().ran(command("make", engine.EffectProcess, ""), "2").ran(checksWork("test"), "3"), engine.ClaimFacts{Missing: []string{"./docs/plan.md"}}},
		"a long name":               {newTale().ran(writesFile(long), "1"), engine.ClaimFacts{Missing: []string{"./docs/plan.md"}}},
		"the file was written":      {newTale().ran(checksWork("test"), "1").ran(writesFile("./web/docs/plan.md"), "2"), engine.ClaimFacts{Changed: []string{"./web/docs/plan.md"}}},
		"another file of that name": {newTale().ran(checksWork("test"), "1").ran(reads("./plan.md"), "2"), engine.ClaimFacts{Missing: []string{"./docs/plan.md"}}},
	} {
		got := test.tale.stops(&engine.LastMessage{Claims: []engine.Claim{engine.ClaimTests}, Missing: []string{"./docs/plan.md"}})
		test.want.Changed, test.want.Missing = orEmpty(test.want.Changed), orEmpty(test.want.Missing)
		if diff := cmp.Diff(&test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := newTale().stops(nil); got != nil {
		t.Errorf("a message without claims has %+v", got)
	}
}

// A stop that the agent was told about counts as an intervention.
func TestStopCountsItsIntervention(t *testing.T) {
	s := newTale()
	s.add(&engine.Record{Kind: engine.KindStop, Phase: engine.PhaseStop, Decision: &engine.Decision{
		Decision: engine.Warn, Enforced: engine.Warn, Intervention: &engine.Intervention{Kind: engine.SoftCorrection, Issue: "one"}}})
	if got := s.h.interventionFacts(&engine.Record{}); len(got) != 1 || got[0].Issue != "one" || !got[0].Run || !got[0].Next {
		t.Errorf("interventions %+v", got)
	}
}

// An intervention that was made after a call is followed by the agent's next call; one that was made before a
// call is about that call.
func TestNextCallAfterAnIntervention(t *testing.T) {
	ls := command("ls", engine.EffectFileRead, ".")
	warned := &engine.Decision{Enforced: engine.Warn, Intervention: &engine.Intervention{Kind: "ask_us", Issue: "x", Does: []string{engine.DoesWait}}}
	next := func(s *tale) bool { return s.next(ls).Session.Interventions[0].Next }
	before := newTale()
	before.add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Action: &ls, Decision: warned})
	if next(before) {
		t.Error("the call that it was about is taken for an earlier one")
	}
	s := newTale().answered(ls, engine.Allow)
	s.add(&engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: s.h.Calls[0].ID, Action: &ls, Decision: warned,
		Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: engine.OutcomeRan}}})
	if !next(s) {
		t.Error("no call came since, but one is reported")
	}
	if s.by("a1").asked(ls).by(""); !next(s) {
		t.Error("the call of another agent counts")
	}
	if s.asked(ls); next(s) {
		t.Error("a call came since, and none is reported")
	}
}

// Other sessions take over the limits of any kind that throttles.
func TestGivenLimitsOfOwnKinds(t *testing.T) {
	s := newTale()
	for _, i := range []engine.Intervention{{Kind: "slow_down", Issue: "x", Factor: 0.5}, {Kind: "ask_us", Issue: "x"}} {
		s.add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Decision: &engine.Decision{Enforced: engine.Warn, Intervention: &i}})
	}
	if g := s.h.Given(0, 9); len(g.Limits) != 1 || g.Limits[0].Factor != 0.5 {
		t.Errorf("%+v", g.Limits)
	}
}
