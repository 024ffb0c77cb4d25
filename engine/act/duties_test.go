package act

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// obliging is a policy that asks for something before each call.
func obliging(v engine.Verdict, what ...string) decideFunc {
	d := say(v)
	d.Obligations = what
	return always(d)
}

// with adds an executor for the time of a test.
func with(t *testing.T, kind review.Kind, do func(engine.Answer) engine.Answer) {
	before := slices.Clone(executors)
	t.Cleanup(func() { executors = before })
	one := before[len(before)-1]
	one.kind, one.once = kind, false
	one.do = func(_ *Reviewer, _ context.Context, _ *handling, _ duty, a engine.Answer) (engine.Answer, error) {
		return do(a), nil
	}
	executors = append(slices.Clone(before), one)
}

// A call for which the policy asks for something that nobody carries out does not run.
func TestUnknownDuty(t *testing.T) {
	l := newMemoryLog()
	answer, err := newReviewer(l, obliging(engine.Allow, "page")).Handle(t.Context(), event(engine.PhasePre, "c1"))
	if err == nil || answer.Effect != engine.Block || !strings.Contains(answer.Text, `asks for "page"`) {
		t.Errorf("%v, %+v", err, answer)
	}
	recordsDenial(t, l, `asks for "page"`)
}

// recordsDenial checks that the log ends in a note about a duty that failed, with the denial that the agent got.
func recordsDenial(t *testing.T, l *memoryLog, why string) {
	t.Helper()
	last := l.records[len(l.records)-1]
	if last.Note == nil || last.Note.What != engine.NoteDutyFailed || last.Call != "c1" || last.Phase != engine.PhasePre {
		t.Fatalf("the log ends in %+v", last)
	}
	if a := last.Answer; a == nil || a.Effect != engine.Block || a.Mode != engine.ModeDegraded || !strings.Contains(a.Failure, why) {
		t.Errorf("the note has the answer %+v", a)
	}
}

// A new kind of duty is a function and a row. It is carried out by each hook that is told the event, and can only make the answer stricter.
func TestNewDuty(t *testing.T) {
	for _, c := range []struct {
		before, after, want engine.Verdict
		fails               bool
	}{
		{engine.Allow, engine.Allow, engine.Allow, false},
		{engine.Warn, engine.Block, engine.Block, false},
		{engine.Ask, engine.Allow, engine.Block, true},
	} {
		t.Run(string(c.before+" "+c.after), func(t *testing.T) {
			times := 0
			with(t, "page", func(a engine.Answer) engine.Answer {
				times++
				a.Effect = c.after
				return a
			})
			l := newMemoryLog()
			r := newReviewer(l, obliging(c.before, "page"))
			answer, err := r.Handle(t.Context(), event(engine.PhasePre, "c1"))
			if answer.Effect != c.want || (err != nil) != c.fails || times != 1 {
				t.Errorf("%s, %v, carried out %d times", answer.Effect, err, times)
			}
			if c.fails {
				recordsDenial(t, l, "may only make it stricter")
			}
			answer, err = r.Handle(t.Context(), event(engine.PhasePre, "c1")) // the hook is installed twice
			if answer.Effect != c.want || (err != nil) != c.fails || times != 2 {
				t.Errorf("again: %s, %v, carried out %d times", answer.Effect, err, times)
			}
		})
	}
}
