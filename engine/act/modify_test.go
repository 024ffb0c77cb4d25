package act

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/google/go-cmp/cmp"
)

// forms is a Classifier that knows two forms of a call: the one that is made,
// and the one that operations make of it.
type forms struct {
	made, other engine.Action
	cut         []engine.Cut // of the other form
	err         error        // of putting the call in it
	rewritten   int
}

const otherArgs = `{"rawest":2}`

func (f *forms) Classify(_ context.Context, e engine.Event, _ string) (engine.Facts, error) {
	a := f.made
	facts := engine.Facts{Event: engine.EventFacts{Name: e.Name, Tool: e.Tool, Args: map[string]any{"form": "made"}}, Args: engine.HexSum(e.Args)}
	if string(e.Args) == otherArgs {
		a, facts.Cut, facts.Event.Args = f.other, f.cut, map[string]any{"form": "other"}
	}
	facts.Action = &a
	return facts, nil
}

func (f *forms) Rewrite(context.Context, engine.Event, string, []engine.Operation) (json.RawMessage, error) {
	f.rewritten++
	return json.RawMessage(otherArgs), f.err
}

func (*forms) Mask(s string) string { return classifyFunc(nil).Mask(s) }

func deletion(change func(*engine.Effect)) engine.Action {
	e := engine.Effect{Kind: engine.EffectFileDelete, Verb: "delete", Target: "/w/a", Short: "./a", Certainty: engine.CertaintyExact, Reversibility: engine.R4}
	if change != nil {
		change(&e)
	}
	return engine.Action{Types: []engine.Type{engine.TypeFileDeletion}, Resource: "form", Effects: []engine.Effect{e}}
}

func trash() engine.Action {
	return deletion(func(e *engine.Effect) { e.Verb, e.Reversibility = "trash", engine.R1 })
}

// rewriting is a policy that wants every permanent deletion in another form, and
// says `then` of anything else.
func rewriting(otherwise *engine.Fallback, then engine.Verdict) decideFunc {
	return func(in *engine.Input) (engine.Decision, error) {
		if len(in.Action.Effects) > 0 && in.Action.Effects[0].Verb == "trash" || in.Phase != engine.PhasePre {
			return say(then), nil
		}
		d := say(engine.Modify)
		d.Text, d.Otherwise, d.Rewrite = "runs as {form} ({id})", otherwise, []engine.Operation{{Op: engine.OpDropFlag, Flag: "-f"}}
		return d, nil
	}
}

func asking() *engine.Fallback {
	return &engine.Fallback{Effect: engine.Ask, Text: "asked, since {why} ({id})"}
}

// The call runs in its other form; the record holds both, and what ran is what
// was approved.
func TestRewritten(t *testing.T) {
	l, c := newMemoryLog(), &forms{made: deletion(nil), other: trash()}
	r := newReviewer(l, rewriting(asking(), engine.Warn))
	r.Classifier = c
	got, err := r.Handle(context.Background(), event(engine.PhasePre, "c1"))
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Answer{ID: "cccccccc-2", Effect: engine.Modify, Mode: engine.ModeEnforced, Text: "runs as form (cccccccc-2)", Args: json.RawMessage(otherArgs)}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	rec := l.last()
	form := rec.Rewritten
	if form == nil || form.Failure != "" || form.Decision != engine.Warn || form.SHA.Args != engine.HexSum([]byte(otherArgs)) || form.Action.Effects[0].Verb != "trash" {
		t.Fatalf("the other form is recorded as %+v", form)
	}
	if rec.Action.Effects[0].Verb != "delete" || rec.SHA.Args != engine.HexSum([]byte(`{"n":1}`)) {
		t.Errorf("the call is recorded as %+v, %+v", rec.Action, rec.SHA)
	}
	if raw, _ := json.Marshal(rec); strings.Contains(string(raw), "rawest") {
		t.Errorf("raw arguments are recorded: %s", raw)
	}
	again := rec.AsModified()
	if v, err := must(r.Policy("/w")).Review(context.Background(), again, history.New()); err != nil || v.Decision.Enforced != engine.Warn {
		t.Errorf("reviewed again: %+v, %v", v.Decision, err)
	}
	after := event(engine.PhasePost, "c1")
	after.Args = json.RawMessage(otherArgs)
	if in := history.NewInput(engine.NewRecord(after, engine.Facts{Action: &engine.Action{}, Args: engine.HexSum(after.Args)}, 6000), l.history, engine.View{}); in.History.Call == nil || in.History.Call.ExecutedDiffers {
		t.Errorf("after the call: %+v", in.History.Call)
	}
}

func must(p *review.Policy, _ error) *review.Policy { return p }

// Whatever speaks against the other form, the answer is what the decision says
// for that case, and never the call as it was made.
func TestNotRewritten(t *testing.T) {
	tests := map[string]struct {
		change func(*forms)
		then   engine.Verdict
		why    string
	}{
		"the operations do not fit": {func(f *forms) { f.err = errors.New("no such flag, hunter2") }, engine.Warn, "no such flag, REDACTED"},
		"it is not safer":           {func(*forms) {}, engine.Ask, `would also be answered "ask"`},
		"another target":            {func(f *forms) { f.other.Effects[0].Target = "/w/b" }, engine.Warn, "would trash ./a"},
		"one effect more": {func(f *forms) {
			f.other.Effects = append(f.other.Effects, engine.Effect{Kind: engine.EffectNetwork, Verb: "send", Target: "a.example"})
		}, engine.Warn, "would send a.example"},
		"recursive":      {func(f *forms) { f.other.Effects[0].Recursive = true }, engine.Warn, "would trash"},
		"forced":         {func(f *forms) { f.other.Effects[0].Forced = true }, engine.Warn, "would trash"},
		"privileged":     {func(f *forms) { f.other.Effects[0].Privileged = true }, engine.Warn, "would trash"},
		"persistent":     {func(f *forms) { f.other.Effects[0].Persistence = true }, engine.Warn, "would trash"},
		"egress":         {func(f *forms) { f.other.Effects[0].Egress = true }, engine.Warn, "would trash"},
		"less certain":   {func(f *forms) { f.other.Effects[0].Certainty = engine.CertaintyPrefix }, engine.Warn, "would trash"},
		"less undoable":  {func(f *forms) { f.other.Effects[0].Reversibility = engine.R5 }, engine.Warn, "would trash"},
		"a signal":       {func(f *forms) { f.other.Signals = []engine.Signal{engine.SignalRemoteCode} }, engine.Warn, "signal remote_code"},
		"not understood": {func(f *forms) { f.other.Opaque = []engine.Opaque{{Reason: "code"}} }, engine.Warn, "not understood"},
		"cut short":      {func(f *forms) { f.cut = []engine.Cut{{Field: "action.effects", Bytes: 99}} }, engine.Warn, "too many effects"},
		"too long for a line": {func(f *forms) {
			f.made.Resource, f.other.Resource = strings.Repeat("a", 4000), strings.Repeat("b", 4000)
		}, engine.Warn, "too long to be recorded together"},
	}
	for name, test := range tests {
		for otherwise, want := range map[*engine.Fallback]engine.Verdict{asking(): engine.Ask, nil: engine.Block, {Effect: engine.Allow, Text: "{why}"}: engine.Block} {
			l, c := newMemoryLog(), &forms{made: deletion(nil), other: trash()}
			test.change(c)
			r := newReviewer(l, rewriting(otherwise, test.then))
			r.Classifier = c
			got, err := r.Handle(context.Background(), event(engine.PhasePre, "c1"))
			if err != nil || got.Effect != want || got.Args != nil {
				t.Errorf("%s: answered %+v, %v; want %s", name, got, err, want)
				continue
			}
			form := l.last().Rewritten
			if form == nil || !strings.Contains(form.Failure, test.why) || form.Action != nil {
				t.Errorf("%s: recorded %+v, want %q", name, form, test.why)
			}
			if want == engine.Ask && !strings.Contains(got.Text, form.Failure) {
				t.Errorf("%s: told %q, which does not say why", name, got.Text)
			}
		}
	}
}

// A policy that wants another form has to say which.
func TestModifyWithoutOperations(t *testing.T) {
	l := newMemoryLog()
	r := newReviewer(l, always(say(engine.Modify)))
	r.Classifier = &forms{made: deletion(nil), other: trash()}
	got, err := r.Handle(context.Background(), event(engine.PhasePre, "c1"))
	if err != nil || got.Effect != engine.Block || !strings.Contains(l.last().Rewritten.Failure, "decided to modify the call but gives no operations") {
		t.Errorf("%+v, %v, %+v", got, err, l.last().Rewritten)
	}
}

// A hook that is installed twice gives the same form again, and none where it
// does not are reproduced.
func TestRewrittenAgain(t *testing.T) {
	l, c := newMemoryLog(), &forms{made: deletion(nil), other: trash()}
	r := newReviewer(l, rewriting(asking(), engine.Allow))
	r.Classifier = c
	for i, mode := range []engine.AnswerMode{engine.ModeEnforced, engine.ModeDuplicate} {
		got, err := r.Handle(context.Background(), event(engine.PhasePre, "c1"))
		if err != nil || got.Effect != engine.Modify || got.Mode != mode || string(got.Args) != otherArgs {
			t.Errorf("hook %d: %+v, %v", i, got, err)
		}
	}
	c.err = errors.New("gone")
	if got, err := r.Handle(context.Background(), event(engine.PhasePre, "c1")); err == nil || got.Effect != engine.Block || got.Args != nil {
		t.Errorf("where the form is not available again: %+v, %v", got, err)
	}
}

// A policy that only watches changes nothing.
func TestWatchedRewritesNothing(t *testing.T) {
	l, c := newMemoryLog(), &forms{made: deletion(nil), other: trash()}
	d := say(engine.Modify)
	d.Enforced, d.Rewrite = engine.Allow, []engine.Operation{{Op: engine.OpDropFlag, Flag: "-f"}}
	r := newReviewer(l, always(d))
	r.Classifier = c
	got, err := r.Handle(context.Background(), event(engine.PhasePre, "c1"))
	if err != nil || got.Effect != engine.Allow || got.Args != nil || l.last().Rewritten != nil || c.rewritten != 0 {
		t.Errorf("%+v, %v, %+v", got, err, l.last().Rewritten)
	}
}
