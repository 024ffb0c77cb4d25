package act

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// earlyDecider answers every call early. What its review says comes when it is let go.
type earlyDecider struct {
	review engine.Decision
	err    error
	gate   chan struct{}
}

func (d *earlyDecider) DecideEarly(context.Context, *engine.Input, []engine.Finding) (*engine.Decision,
	func(context.Context) (engine.Decision, error)) {
	return &engine.Decision{Decision: engine.Allow, Enforced: engine.Allow, Source: engine.SourceAsync, Reason: "early"}, d.later
}

func (d *earlyDecider) later(context.Context) (engine.Decision, error) {
	<-d.gate
	return d.review, d.err
}

// mistaken is the decision of a review that blocks.
func mistaken() engine.Decision {
	return engine.Decision{Decision: engine.Block, Enforced: engine.Block, Reason: "a mistake", Alternatives: []string{"none"},
		Rules: []engine.RuleResult{{ID: "no_mistakes", Decision: engine.Block}}}
}

// early makes a reviewer that answers before the review.
func early(l *memoryLog, d *earlyDecider, says engine.Decision) *Reviewer {
	r := newReviewer(l, always(says))
	p, err := r.Policy("")
	if err != nil {
		panic(err)
	}
	p.Early = d
	r.Policy = func(string) (*review.Policy, error) { return p, nil }
	r.Services.Late = &LateReviews{}
	return r
}

func kinds(records []*engine.Record) string {
	var list []string
	for _, r := range records {
		word := string(r.Kind)
		if r.Act != nil {
			word += ":" + r.Act.Kind + ":" + r.Act.Result
		}
		list = append(list, word)
	}
	return strings.Join(list, " ")
}

// TestLateReview: a call is answered and recorded at once; its review follows before anything
// else of the session, and a later call sees what it found.
func TestLateReview(t *testing.T) {
	l := newMemoryLog()
	d := &earlyDecider{review: mistaken(), gate: make(chan struct{})}
	r := early(l, d, mistaken())
	r.Log = &lockingLog{memoryLog: l}
	answer, err := r.Handle(context.Background(), event(engine.PhasePre, "one"))
	if err != nil || answer.Effect != engine.Allow || l.records[1].Source != engine.SourceAsync {
		t.Fatalf("%+v, %v", answer, err)
	}
	if got := l.history.Unreviewed(); got != 2 {
		t.Errorf("unreviewed is %d", got)
	}
	next := make(chan struct{})
	go func() {
		defer close(next)
		if _, err := r.Handle(context.Background(), event(engine.PhasePost, "one")); err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-next:
		t.Error("a later event did not wait for the review")
	default:
	}
	close(d.gate)
	<-next
	r.Services.Late.Wait()
	if got, want := kinds(l.records), "open pre act:late_review:block post"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	late := l.records[2].Act
	if late.Of != l.records[1].ID() || late.Late.Decision.Rules[0].ID != "no_mistakes" || late.Late.By.Policy != l.records[1].By.Policy {
		t.Errorf("%+v", late)
	}
	if got := l.history.Late; got == nil || got.Decision != engine.Block || got.Rule != "no_mistakes" || got.N != 2 {
		t.Errorf("%+v", got)
	}
}

// lockingLog waits where a memoryLog fails: several goroutines use it.
type lockingLog struct {
	*memoryLog
	mu sync.Mutex
}

func (l *lockingLog) Update(ctx context.Context, p *review.Policy, key engine.SessionKey, fn func(history.Tail) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.memoryLog.Update(ctx, p, key, fn)
}

func (l *lockingLog) Workspace(key engine.SessionKey) (string, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.memoryLog.Workspace(key)
}

// TestAnotherProcessReviews: if the process that answered is gone, whoever comes next makes the
// review from the log. A review that is not possible counts as a block.
func TestAnotherProcessReviews(t *testing.T) {
	for name, c := range map[string]struct {
		before error
		result string
	}{
		"possible":     {nil, "block"},
		"not possible": {errors.New("purged"), "failed"},
	} {
		l := newMemoryLog()
		r := early(l, &earlyDecider{}, mistaken())
		r.Services.Late.Lazy = true
		if _, err := r.Handle(context.Background(), event(engine.PhasePre, "one")); err != nil {
			t.Fatal(err)
		}
		l.purged = c.before
		other := newReviewer(l, always(mistaken()))
		key := engine.SessionKey{Harness: l.records[0].Harness, Session: l.records[0].Session}
		for range 2 {
			if err := other.CatchUp(context.Background(), key); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := kinds(l.records), "open pre act:late_review:"+c.result; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if l.history.Late == nil || l.history.Late.Decision != engine.Block || l.history.Unreviewed() != 0 {
			t.Errorf("%s: %+v", name, l.history.Late)
		}
	}
}

// TestLateStop: a stop that the review decides on holds from then on.
func TestLateStop(t *testing.T) {
	l := newMemoryLog()
	stopping := mistaken()
	stopping.Intervention = &engine.Intervention{Kind: engine.EmergencyStop, Reason: "enough"}
	r := early(l, &earlyDecider{}, stopping)
	r.Services.Late.Lazy = true
	var told []string
	r.Services.LateReviewed = func(_ *review.Policy, _ engine.SessionKey, rec *engine.Record) { told = append(told, rec.Act.Result) }
	if _, err := r.Handle(context.Background(), event(engine.PhasePre, "one")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Handle(context.Background(), event(engine.PhasePost, "one")); err != nil {
		t.Fatal(err)
	}
	if got, want := kinds(l.records), "open pre act:late_review:block act:emergency_stop:enough post"; got != want || l.history.Stop == nil {
		t.Errorf("%s, want %s; stop %+v", got, want, l.history.Stop)
	}
	if len(told) != 1 || told[0] != "block" {
		t.Errorf("told of %q", told)
	}
}

// TestWaits: without a resident process, without permission to begin, and for a call that
// writes code, the review comes first.
func TestWaits(t *testing.T) {
	for name, change := range map[string]func(*Reviewer){
		"no resident process": func(r *Reviewer) { r.Services.Late = nil },
		"no mark":             func(r *Reviewer) { r.Services.Late.Begin = func() error { return errors.New("disk full") } },
		"code": func(r *Reviewer) {
			r.Classifier = classifyFunc(func(e engine.Event, _ string) (engine.Facts, error) {
				f, err := plainly(e, "")
				f.Action.Code = []engine.Code{{Path: "./a.sh", Kinds: []string{"sh"}, Signals: []engine.Signal{engine.Signal(engine.Signals()[0])}}}
				return f, err
			})
		},
	} {
		l := newMemoryLog()
		d := &earlyDecider{review: mistaken(), gate: make(chan struct{})}
		close(d.gate)
		r := early(l, d, mistaken())
		change(r)
		answer, err := r.Handle(context.Background(), event(engine.PhasePre, "one"))
		if err != nil || answer.Effect != engine.Block || slices.ContainsFunc(l.records, func(r *engine.Record) bool { return r.Source != "" }) {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
	}
}
