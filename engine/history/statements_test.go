package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

func forbid(act string, objects ...string) engine.Statement {
	return engine.Statement{Kind: engine.Forbids, Act: act, Objects: objects}
}

func order(act string, objects ...string) engine.Statement {
	return engine.Statement{Kind: engine.Orders, Act: act, Objects: objects}
}

func session(s engine.Statement) engine.Statement {
	s.Until = engine.UntilSession
	return s
}

func never(s engine.Statement) engine.Statement {
	s.Never = true
	return s
}

// statedIn lists the statements that an input has.
func statedIn(in engine.Input) string {
	var list []string
	for _, s := range in.Goal.Statements {
		list = append(list, strings.Join(append([]string{string(s.Kind), s.Act}, s.Objects...), " "))
	}
	return strings.Join(list, "; ")
}

// TestStatements: a prohibition holds until it is lifted, and a permission until it is used or
// something is forbidden again.
func TestStatements(t *testing.T) {
	lift := func(act string, objects ...string) engine.Statement {
		return engine.Statement{Kind: engine.Lifts, Act: act, Objects: objects}
	}
	for name, test := range map[string]struct {
		said [][]engine.Statement // by prompt
		want string
	}{
		"nothing":                      {nil, ""},
		"one":                          {[][]engine.Statement{{forbid("commit")}}, "forbids commit"},
		"the same again":               {[][]engine.Statement{{forbid("commit")}, {forbid("push")}, {forbid("commit")}}, "forbids push; forbids commit"},
		"an order next to it":          {[][]engine.Statement{{forbid("commit")}, {order("commit")}}, "forbids commit; orders commit"},
		"forbidden again":              {[][]engine.Statement{{order("commit")}, {forbid("commit")}}, "forbids commit"},
		"another one forbidden":        {[][]engine.Statement{{order("push", "main")}, {forbid("push", "dev")}}, "forbids push dev; orders push main"},
		"permitted for the session":    {[][]engine.Statement{{forbid("change", "a", "b")}, {session(order("change", "a", "b"))}}, "orders change a b"},
		"permitted in part":            {[][]engine.Statement{{forbid("change", "a", "b")}, {session(order("change", "a"))}}, "forbids change a b; orders change a"},
		"lifted":                       {[][]engine.Statement{{forbid("freeze"), forbid("push")}, {lift("freeze")}}, "forbids push"},
		"lifted for something":         {[][]engine.Statement{{forbid("change")}, {lift("change", "a")}}, "forbids change"},
		"agreed to go on":              {[][]engine.Statement{{forbid("wait"), forbid("change"), forbid("commit")}, {lift("wait")}}, "forbids commit"},
		"agreed after never":           {[][]engine.Statement{{never(forbid("change"))}, {lift("wait")}}, "forbids change"},
		"a place does not end by that": {[][]engine.Statement{{forbid("change", "a")}, {lift("wait")}}, "forbids change a"},
		"order in one prompt":          {[][]engine.Statement{{order("commit"), forbid("commit")}}, "forbids commit"},
		"no act":                       {[][]engine.Statement{{forbid("")}}, ""},
	} {
		s := newTale()
		for _, list := range test.said {
			s.says(engine.Goal{Statements: list})
		}
		s.end(engine.KindStop).control(engine.ControlResume)
		if d := cmp.Diff(test.want, statedIn(s.next(command("x", engine.EffectFileRead, "./a")))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestPermissionIsUsed: a call that used a permission for one act uses it up, unless it did not run.
func TestPermissionIsUsed(t *testing.T) {
	for outcome, want := range map[engine.Outcome]string{engine.OutcomeRan: "", engine.OutcomeFailed: "orders commit", engine.OutcomeDenied: "orders commit"} {
		s := newTale().says(engine.Goal{Statements: []engine.Statement{order("commit")}})
		a := command("c", engine.EffectProcess, "")
		s.add(&engine.Record{Kind: engine.KindPre, Call: "1", Event: &engine.EventFacts{Tool: "Bash"}, Action: &a,
			Decision: &engine.Decision{Decision: engine.Allow, Enforced: engine.Allow, Uses: []string{"commit"}}})
		if got := statedIn(s.next(a)); got != "" {
			t.Errorf("while the call runs: %s", got)
		}
		if got := statedIn(s.post("1", outcome).next(a)); got != want {
			t.Errorf("%s: %q, want %q", outcome, got, want)
		}
	}
}

// TestUnusedIsKept: what a permission for the session allows is not used up, and neither is anything by a call
// that was blocked.
func TestUnusedIsKept(t *testing.T) {
	a := command("c", engine.EffectProcess, "")
	s := newTale().says(engine.Goal{Statements: []engine.Statement{session(order("commit")), order("push")}})
	s.add(&engine.Record{Kind: engine.KindPre, Call: "1", Event: &engine.EventFacts{Tool: "Bash"}, Action: &a,
		Decision: &engine.Decision{Decision: engine.Allow, Enforced: engine.Allow, Uses: []string{"commit"}}})
	s.add(&engine.Record{Kind: engine.KindPre, Call: "2", Event: &engine.EventFacts{Tool: "Bash"}, Action: &a,
		Decision: &engine.Decision{Decision: engine.Block, Enforced: engine.Block, Uses: []string{"push"}}})
	if got := statedIn(s.next(a)); got != "orders commit; orders push" {
		t.Errorf("got %s", got)
	}
}

// TestProhibitionsAreNotForgotten: what is forgotten of a prohibition is what it names; then it applies to everything.
func TestProhibitionsAreNotForgotten(t *testing.T) {
	s, acts := newTale(), []string{"change", "delete", "commit", "push"}
	for i := range 10 * maxForbidden {
		s.says(engine.Goal{Statements: []engine.Statement{forbid(acts[i%4], fmt.Sprint("file", i))}})
		for j := range i + 1 {
			if !slices.ContainsFunc(s.h.Goals.Forbidden, func(f heldStatement) bool {
				return f.Act == acts[j%4] && (len(f.Objects) == 0 || slices.Contains(f.Objects, fmt.Sprint("file", j)))
			}) {
				t.Fatalf("after %d prohibitions, number %d does not hold", i+1, j)
			}
		}
		if n := len(s.h.Goals.Forbidden); n > maxForbidden+len(acts) {
			t.Fatalf("%d are kept", n)
		}
	}
}

// TestRelation: the objects of a statement are compared with what an action does.
func TestRelation(t *testing.T) {
	write, read := edits("./src/billing/a.go"), command("r", engine.EffectFileRead, "./src/billing/a.go")
	push := engine.Action{Commands: []engine.Command{{Name: "git", Sub: []string{"push"}, Operands: []string{"origin", "HEAD:main"}}}}
	sibling := engine.Action{Commands: []engine.Command{{Name: "git", Flags: []string{"-C=../tariff-sdk"}, Sub: []string{"push"}}}}
	for name, test := range map[string]struct {
		object string
		a      engine.Action
		want   string // changes, touched, beyond
	}{
		"a part of its name": {"sdk", sibling, "false false false"},
		"what limits an act": {"only_push sdk", sibling, "false true false"},
		"its folder":         {"src/billing", write, "true true false"},
		"another place":      {"src/cart", write, "false false true"},
		"everything":         {"", write, "true true false"},
		"only read":          {"src/cart", read, "false false false"},
		"a branch":           {"main", push, "false true false"},
		"another branch":     {"dev", push, "false false false"},
		"part of a branch":   {"mai", push, "false false false"},
	} {
		st := forbid("x")
		if test.object != "" {
			st.Objects = []string{test.object}
		}
		if act, object, two := strings.Cut(test.object, " "); two {
			st.Act, st.Objects = act, []string{object}
		}
		changes, touched, beyond := relation(&st, &test.a)
		if got := fmt.Sprint(changes, touched, beyond); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func askedRecord(kind engine.Kind, phase engine.Phase, call, mac string, offers ...engine.Offer) *engine.Record {
	return &engine.Record{Kind: kind, Phase: phase, Call: call, Event: &engine.EventFacts{Tool: "AskUserQuestion", Asked: &engine.Asked{MAC: mac, Offers: offers}}}
}

func offer(choice, act string) engine.Offer {
	return engine.Offer{Choice: choice, Statement: engine.Statement{Kind: engine.Orders, Act: act}}
}

func orderedActs(h *State) string {
	acts := ""
	for _, s := range h.Goals.Permitted {
		acts += " " + s.Act
		if s.Until == engine.UntilSession {
			acts += "*"
		}
	}
	return acts
}

// TestAsked: an answer counts once, for the question that was put last, in the call in which it was put; a prompt agrees to it only
// if it is the next one.
func TestAsked(t *testing.T) {
	ask := func(call, mac string) *engine.Record {
		return askedRecord(engine.KindPre, engine.PhasePre, call, mac, offer("yes", "push"), offer("2", "commit"))
	}
	answer := func(call, mac string) *engine.Record {
		r := askedRecord(engine.KindPost, engine.PhasePost, call, mac)
		r.Event.Result, r.Event.Goal = &engine.ResultFacts{Outcome: engine.OutcomeRan}, &engine.Goal{Statements: []engine.Statement{{Kind: engine.Orders, Act: "push"}}}
		return r
	}
	refused := answer("q1", "m1")
	refused.Event.Result.Outcome = engine.OutcomeDenied
	prompt := func(agrees string) *engine.Record {
		return &engine.Record{Kind: engine.KindPrompt, Phase: engine.PhasePrompt, Event: &engine.EventFacts{Goal: &engine.Goal{Agrees: agrees}}}
	}
	note := prompt("yes")
	note.Kind, note.Phase = engine.KindNote, engine.PhaseOther
	for name, c := range map[string]struct {
		records []*engine.Record
		want    string
	}{
		"answered":                        {[]*engine.Record{ask("q1", "m1"), answer("q1", "m1")}, " push"},
		"answered without a question":     {[]*engine.Record{answer("q1", "m1")}, ""},
		"another question":                {[]*engine.Record{ask("q1", "m1"), answer("q1", "m2")}, ""},
		"another call":                    {[]*engine.Record{ask("q1", "m1"), answer("q2", "m1")}, ""},
		"an earlier question":             {[]*engine.Record{ask("q1", "m1"), ask("q2", "m2"), answer("q1", "m1")}, ""},
		"refused":                         {[]*engine.Record{ask("q1", "m1"), refused}, ""},
		"answered again":                  {[]*engine.Record{ask("q1", "m1"), answer("q1", "m2"), answer("q1", "m1")}, ""},
		"a prompt agrees":                 {[]*engine.Record{ask("q1", "m1"), prompt("yes")}, " push"},
		"a prompt agrees for the session": {[]*engine.Record{ask("q1", "m1"), prompt("yes always")}, " push*"},
		"a prompt chooses":                {[]*engine.Record{ask("q1", "m1"), prompt("2")}, " commit"},
		"a prompt chooses nothing":        {[]*engine.Record{ask("q1", "m1"), prompt("3")}, ""},
		"a prompt about something else":   {[]*engine.Record{ask("q1", "m1"), prompt(""), prompt("yes")}, ""},
		"agreed after the answer":         {[]*engine.Record{ask("q1", "m1"), answer("q1", "m2"), prompt("yes")}, ""},
		"agreed without a question":       {[]*engine.Record{prompt("yes")}, ""},
		"a prompt that nobody typed":      {[]*engine.Record{ask("q1", "m1"), note}, ""},
	} {
		h := &State{ByVerdict: map[string]int64{}, ByTool: map[string]int64{}, ByType: map[string]int64{}, Labels: map[string]int64{}}
		for i, r := range c.records {
			r.N = int64(i + 1)
			h.Append(r)
		}
		if got := orderedActs(h); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}
