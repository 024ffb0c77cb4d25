package act

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/settings"
	"github.com/google/go-cmp/cmp"
)

// desk is where questions are put to people.
type desk struct {
	limit   time.Duration
	err     error
	opened  []approval.Request
	closed  int
	began   time.Time
	changed string

	mu    sync.Mutex // of those below, and of opened, closed and began
	ahead time.Duration
}

// now is the time of a clock that is set during a test.
func (d *desk) now() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Add(d.ahead).UnixMilli()
}

func (d *desk) set(ahead time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ahead = ahead
}

func (d *desk) Limit() time.Duration { return d.limit }

func (d *desk) Open(_ context.Context, _ *review.Policy, q approval.Request, _ *engine.Action, _ string) (Question, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened, d.began = append(d.opened, q), time.Now()
	return d, d.err
}

func (d *desk) Changed() string { return d.changed }

func (d *desk) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed++
}

func (d *desk) Waited() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Since(d.began).Milliseconds()
}

func (d *desk) Pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(200 * time.Millisecond):
		return nil
	}
}

// queueing is a reviewer whose policy asks about each call, and lets questions wait.
func queueing(l *memoryLog, d *desk, queue string) *Reviewer {
	r := newReviewer(l, always(say(engine.Ask)))
	r.Clock.Now = d.now
	policy, _ := r.Policy("")
	policy.Settings.UnattendedModes = []string{"bypass"}
	policy.Settings.Approvals = settings.Approvals{Queue: queue, WaitSeconds: 60, Texts: settings.ApprovalsTexts{
		Denied: "denied: {why}", NoReason: "no reason", Expired: "expired", Stopped: "stopped: {why}", Changed: "changed: {why}",
		Nobody: "nobody: {why}"}}
	policy.Inherit.Unsigned = "nobody signed it"
	r.Policy = func(string) (*review.Policy, error) { return policy, nil }
	r.Services.Questions = d
	return r
}

// toolCall is a tool call at the current time.
func toolCall(id string) engine.Event {
	e := event(engine.PhasePre, id)
	e.Time = 0
	return e
}

// answers appends a person's control record to a log.
func answers(t *testing.T, l *memoryLog, c engine.Control) {
	t.Helper()
	err := l.Update(t.Context(), nil, engine.SessionKey{}, func(tail history.Tail) error {
		return tail.Append(&engine.Record{Kind: engine.KindControl, T: time.Now().UnixMilli(), Control: &c})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// yes approves the question of record 2, no denies it.
func yes(l *memoryLog) engine.Control { return answerTo(l, engine.ControlApprove, "") }

func no(l *memoryLog, why string) engine.Control { return answerTo(l, engine.ControlDeny, why) }

func answerTo(l *memoryLog, do, why string) engine.Control {
	return engine.Control{Do: do, Record: "cccccccc-2", Digest: l.records[1].Answer.Pending.Digest, Reason: why, By: "anna",
		Decided: &engine.Decided{Who: engine.DecidedPerson, Channel: "terminal"}}
}

func TestWait(t *testing.T) {
	for name, c := range map[string]struct {
		then    func(*testing.T, *memoryLog, *Reviewer, *desk) // 10 s after the question
		effect  engine.Verdict
		text    string
		kinds   []string // records after the question
		seconds int
	}{
		"approved": {func(t *testing.T, l *memoryLog, _ *Reviewer, _ *desk) { answers(t, l, yes(l)) },
			engine.Allow, "", []string{"approve person", "resumed"}, 10},
		"denied": {func(t *testing.T, l *memoryLog, _ *Reviewer, _ *desk) { answers(t, l, no(l, "use staging.")) },
			engine.Block, "denied: use staging", []string{"deny person"}, 10},
		"denied without a reason": {func(t *testing.T, l *memoryLog, _ *Reviewer, _ *desk) { answers(t, l, no(l, "")) },
			engine.Block, "denied: no reason", []string{"deny person"}, 10},
		"nobody answers": {func(*testing.T, *memoryLog, *Reviewer, *desk) {},
			engine.Block, "expired", []string{"deny timeout"}, 60},
		"stopped": {func(t *testing.T, l *memoryLog, _ *Reviewer, _ *desk) {
			answers(t, l, engine.Control{Do: engine.ControlStop, Reason: "wrong branch"})
		}, engine.Block, "stopped: nobody signed it", []string{"stop", "deny stop"}, 10},
		"approved, then stopped": {func(t *testing.T, l *memoryLog, _ *Reviewer, _ *desk) {
			answers(t, l, yes(l))
			answers(t, l, engine.Control{Do: engine.ControlStop, Reason: "wrong branch"})
		}, engine.Block, "stopped: nobody signed it", []string{"approve person", "stop", "deny stop"}, 10},
		"a file changed": {func(t *testing.T, l *memoryLog, _ *Reviewer, d *desk) {
			d.changed = "./deploy.sh"
			answers(t, l, yes(l))
		}, engine.Block, "changed: ./deploy.sh changed after the question", []string{"approve person", "deny rule"}, 10},
		"the policy changed": {func(t *testing.T, l *memoryLog, r *Reviewer, _ *desk) {
			p, _ := r.Policy("")
			other := *p
			other.Digest = "q"
			r.Policy = func(string) (*review.Policy, error) { return &other, nil }
			answers(t, l, yes(l))
		}, engine.Block, "changed: the policy changed after the question", []string{"approve person", "deny rule"}, 10},
		"the call means something else": {func(t *testing.T, l *memoryLog, r *Reviewer, _ *desk) {
			r.Classifier = classifyFunc(func(e engine.Event, w string) (engine.Facts, error) {
				f, err := plainly(e, w)
				f.Action.Types = []engine.Type{engine.TypeFileDeletion}
				return f, err
			})
			answers(t, l, yes(l))
		}, engine.Block, "changed: the call would now do something different from when the question was asked",
			[]string{"approve person", "deny rule"}, 10},
		"another digest": {func(t *testing.T, l *memoryLog, _ *Reviewer, _ *desk) {
			c := yes(l)
			c.Digest = engine.HexSum(nil)
			answers(t, l, c)
		}, engine.Block, "expired", []string{"approve person", "deny timeout"}, 60},
		"the clock is set back": {func(_ *testing.T, _ *memoryLog, _ *Reviewer, d *desk) {
			d.set(-time.Hour)
		}, engine.Block, "expired", []string{"deny timeout"}, 60},
		"the clock is set forward": {func(_ *testing.T, _ *memoryLog, _ *Reviewer, d *desk) {
			d.set(time.Hour)
		}, engine.Block, "expired", []string{"deny timeout"}, 10},
		"an answer that is too late": {func(t *testing.T, l *memoryLog, _ *Reviewer, _ *desk) {
			time.Sleep(50*time.Second + 100*time.Millisecond) // before the next look
			answers(t, l, yes(l))
		}, engine.Block, "expired", []string{"approve person", "deny timeout"}, 60},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, d := newMemoryLog(), &desk{limit: 5 * time.Minute}
				r := queueing(l, d, review.QueueAlways)
				var got engine.Answer
				var err error
				began := time.Now()
				done := make(chan struct{})
				go func() {
					defer close(done)
					got, err = r.Handle(t.Context(), toolCall("c1"))
				}()
				time.Sleep(10*time.Second + time.Millisecond)
				synctest.Wait()
				c.then(t, l, r, d)
				<-done
				if err != nil || got.Effect != c.effect || got.Text != c.text || got.Grant != (c.effect == engine.Allow) {
					t.Errorf("%+v, %v", got, err)
				}
				if diff := cmp.Diff(c.kinds, after(l, 2)); diff != "" {
					t.Error(diff)
				}
				if took := int(time.Since(began).Seconds()); took != c.seconds || d.closed != 1 || len(d.opened) != 1 {
					t.Errorf("after %d s, opened %d, closed %d", took, len(d.opened), d.closed)
				}
			})
		})
	}
}

// after describes the records after one.
func after(l *memoryLog, n int) []string {
	var list []string
	for _, r := range l.records[n:] {
		switch {
		case r.Act != nil:
			list = append(list, r.Act.Kind)
		case r.Control != nil && r.Control.Decided != nil:
			list = append(list, r.Control.Do+" "+r.Control.Decided.Who)
		case r.Control != nil:
			list = append(list, r.Control.Do)
		}
	}
	return list
}

// TestQueues: which questions wait, and for how long.
func TestQueues(t *testing.T) {
	mute := engine.Channels{{Way: engine.WayDeny, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre}}}
	asks := append(slices.Clone(mute), engine.Channel{Way: engine.WayAsk, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre}})
	for name, c := range map[string]struct {
		queue    string
		mode     string
		channels engine.Channels
		limit    time.Duration
		effect   engine.Verdict
		waits    time.Duration // 0: no question waits
	}{
		"never":                        {"never", "bypass", asks, time.Hour, engine.Ask, 0},
		"never, and no prompt":         {"never", "", mute, time.Hour, engine.Block, 0},
		"unattended, with a prompt":    {review.QueueUnattended, "default", asks, time.Hour, engine.Ask, 0},
		"unattended mode":              {review.QueueUnattended, "bypass", asks, time.Hour, engine.Ask, time.Minute},
		"unattended, without a prompt": {review.QueueUnattended, "default", mute, time.Hour, engine.Ask, time.Minute},
		"always":                       {review.QueueAlways, "default", asks, time.Hour, engine.Ask, time.Minute},
		"the agent waits less":         {review.QueueAlways, "default", asks, 20 * time.Second, engine.Ask, 17 * time.Second},
		"the agent does not wait":      {review.QueueAlways, "default", mute, 2 * time.Second, engine.Block, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newMemoryLog()
			r := queueing(l, &desk{limit: c.limit}, c.queue)
			r.Agent.Channels = c.channels
			e := toolCall("c1")
			e.Mode = c.mode
			r.Classifier = classifyFunc(func(e engine.Event, w string) (engine.Facts, error) {
				f, err := plainly(e, w)
				f.Event.Mode = e.Mode
				return f, err
			})
			if _, err := r.Handle(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			a := l.records[1].Answer
			if a.Effect != c.effect || (a.Pending != nil) != (c.waits > 0) {
				t.Errorf("%s: %+v", name, a)
			}
			if a.Pending != nil && a.Pending.Until-l.records[1].T != c.waits.Milliseconds() {
				t.Errorf("%s: waits %d ms", name, a.Pending.Until-l.records[1].T)
			}
		})
	}
}

// TestNobody: a question of which nobody can be notified is a denial at once.
func TestNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newMemoryLog()
		got, err := queueing(l, &desk{limit: time.Minute, err: errors.New("the disk is full of hunter2")}, review.QueueAlways).Handle(t.Context(), toolCall("c1"))
		if err != nil || got.Effect != engine.Block || got.Text != "nobody: the disk is full of REDACTED" {
			t.Errorf("%+v, %v", got, err)
		}
		if diff := cmp.Diff([]string{"deny timeout"}, after(l, 2)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestAskedTwice: the hook is installed twice, or the client asks again after the first
// process was killed.
func TestAskedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d := newMemoryLog(), &desk{limit: time.Minute}
		r := queueing(l, d, review.QueueAlways)
		killed, kill := context.WithCancel(t.Context())
		answered := make(chan engine.Answer, 2)
		ask := func(ctx context.Context) {
			a, _ := r.Handle(ctx, toolCall("c1"))
			answered <- a
		}
		go ask(killed)
		time.Sleep(time.Second)
		kill()
		if a := <-answered; a.Effect != engine.Block || a.Mode != engine.ModeDegraded {
			t.Errorf("killed: %+v", a)
		}
		go ask(t.Context())
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		answers(t, l, yes(l))
		if a := <-answered; a.Effect != engine.Allow {
			t.Errorf("asked again: %+v", a)
		}
		go ask(t.Context()) // after the call has resumed
		if a := <-answered; a.Effect != engine.Allow {
			t.Errorf("asked a third time: %+v", a)
		}
		if diff := cmp.Diff([]string{"approve person", "resumed"}, after(l, 2)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestTooManyWait: more questions than the history keeps are denied, or put to the agent.
func TestTooManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newMemoryLog()
		r := queueing(l, &desk{limit: time.Minute}, review.QueueAlways)
		for i := range approval.Max {
			go func() { _, _ = r.Handle(t.Context(), toolCall(string(rune('a'+i)))) }()
			time.Sleep(time.Millisecond)
		}
		got, err := r.Handle(t.Context(), toolCall("one more"))
		if err != nil || got.Effect != engine.Ask || l.last().Answer.Pending != nil {
			t.Errorf("%+v, %v", got, err)
		}
		time.Sleep(2 * time.Minute)
	})
}

// TestAnswersAreCounted: an answer counts once, with what came of it.
func TestAnswersAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		then              func(*testing.T, *memoryLog)
		approved, refused int64
		denials           int
	}{
		"approved": {func(t *testing.T, l *memoryLog) { answers(t, l, yes(l)) }, 1, 0, 0},
		"denied":   {func(t *testing.T, l *memoryLog) { answers(t, l, no(l, "")) }, 0, 1, 1},
		"expired":  {func(*testing.T, *memoryLog) {}, 0, 0, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newMemoryLog()
			r := queueing(l, &desk{limit: time.Minute}, review.QueueAlways)
			done := make(chan struct{})
			go func() {
				_, _ = r.Handle(t.Context(), toolCall("c1"))
				close(done)
			}()
			time.Sleep(time.Second + time.Millisecond)
			synctest.Wait()
			c.then(t, l)
			<-done
			if name == "approved" {
				post := toolCall("c1")
				post.Phase, post.Result = engine.PhasePost, &engine.Result{}
				if _, err := r.Handle(t.Context(), post); err != nil {
					t.Fatal(err)
				}
			}
			h := l.history
			if h.Asked != 1 || h.Approved != c.approved || h.Refused != c.refused || len(h.Denials) != c.denials {
				t.Errorf("%s: asked %d, approved %d, refused %d, denials %d", name, h.Asked, h.Approved, h.Refused, len(h.Denials))
			}
		})
	}
}
