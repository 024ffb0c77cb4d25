package act

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/google/go-cmp/cmp"
)

// The largest facts and the largest decision fit a line together.
func TestFactsAndDecisionFitALine(t *testing.T) {
	for _, text := range []string{"x", "word ", "\x01", "\xff", `"`, "é", "\u2028", "\U0001F600"} {
		long := strings.Repeat(text, 9000/len(text))
		list := slices.Repeat([]string{long}, 30)
		d := engine.Decision{Decision: engine.Warn, Enforced: engine.Warn, Reason: long, Reasons: list, Explanation: long, Text: long, Notice: long,
			Alternatives: list, Risk: &engine.Risk{Factors: list}, Rationality: &engine.Rationality{Issues: list, Suggestions: list},
			Rules: slices.Repeat([]engine.RuleResult{{ID: "a_rule", Message: long, Decision: engine.Warn}}, 30)}
		l := newMemoryLog()
		r := newReviewer(l, always(d))
		r.Agent.Usage = func(engine.Event, *engine.Usage) *engine.Usage {
			return &engine.Usage{Tokens: 1 << 30, Skipped: 1 << 50, To: 1 << 50, Message: "0123abcd", Counted: 1 << 30}
		}
		r.Classifier = classifyFunc(func(e engine.Event, _ string) (engine.Facts, error) {
			f, err := plainly(e, "")
			f.Event.Args = map[string]any{}
			f.Event.Args["command"] = strings.Repeat("x", engine.MaxFacts-factsSize(t, f))
			return f, err
		})
		e := event(engine.PhasePre, strings.Repeat("c", maxID))
		e.Session, e.Agent = strings.Repeat("s", maxID), strings.Repeat("a", maxID)
		if _, err := r.Handle(context.Background(), e); err != nil {
			t.Fatal(err)
		}
		if l.records[1].Answer.Mode == engine.ModeDegraded {
			t.Fatalf("%+v", l.records[1].Answer)
		}
	}
}

func factsSize(t *testing.T, f engine.Facts) int {
	t.Helper()
	n := 0
	for _, v := range []any{f.Event, f.Action} {
		raw, err := engine.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		n += len(raw)
	}
	return n
}

func TestHandleRecordsAndAnswers(t *testing.T) {
	l := newMemoryLog()
	r := newReviewer(l, always(say(engine.Warn)))
	r.Clock.Elapsed = func() float64 { return 1.23456 }
	got, err := r.Handle(context.Background(), event(engine.PhasePre, "c1"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(engine.Answer{ID: "cccccccc-2", Effect: engine.Warn, Mode: engine.ModeEnforced, Text: "told (cccccccc-2)"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"open", "pre"}, l.kinds()); d != "" {
		t.Error(d)
	}
	open, pre := l.records[0], l.records[1]
	if open.Open.Workspace != "/w" || open.Open.Env == nil || open.T != 5000 {
		t.Errorf("the chain begins with %+v, %+v", open, open.Open)
	}
	if pre.By == nil || pre.By.Policy != "p" || pre.By.Config != "c" || pre.By.Env != r.Env.Digest() {
		t.Errorf("decided by %+v", pre.By)
	}
	if pre.SHA == nil || len(pre.SHA.Input) != 64 || len(pre.SHA.State) != 64 || pre.SHA.Args != engine.HexSum([]byte(`{"n":1}`)) {
		t.Errorf("digests are %+v", pre.SHA)
	}
	if pre.Answer.MS != 1.23 {
		t.Errorf("the answer took %v ms, want 1.23", pre.Answer.MS)
	}
}

// phases says what an event is recorded as, and whether policy is asked.
func TestHandlePhases(t *testing.T) {
	for phase, want := range map[engine.Phase]struct {
		kind  engine.Kind
		asked bool
	}{
		engine.PhasePre: {engine.KindPre, true}, engine.PhasePost: {engine.KindPost, true}, engine.PhasePrompt: {engine.KindPrompt, true}, engine.PhaseStop: {engine.KindStop, true}, engine.PhaseBatch: {engine.KindNote, true},
		engine.PhaseStart: {engine.KindNote, false}, engine.PhaseEnd: {engine.KindNote, false}, engine.PhaseAgentStart: {engine.KindNote, false}, engine.PhaseAgentStop: {engine.KindNote, false}, engine.PhaseOther: {engine.KindNote, false},
	} {
		l, asked := newMemoryLog(), false
		answer, err := newReviewer(l, func(*engine.Input) (engine.Decision, error) { asked = true; return say(engine.Block), nil }).Handle(context.Background(), event(phase, ""))
		if err != nil || l.last().Kind != want.kind || asked != want.asked {
			t.Errorf("%s: recorded as %s, policy asked: %v, %v", phase, l.last().Kind, asked, err)
		}
		if (answer.Effect == engine.Block) != want.asked {
			t.Errorf("%s: answered %s", phase, answer.Effect)
		}
	}
}

// Whatever fails, a call does not run and everything else goes on; and what
// happened is recorded where that can still be done.
func TestHandleFailures(t *testing.T) {
	boom := errors.New("boom: hunter2")
	for name, test := range map[string]struct {
		spoil    func(*Reviewer, *memoryLog)
		failed   bool // Handle returns an error: nothing could be recorded
		recorded string
	}{
		"classifier": {
			spoil: func(r *Reviewer, _ *memoryLog) {
				r.Classifier = classifyFunc(func(engine.Event, string) (engine.Facts, error) { return engine.Facts{}, boom })
			},
			recorded: "classify: boom: REDACTED",
		},
		"load policy": {
			spoil:    func(r *Reviewer, _ *memoryLog) { r.Policy = func(string) (*review.Policy, error) { return nil, boom } },
			recorded: "load policy: boom: REDACTED",
		},
		"decide": {
			spoil:    func(r *Reviewer, _ *memoryLog) { use(r, failing{decide: boom}) },
			recorded: "decide: boom: REDACTED",
		},
		"match": {
			spoil:    func(r *Reviewer, _ *memoryLog) { use(r, failing{match: boom}) },
			recorded: "match conditions: boom: REDACTED",
		},
		"no verdict": {
			spoil: func(r *Reviewer, _ *memoryLog) {
				use(r, always(engine.Decision{Decision: "deny", Enforced: engine.Block}))
			},
			recorded: `policy returned "deny"`,
		},
		"nothing enforced": {
			spoil:    func(r *Reviewer, _ *memoryLog) { use(r, always(engine.Decision{Decision: engine.Allow})) },
			recorded: `policy returned ""`,
		},
		"workspace": {spoil: func(r *Reviewer, l *memoryLog) { r.Log = noWorkspace{l} }, failed: true},
		"open":      {spoil: func(_ *Reviewer, l *memoryLog) { l.fail = failOn(engine.KindOpen, boom) }, failed: true},
		"append": {spoil: func(_ *Reviewer, l *memoryLog) {
			l.fail = func(r *engine.Record) error {
				if r.Kind != engine.KindOpen {
					return boom
				}
				return nil
			}
		}, failed: true},
		"lock": {spoil: func(_ *Reviewer, l *memoryLog) { l.mu.Lock() }, failed: true},
	} {
		for _, phase := range []engine.Phase{engine.PhasePre, engine.PhasePost, engine.PhasePrompt, engine.PhaseStop, engine.PhaseBatch} {
			l := newMemoryLog()
			r := newReviewer(l, always(say(engine.Allow)))
			test.spoil(r, l)
			answer, err := r.Handle(context.Background(), event(phase, "c1"))
			if (err != nil) != test.failed {
				t.Errorf("%s, %s: error is %v", name, phase, err)
			}
			checkDegraded(t, name, phase, answer)
			if strings.Contains(answer.Text, "hunter2") {
				t.Errorf("%s: the answer says %q", name, answer.Text)
			}
			if test.failed {
				continue
			}
			rec := l.last()
			if rec.Answer == nil || rec.Answer.Mode != engine.ModeDegraded || rec.Answer.Effect != answer.Effect || rec.Decision != nil ||
				!strings.HasPrefix(rec.Answer.Failure, test.recorded) {
				t.Errorf("%s, %s: recorded %+v, decision %+v; want %q", name, phase, rec.Answer, rec.Decision, test.recorded)
			}
			if rec.ID() != answer.ID || !cmp.Equal(answer, engine.AnswerOf(rec)) {
				t.Errorf("%s: the answer is %+v, the recorded one %+v", name, answer, engine.AnswerOf(rec))
			}
		}
	}
}

func checkDegraded(t *testing.T, name string, phase engine.Phase, a engine.Answer) {
	t.Helper()
	want := engine.Allow
	if phase == engine.PhasePre {
		want = engine.Block
	}
	if a.Effect != want || a.Mode != engine.ModeDegraded || (a.Text == "") != (want == engine.Allow) || a.Grant || a.Stop {
		t.Errorf("%s, %s: answer is %+v, want %s, degraded", name, phase, a, want)
	}
}

// failing is a policy whose parts fail.
type failing struct{ match, decide error }

func (f failing) Match(context.Context, *engine.Input) ([]engine.Finding, error) { return nil, f.match }

func (f failing) Decide(context.Context, *engine.Input, []engine.Finding) (engine.Decision, error) {
	return say(engine.Allow), f.decide
}

func use(r *Reviewer, p interface {
	engine.Matcher
	engine.Decider
}) {
	r.Policy = func(string) (*review.Policy, error) { return &review.Policy{Matcher: p, Decider: p}, nil }
}

func failOn(k engine.Kind, err error) func(*engine.Record) error {
	return func(r *engine.Record) error {
		if r.Kind == k {
			return err
		}
		return nil
	}
}

type noWorkspace struct{ *memoryLog }

func (noWorkspace) Workspace(engine.SessionKey) (workspace string, began int64, err error) {
	return "", 0, errors.New("unreadable")
}

// A failing stop of the session denies the call that asked for it.
func TestHandleFailingAct(t *testing.T) {
	l := newMemoryLog()
	l.fail = failOn(engine.KindAct, errors.New("disk full"))
	stop := say(engine.Block)
	stop.Intervention = &engine.Intervention{Kind: engine.EmergencyStop}
	answer, err := newReviewer(l, always(stop)).Handle(context.Background(), event(engine.PhasePre, "c1"))
	if err == nil {
		t.Error("no error")
	}
	checkDegraded(t, "act", engine.PhasePre, answer)
}

// A call that is asked about twice is answered with the recorded words, and
// folded once.
func TestHandleTwice(t *testing.T) {
	for name, v := range map[string]engine.Verdict{"allowed": engine.Allow, "warned": engine.Warn, "blocked": engine.Block} {
		l := newMemoryLog()
		r := newReviewer(l, always(say(v)))
		first, err := r.Handle(context.Background(), event(engine.PhasePre, "c1"))
		if err != nil {
			t.Fatal(err)
		}
		use(r, failing{decide: errors.New("not asked again")})
		again, err := r.Handle(context.Background(), event(engine.PhasePre, "c1"))
		if err != nil {
			t.Fatal(err)
		}
		first.Mode = engine.ModeDuplicate
		if d := cmp.Diff(first, again); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		note := l.last()
		if note.Kind != engine.KindNote || note.Note.What != "duplicate" || note.Answer.Of != first.ID || note.Answer.Effect != v || l.history.Actions != 1 {
			t.Errorf("%s: recorded %+v, %+v, and %d actions", name, note.Note, note.Answer, l.history.Actions)
		}
	}
}

// What was allowed before the session was stopped is decided again: a repeated id does not avoid the stop.
func TestHandleTwiceAroundAStop(t *testing.T) {
	l := newMemoryLog()
	r := newReviewer(l, always(say(engine.Allow)))
	if _, err := r.Handle(t.Context(), event(engine.PhasePre, "c1")); err != nil {
		t.Fatal(err)
	}
	if err := l.append(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlStop, Reason: "enough", By: "anna"}}); err != nil {
		t.Fatal(err)
	}
	use(r, always(say(engine.Block)))
	again, err := r.Handle(t.Context(), event(engine.PhasePre, "c1"))
	if err != nil || again.Effect != engine.Block || again.Mode == engine.ModeDuplicate {
		t.Errorf("after the stop: %+v (%v)", again, err)
	}
}

// A degraded answer is repeated too, word for word.
func TestHandleTwiceDegraded(t *testing.T) {
	l := newMemoryLog()
	r := newReviewer(l, nil)
	use(r, failing{decide: errors.New("boom")})
	first, err1 := r.Handle(context.Background(), event(engine.PhasePre, "c1"))
	again, err2 := r.Handle(context.Background(), event(engine.PhasePre, "c1"))
	if err1 != nil || err2 != nil || again.Mode != engine.ModeDuplicate || again.Text != first.Text || again.Effect != engine.Block || first.Text == "" {
		t.Errorf("first %+v (%v), then %+v (%v)", first, err1, again, err2)
	}
}

// What bears the same id and is another call is reviewed: an agent cannot have
// one thing allowed and do another.
func TestHandleSameIDOtherCall(t *testing.T) {
	l := newMemoryLog()
	r := newReviewer(l, func(in *engine.Input) (engine.Decision, error) {
		if in.Session.Actions == 0 {
			return say(engine.Allow), nil
		}
		return say(engine.Block), nil
	})
	other := event(engine.PhasePre, "c1")
	other.Args = []byte(`{"n":2}`)
	subagent := event(engine.PhasePre, "c1")
	subagent.Agent = "a1"
	for _, test := range []struct {
		e    engine.Event
		want engine.Verdict
		mode engine.AnswerMode
	}{
		{event(engine.PhasePre, "c1"), engine.Allow, engine.ModeEnforced}, {other, engine.Block, engine.ModeEnforced}, {subagent, engine.Block, engine.ModeEnforced},
		{other, engine.Block, engine.ModeDuplicate}, {event(engine.PhasePost, "c1"), engine.Block, engine.ModeEnforced}, {event(engine.PhasePost, "c1"), engine.Block, engine.ModeDuplicate},
	} {
		answer, err := r.Handle(context.Background(), test.e)
		if err != nil || answer.Effect != test.want || answer.Mode != test.mode {
			t.Errorf("%s %s of %q: %+v, %v; want %s, %s", test.e.Phase, test.e.Args, test.e.Agent, answer, err, test.want, test.mode)
		}
	}
}

// Calls without an id are all different.
func TestHandleWithoutID(t *testing.T) {
	l := newMemoryLog()
	r := newReviewer(l, always(say(engine.Allow)))
	for range 3 {
		if a, err := r.Handle(context.Background(), event(engine.PhasePre, "")); err != nil || a.Mode != engine.ModeEnforced {
			t.Errorf("%+v, %v", a, err)
		}
	}
	if l.history.Actions != 3 {
		t.Errorf("%d actions were folded, want 3", l.history.Actions)
	}
}

// Time does not run backwards within a chain; by how much it did is noted.
func TestHandleSkew(t *testing.T) {
	l := newMemoryLog()
	r := newReviewer(l, always(say(engine.Allow)))
	for i, test := range []struct{ at, want, skew int64 }{{5000, 5000, 0}, {4000, 5000, 1000}, {6000, 6000, 0}, {0, 6000, 5000}} {
		e := event(engine.PhasePre, fmt.Sprint("c", i))
		e.Time = test.at
		if _, err := r.Handle(context.Background(), e); err != nil {
			t.Fatal(err)
		}
		if rec := l.last(); rec.T != test.want || rec.Skew != test.skew {
			t.Errorf("an event of %d is recorded at %d, skew %d; want %d, %d", test.at, rec.T, rec.Skew, test.want, test.skew)
		}
	}
	twice := event(engine.PhasePre, "c0")
	twice.Time = 1000
	if _, err := r.Handle(context.Background(), twice); err != nil || l.last().T != 6000 || l.last().Skew != 5000 {
		t.Errorf("a duplicate is recorded at %d, skew %d (%v)", l.last().T, l.last().Skew, err)
	}
}

// The workspace is that of the first event: an agent that walks away takes it
// not along.
func TestHandleWorkspaceIsPinned(t *testing.T) {
	for name, test := range map[string]struct{ project, cwd, want string }{
		"project": {"/project", "/project/sub", "/project"}, "directory": {"", "/dir", "/dir"}, "none": {"", "", ""},
	} {
		l, seen := newMemoryLog(), []string{}
		r := newReviewer(l, always(say(engine.Allow)))
		r.Classifier = classifyFunc(func(e engine.Event, workspace string) (engine.Facts, error) {
			seen = append(seen, workspace)
			return plainly(e, workspace)
		})
		for i, cwd := range []string{test.cwd, "/", "/tmp"} {
			e := event(engine.PhasePre, fmt.Sprint(i))
			e.Project, e.CWD = test.project, cwd
			if i > 0 {
				e.Project = cwd
			}
			if _, err := r.Handle(context.Background(), e); err != nil {
				t.Fatal(err)
			}
		}
		if test.want != "" && cmp.Diff([]string{test.want, test.want, test.want}, seen) != "" || l.history.Workspace != test.want {
			t.Errorf("%s: the workspace is %q, and was seen as %q; want %q", name, l.history.Workspace, seen, test.want)
		}
	}
}

// The session may be opened by another hook between the look at its workspace
// and the lock: then the facts are made again.
func TestHandleOpenedMeanwhile(t *testing.T) {
	l, seen := newMemoryLog(), []string{}
	r := newReviewer(l, always(say(engine.Allow)))
	r.Classifier = classifyFunc(func(e engine.Event, workspace string) (engine.Facts, error) {
		if seen = append(seen, workspace); len(seen) == 1 {
			l.history.Append(&engine.Record{Kind: engine.KindOpen, N: 1, Chain: strings.Repeat("c", 32), Open: &engine.Open{Workspace: "/first"}})
			l.records = append(l.records, &engine.Record{Kind: engine.KindOpen})
		}
		return plainly(e, workspace)
	})
	answer, err := r.Handle(context.Background(), event(engine.PhasePre, "c1"))
	if err != nil || answer.Effect != engine.Allow {
		t.Errorf("%+v, %v", answer, err)
	}
	if d := cmp.Diff([]string{"/w", "/first"}, seen); d != "" {
		t.Error(d)
	}
}

// A stop that policy chooses is an act of its own, and holds.
func TestHandleStops(t *testing.T) {
	stop := say(engine.Block)
	stop.Intervention = &engine.Intervention{Kind: engine.EmergencyStop, Reason: "a loop"}
	l := newMemoryLog()
	r := newReviewer(l, func(in *engine.Input) (engine.Decision, error) {
		if in.Session.Stopped && in.Session.StopReason != "a loop" {
			return engine.Decision{}, fmt.Errorf("stopped because of %q", in.Session.StopReason)
		}
		return stop, nil
	})
	for i := range 2 {
		answer, err := r.Handle(context.Background(), event(engine.PhasePre, fmt.Sprint(i)))
		if err != nil || !answer.Stop || answer.Effect != engine.Block {
			t.Errorf("%+v, %v", answer, err)
		}
	}
	if d := cmp.Diff([]string{"open", "pre", "act", "pre"}, l.kinds()); d != "" {
		t.Error(d)
	}
	if act := l.records[2]; act.Act.Kind != engine.EmergencyStop || act.Act.Of != l.records[1].ID() || act.Act.Result != "a loop" {
		t.Errorf("the act is %+v", act.Act)
	}
	if s := l.history.Stop; s == nil || s.Reason != "a loop" || s.By != "policy" {
		t.Errorf("the session is stopped: %+v", s)
	}
}

// A policy that only watches ends nothing, skips no prompt, and says so.
func TestHandleWatches(t *testing.T) {
	l := newMemoryLog()
	d := engine.Decision{Decision: engine.Block, Enforced: engine.Allow, Grant: true, Intervention: &engine.Intervention{Kind: engine.EmergencyStop}}
	answer, err := newReviewer(l, always(d)).Handle(context.Background(), event(engine.PhasePre, "c1"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(engine.Answer{ID: "cccccccc-2", Effect: engine.Allow, Mode: engine.ModeObserve}, answer); diff != "" {
		t.Error(diff)
	}
	if l.history.Stop != nil || l.last().Answer.Mode != engine.ModeObserve || l.last().Decision.Decision != engine.Block || l.history.Denied != 0 {
		t.Errorf("stop %+v, answer %+v, %d denials", l.history.Stop, l.last().Answer, l.history.Denied)
	}
}

func TestHandleGrants(t *testing.T) {
	granted, warned := say(engine.Allow), say(engine.Warn)
	granted.Grant, warned.Grant = true, true
	for name, d := range map[string]engine.Decision{"allowed": granted, "warned": warned, "not granted": say(engine.Allow)} {
		answer, err := newReviewer(newMemoryLog(), always(d)).Handle(context.Background(), event(engine.PhasePre, "c1"))
		if err != nil || answer.Grant != (name == "allowed") {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
	}
}

// An error text of any length and content fits the record.
func TestHandleLongFailure(t *testing.T) {
	for _, filler := range []string{"x", "\x01", "\xff", "\u2028", "日"} {
		l := newMemoryLog()
		r := newReviewer(l, nil)
		use(r, failing{decide: errors.New(strings.Repeat(filler, 9000))})
		if _, err := r.Handle(context.Background(), event(engine.PhasePre, "c1")); err != nil || l.last().Answer.Mode != engine.ModeDegraded {
			t.Errorf("%q: %v", filler, err)
		}
		if line, err := engine.EncodeLine(l.last()); err != nil || len(line) > 2000 {
			t.Errorf("%q: a line of %d bytes, %v", filler, len(line), err)
		}
	}
}

func handle(t *testing.T, r *Reviewer, e engine.Event) engine.Answer {
	t.Helper()
	a, err := r.Handle(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
