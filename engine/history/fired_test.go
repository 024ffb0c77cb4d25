package history

import (
	"fmt"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

func TestFired(t *testing.T) {
	finds := func(s *tale, agent string, found ...engine.Finding) *tale {
		s.by(agent)
		a := reads("./a")
		s.add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Action: &a, Findings: found})
		return s
	}
	loop, worse := engine.Finding{ID: "loop", Level: "medium"}, engine.Finding{ID: "loop", Level: "high"}
	for name, test := range map[string]struct {
		tale *tale
		want map[string]engine.FiredFacts
	}{
		"nothing":             {newTale(), map[string]engine.FiredFacts{}},
		"no level":            {finds(newTale(), "", engine.Finding{ID: "x", Measure: 3}), map[string]engine.FiredFacts{}},
		"just now":            {finds(newTale(), "", loop), map[string]engine.FiredFacts{"loop": {Ago: 1, Level: "medium", Told: engine.NeverHappened, ToldLevel: "", Times: 1}}},
		"some time ago":       {times(finds(newTale(), "", loop), 7), map[string]engine.FiredFacts{"loop": {Ago: 8, Level: "medium", Told: engine.NeverHappened, ToldLevel: "", Times: 1}}},
		"worse":               {finds(finds(newTale(), "", loop), "", worse), map[string]engine.FiredFacts{"loop": {Ago: 1, Level: "high", Told: engine.NeverHappened, ToldLevel: "", Times: 2}}},
		"two":                 {finds(finds(newTale(), "", loop), "", engine.Finding{ID: "drift", Level: "low"}), map[string]engine.FiredFacts{"loop": {Ago: 2, Level: "medium", Told: engine.NeverHappened, ToldLevel: "", Times: 1}, "drift": {Ago: 1, Level: "low", Told: engine.NeverHappened, ToldLevel: "", Times: 1}}},
		"of another agent":    {finds(newTale(), "sub", loop).by(""), map[string]engine.FiredFacts{"loop": {Ago: engine.NeverHappened, Level: "", Told: engine.NeverHappened, ToldLevel: "", Times: 1}}},
		"of both":             {finds(finds(newTale(), "", loop), "sub", worse).by(""), map[string]engine.FiredFacts{"loop": {Ago: 1, Level: "medium", Told: engine.NeverHappened, ToldLevel: "", Times: 2}}},
		"others in between":   {times(finds(newTale(), "", loop).by("sub"), 20).by(""), map[string]engine.FiredFacts{"loop": {Ago: 1, Level: "medium", Told: engine.NeverHappened, ToldLevel: "", Times: 1}}},
		"longer than is kept": {times(finds(newTale(), "", loop), 2*engine.NeverHappened), map[string]engine.FiredFacts{"loop": {Ago: engine.NeverHappened, Level: "medium", Told: engine.NeverHappened, ToldLevel: "", Times: 1}}},
	} {
		if d := cmp.Diff(test.want, test.tale.next(reads("./a")).History.Fired); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	s := newTale()
	for i := range 500 {
		finds(s, fmt.Sprint("agent", i%5), engine.Finding{ID: fmt.Sprint("f", i), Level: "low"}, loop)
	}
	got := s.next(reads("./a")).History.Fired
	if len(got) > maxFired+totalFired || got["loop"].Times != 500 || got["loop"].Ago != 1 || got["f499"].Ago != 1 {
		t.Errorf("of many findings, %d are kept: %+v", len(got), got)
	}
}

// What was found and what was reported are kept separately: a warning that is
// suppressed was still found, and one that another took precedence over was not
// reported.
func TestTold(t *testing.T) {
	loop := func(level string, told bool) func(*tale) {
		return func(s *tale) {
			a, d := reads("./a"), &engine.Decision{Decision: engine.Warn}
			d.Rules = []engine.RuleResult{{ID: "other", Message: "It is odd."}, {ID: "loop", Message: "Three times the same."}}
			if d.Text = "reviewer: It is odd. (rule other)"; told {
				d.Text = "reviewer: Three times the same. (rule loop)"
			}
			s.add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Action: &a, Findings: []engine.Finding{{ID: "loop", Level: level}}, Decision: d})
		}
	}
	for name, test := range map[string]struct {
		events []func(*tale)
		want   engine.FiredFacts
	}{
		"told":                 {[]func(*tale){loop("medium", true)}, engine.FiredFacts{Ago: 1, Level: "medium", Told: 1, ToldLevel: "medium", Times: 1}},
		"not told":             {[]func(*tale){loop("medium", false)}, engine.FiredFacts{Ago: 1, Level: "medium", Told: engine.NeverHappened, ToldLevel: "", Times: 1}},
		"told, then quiet":     {[]func(*tale){loop("medium", true), loop("high", false), loop("low", false)}, engine.FiredFacts{Ago: 1, Level: "low", Told: 3, ToldLevel: "medium", Times: 3}},
		"told, quiet and told": {[]func(*tale){loop("medium", true), loop("medium", false), loop("high", true)}, engine.FiredFacts{Ago: 1, Level: "high", Told: 1, ToldLevel: "high", Times: 3}},
	} {
		s := newTale()
		for _, event := range test.events {
			event(s)
		}
		if d := cmp.Diff(test.want, s.next(reads("./a")).History.Fired["loop"]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A finding after a call counts as one before it.
func TestFiredAfterTheCall(t *testing.T) {
	a := reads("./a")
	s := newTale().asked(a)
	s.add(&engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: fmt.Sprint("c", s.h.N), Action: &a, Findings: []engine.Finding{{ID: "errors", Level: "low"}}, Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: engine.OutcomeFailed}}})
	if d := cmp.Diff(map[string]engine.FiredFacts{"errors": {Ago: 1, Level: "low", Told: engine.NeverHappened, ToldLevel: "", Times: 1}}, s.next(a).History.Fired); d != "" {
		t.Error(d)
	}
}

func TestLast(t *testing.T) {
	s := newTale().ran(reads("./a"), "x").failedBy(edits("./b"), engine.TroubleSyntax).answered(deletes("./c"), engine.Block)
	check := reads("./d")
	check.Check = true
	s.asked(check).pauses(5 * time.Second)
	want := []engine.PastFacts{
		{Types: []engine.Type{engine.TypeFileModification}, Target: "./b", Outcome: engine.OutcomeFailed, Error: "e", Trouble: engine.TroubleSyntax, Ago: 9000},
		{Types: []engine.Type{engine.TypeFileDeletion}, Target: "./c", Outcome: engine.OutcomeDenied, Ago: 7000},
		{Types: []engine.Type{engine.TypeFileRead}, Target: "./d", Outcome: engine.OutcomePending, Check: true, Ago: 6000},
	}
	a := reads("./e")
	r := &engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, T: s.t + 1000, Action: &a}
	if d := cmp.Diff(want, NewInput(r, s.h, engine.View{Last: 3}).History.Last); d != "" {
		t.Error(d)
	}
	if got := NewInput(r, s.lost().h, engine.View{Last: 1}).History.Last[0].Outcome; got != engine.OutcomeUnknown {
		t.Errorf("after the turn, the last call is %s", got)
	}
	if got := NewInput(r, s.h, engine.View{}).History.Last; len(got) != 0 || got == nil {
		t.Errorf("a policy that asks for none sees %v", got)
	}
}
