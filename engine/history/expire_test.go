package history

import (
	"encoding/json"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

func (s *tale) expires(mode string) *tale {
	s.add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlExpire, Mode: mode}})
	return s
}

// What people wrote makes nothing milder once it has expired; what they forbade stays.
func TestExpireWords(t *testing.T) {
	a := command("rm a", engine.EffectFileDelete, "./a")
	leave, lift := engine.Constraint{Kind: engine.ConstraintLeave, What: "a"}, engine.Constraint{Kind: engine.ConstraintLift}
	facts := func(s *tale) engine.Input { return s.next(a) }
	for name, test := range map[string]struct {
		before, words func(*tale)
		same          func(engine.Input) any
	}{
		"a name": {nil, func(s *tale) {
			s.says(engine.Goal{Names: []string{"a"}, Words: marks("a"), Intents: []engine.Intent{engine.IntentFix}})
		},
			func(in engine.Input) any { return in.Goal }},
		"a prohibition that is lifted": {func(s *tale) { s.says(engine.Goal{Constraints: []engine.Constraint{leave}}) },
			func(s *tale) { s.says(engine.Goal{Constraints: []engine.Constraint{lift}}) }, func(in engine.Input) any { return in.Goal.Constraints }},
		"work that a prohibition did not mean": {func(s *tale) { s.says(engine.Goal{Constraints: []engine.Constraint{leave}}) },
			func(s *tale) { s.says(engine.Goal{Intents: []engine.Intent{engine.IntentFix}}) },
			func(in engine.Input) any { return in.Goal.Constraints }},
		"a denial that is forgiven": {func(s *tale) { s.blocked(a, engine.RuleResult{ID: "r", Decision: engine.Block, Harm: engine.HarmLoss}) },
			func(s *tale) { s.says(engine.Goal{Intents: []engine.Intent{engine.IntentFix}, Names: []string{"a"}}) },
			func(in engine.Input) any { return in.History.Denials }},
		"what was spent": {func(s *tale) { s.ran(a, "gone") }, func(s *tale) { s.says(engine.Goal{}) },
			func(in engine.Input) any { return in.Session.FileOps }},
	} {
		before, after := newTale(), newTale()
		for _, s := range []*tale{before, after} {
			if test.before != nil {
				test.before(s)
			}
		}
		want := test.same(facts(before))
		if test.words(after); cmp.Equal(test.same(facts(after)), want) {
			t.Errorf("%s: the words change nothing, so the test shows nothing", name)
		}
		if !after.h.Heeds() {
			t.Errorf("%s: the words are not noticed", name)
		}
		if d := cmp.Diff(want, test.same(facts(after.expires(engine.ExpireWords)))); d != "" {
			t.Errorf("%s: after they expired: %s", name, d)
		}
		if after.h.Heeds() {
			t.Errorf("%s: something still counts", name)
		}
	}
	s := newTale().says(engine.Goal{Constraints: []engine.Constraint{leave}}).expires(engine.ExpireAll)
	if list := said(facts(s)); !cmp.Equal(list, []engine.Constraint{leave}) {
		t.Errorf("a prohibition expired: %v", list)
	}
}

// The modes end more and more; an unknown one ends everything.
func TestExpireModes(t *testing.T) {
	own := command("touch own", engine.EffectFileWrite, "~/own", created)
	for mode, want := range map[string][2]bool{
		engine.ExpireWords: {true, true}, engine.ExpirePermits: {false, true}, engine.ExpireAll: {false, false}, "": {false, false}, "later": {false, false},
	} {
		s := newTale().scope("~/other").ran(own, "").expires(mode)
		in := s.next(command("rm", engine.EffectFileDelete, "~/own"))
		got := [2]bool{len(s.h.Goals.Scope) > 0, in.Action.Effects[0].Ledger == engine.LedgerCreated}
		if got != want {
			t.Errorf("%q: permission and own file are left: %v, want %v", mode, got, want)
		}
	}
}

// An expiry needs no signature, and a state with one is read back as it was.
func TestExpireIsKept(t *testing.T) {
	h := New()
	n := int64(0)
	add := func(r *engine.Record) { n++; r.N, r.T = n, n; h.Append(r) }
	add(&engine.Record{Kind: engine.KindOpen, Chain: "c"})
	add(&engine.Record{Kind: engine.KindPrompt, Event: &engine.EventFacts{Goal: &engine.Goal{Constraints: []engine.Constraint{{Kind: engine.ConstraintRead}}}}})
	add(&engine.Record{Kind: engine.KindPrompt, Event: &engine.EventFacts{Goal: &engine.Goal{Constraints: []engine.Constraint{{Kind: engine.ConstraintLift}}}}})
	raw, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	read, err := Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*State{h, read} {
		s.Append(&engine.Record{Kind: engine.KindControl, N: 4, T: 4, Control: &engine.Control{Do: engine.ControlExpire, Mode: engine.ExpireWords}})
		if s.Unsigned > 0 || len(s.Goals.Forbidden) != 1 {
			t.Errorf("after the expiry: %+v, %d unsigned", s.Goals, s.Unsigned)
		}
	}
}
