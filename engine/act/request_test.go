package act

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/google/go-cmp/cmp"
)

// readingCall makes facts of calls and of requests about them: a program reads a file.
func readingCall(e engine.Event, _ string) (engine.Facts, error) {
	f := engine.Facts{Event: engine.EventFacts{Name: e.Name, Tool: e.Tool, Mode: e.Mode}}
	if e.Phase == engine.PhasePre || e.Phase == engine.PhaseRequest || e.Phase == engine.PhasePost {
		f.Action = &engine.Action{Types: []engine.Type{engine.TypeFileRead}, Fingerprint: engine.HexSum(e.Args)[:16],
			Commands: []engine.Command{{Name: "cat"}}}
		f.Args = engine.HexSum(e.Args)
	}
	if e.Phase == engine.PhasePost {
		f.Event.Result = &engine.ResultFacts{Outcome: engine.OutcomeRan}
	}
	return f, nil
}

// proves is a policy that allows each call and grants each request.
func proves(in *engine.Input) (engine.Decision, error) {
	d := engine.Decision{Decision: engine.Allow, Enforced: engine.Allow}
	if in.Request != nil {
		d.Grant, d.Proof = true, &engine.Proof{By: engine.ProofReads}
	}
	return d, nil
}

// granting makes a reviewer whose policy grants calls.
func granting(t *testing.T, l *memoryLog, d decideFunc) *Reviewer {
	t.Helper()
	r := newReviewer(l, d)
	p, err := r.Policy("")
	if err != nil {
		t.Fatal(err)
	}
	p.Grants = review.Grants{On: true, MS: 1000}
	r.Policy = func(string) (*review.Policy, error) { return p, nil }
	r.Classifier = classifyFunc(readingCall)
	return r
}

// asked reviews a call, then the request about it.
func asked(t *testing.T, r *Reviewer, change func(*engine.Event)) engine.Answer {
	t.Helper()
	if _, err := r.Handle(context.Background(), event(engine.PhasePre, "c1")); err != nil {
		t.Fatal(err)
	}
	return request(t, r, change)
}

func request(t *testing.T, r *Reviewer, change func(*engine.Event)) engine.Answer {
	t.Helper()
	e := event(engine.PhaseRequest, "")
	if change != nil {
		change(&e)
	}
	answer, err := r.Handle(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// checkAsks fails the test unless nothing was granted: the agent asks.
func checkAsks(t *testing.T, name string, l *memoryLog, a engine.Answer) {
	t.Helper()
	rec := l.last()
	if a.Grant || a.Effect != engine.Allow || a.Text != "" || a.Stop || rec.Answer.Granted != nil ||
		rec.Kind != engine.KindNote || rec.Note == nil || rec.Note.What != engine.NoteRequest {
		t.Errorf("%s: answer is %+v, recorded %+v, note %+v", name, a, rec.Answer, rec.Note)
	}
}

// A request is granted for the call that waits, and the proof is recorded with the answer.
func TestGranted(t *testing.T) {
	l := newMemoryLog()
	answer := asked(t, granting(t, l, proves), nil)
	if !answer.Grant || answer.Effect != engine.Allow {
		t.Errorf("answer is %+v", answer)
	}
	rec := l.last()
	form := history.FormOf("Bash", rec.Action)
	want := &engine.Granted{Of: "cccccccc-2", Proof: engine.Proof{By: engine.ProofReads}, Form: form}
	if d := cmp.Diff(want, rec.Answer.Granted); d != "" || form == "" {
		t.Error(d)
	}
	if rec.Call != "c1" || rec.Phase != engine.PhaseRequest || rec.Note.Request.Of != "cccccccc-2" || rec.By == nil || rec.SHA == nil {
		t.Errorf("recorded %+v, request %+v", rec, rec.Note.Request)
	}
	if d := cmp.Diff([]string{"open", "pre", "note"}, l.kinds()); d != "" {
		t.Error(d)
	}
}

// Policy is asked only about a call that was reviewed and waits for its result.
func TestRequestsWithoutACall(t *testing.T) {
	for name, c := range map[string]struct {
		before []engine.Phase
		change func(*engine.Event)
	}{
		"no call":         {nil, nil},
		"it ran":          {[]engine.Phase{engine.PhasePre, engine.PhasePost}, nil},
		"other arguments": {[]engine.Phase{engine.PhasePre}, func(e *engine.Event) { e.Args = []byte(`{"n":2}`) }},
		"another tool":    {[]engine.Phase{engine.PhasePre}, func(e *engine.Event) { e.Tool = "Read" }},
		"another agent":   {[]engine.Phase{engine.PhasePre}, func(e *engine.Event) { e.Agent = "helper" }},
	} {
		l := newMemoryLog()
		r := granting(t, l, func(in *engine.Input) (engine.Decision, error) {
			if in.Request != nil {
				t.Errorf("%s: policy is asked about a request", name)
			}
			return proves(in)
		})
		for _, p := range c.before {
			if _, err := r.Handle(context.Background(), event(p, "c1")); err != nil {
				t.Fatal(err)
			}
		}
		checkAsks(t, name, l, request(t, r, c.change))
		if q := l.last().Note.Request; q.Of != "" || l.last().Action != nil || l.last().Decision != nil {
			t.Errorf("%s: the request is about %q", name, q.Of)
		}
	}
}

// Of two calls with the same arguments, the latest that waits is meant.
func TestRequestOfTheLatestCall(t *testing.T) {
	l := newMemoryLog()
	r := granting(t, l, proves)
	if _, err := r.Handle(context.Background(), event(engine.PhasePre, "c0")); err != nil {
		t.Fatal(err)
	}
	if answer := asked(t, r, nil); !answer.Grant || l.last().Call != "c1" || l.last().Answer.Granted.Of != "cccccccc-3" {
		t.Errorf("answer %+v, record %+v", answer, l.last())
	}
}

// A policy whose decision allows nothing, or allows only because it observes, grants nothing.
func TestNotGranted(t *testing.T) {
	proof := &engine.Proof{By: engine.ProofReads}
	for name, d := range map[string]engine.Decision{
		"no proof":       {Decision: engine.Allow, Enforced: engine.Allow},
		"no grant":       {Decision: engine.Allow, Enforced: engine.Allow, Proof: proof},
		"observed block": {Decision: engine.Block, Enforced: engine.Allow, Grant: true, Proof: proof},
		"observed ask":   {Decision: engine.Ask, Enforced: engine.Allow, Grant: true, Proof: proof},
		"observed warn":  {Decision: engine.Warn, Enforced: engine.Allow, Grant: true, Proof: proof},
	} {
		l := newMemoryLog()
		checkAsks(t, name, l, asked(t, granting(t, l, always(d)), nil))
	}
}

// Without grant: proven, policy is not asked, and the request is recorded.
func TestGrantsAreOff(t *testing.T) {
	l := newMemoryLog()
	r := granting(t, l, proves)
	p, _ := r.Policy("")
	p.Grants.On = false
	checkAsks(t, "off", l, asked(t, r, nil))
	if q := l.last().Note.Request; q.Of != "cccccccc-2" || q.Form == "" {
		t.Errorf("recorded %+v", q)
	}
}

// Where anything fails, the agent asks, and the failure is recorded.
func TestFailedRequests(t *testing.T) {
	boom := errors.New("boom: hunter2")
	for name, spoil := range map[string]func(*Reviewer){
		"decide": func(r *Reviewer) { spoilPolicy(r, failing{decide: boom}) },
		"match":  func(r *Reviewer) { spoilPolicy(r, failing{match: boom}) },
		"no verdict": func(r *Reviewer) {
			spoilPolicy(r, always(engine.Decision{Decision: "deny", Enforced: engine.Allow, Grant: true}))
		},
		"a bare grant": func(r *Reviewer) {
			spoilPolicy(r, always(engine.Decision{Decision: engine.Allow, Enforced: engine.Allow, Grant: true}))
		},
		"other sessions": func(r *Reviewer) {
			r.Services.Sessions = othersFunc(func() ([]review.Other, error) { return nil, boom })
		},
		"classifier": func(r *Reviewer) {
			r.Classifier = classifyFunc(func(engine.Event, string) (engine.Facts, error) { return engine.Facts{}, boom })
		},
	} {
		l := newMemoryLog()
		r := granting(t, l, proves)
		if _, err := r.Handle(context.Background(), event(engine.PhasePre, "c1")); err != nil {
			t.Fatal(err)
		}
		spoil(r)
		a := request(t, r, nil)
		rec := l.last()
		if a.Grant || a.Effect != engine.Allow || rec.Answer.Granted != nil || rec.Decision != nil || rec.Answer.Mode != engine.ModeDegraded ||
			rec.Answer.Failure == "" || strings.Contains(rec.Answer.Failure, "hunter2") {
			t.Errorf("%s: answer %+v, recorded %+v", name, a, rec.Answer)
		}
	}
}

// spoilPolicy replaces what decides, and leaves grants on.
func spoilPolicy(r *Reviewer, p interface {
	engine.Matcher
	engine.Decider
}) {
	r.Policy = func(string) (*review.Policy, error) {
		return &review.Policy{Matcher: p, Decider: p, Grants: review.Grants{On: true}}, nil
	}
}

// othersFunc is a list of other sessions.
type othersFunc func() ([]review.Other, error)

func (f othersFunc) Others(engine.SessionKey, string, int64) ([]review.Other, error) { return f() }
func (othersFunc) Stopped() ([]review.Stopped, error)                                { return nil, nil }
func (othersFunc) Await(engine.Event)                                                {}
func (othersFunc) Copied(engine.Event, engine.SessionKey) bool                       { return false }

// What people answered in other sessions is in the record of the request, and policy sees
// what is recorded there: a replay needs no other chain.
func TestAnswersOfOtherSessions(t *testing.T) {
	other := approvedOnce(t)
	var seen []engine.FormAnswerFacts
	l := newMemoryLog()
	r := granting(t, l, func(in *engine.Input) (engine.Decision, error) {
		if in.Request != nil {
			seen = in.Request.Answers
		}
		return proves(in)
	})
	r.Services.Sessions = othersFunc(func() ([]review.Other, error) { return []review.Other{{State: other}}, nil })
	if answer := asked(t, r, nil); !answer.Grant {
		t.Errorf("answer is %+v", answer)
	}
	q := l.last().Note.Request
	if d := cmp.Diff([]engine.FormAnswers{{Session: "dddddddd", Mode: "default", Inferred: 1, First: 5000, Last: 5000}}, q.Answers); d != "" {
		t.Errorf("recorded: %s", d)
	}
	before, err := l.before(l.last().N)
	if err != nil {
		t.Fatal(err)
	}
	replayed := history.NewInput(l.last(), before, engine.View{})
	if d := cmp.Diff(replayed.Request.Answers, seen); d != "" || len(seen) != 1 {
		t.Errorf("policy saw something other than a replay does: %s", d)
	}
}

// approvedOnce is the history of a session in which a person was asked about the call, and it ran.
func approvedOnce(t *testing.T) *history.State {
	t.Helper()
	l := newMemoryLog()
	r := granting(t, l, always(engine.Decision{Decision: engine.Allow, Enforced: engine.Allow}))
	asked(t, r, func(e *engine.Event) { e.Mode = "default" })
	if _, err := r.Handle(context.Background(), event(engine.PhasePost, "c1")); err != nil {
		t.Fatal(err)
	}
	l.history.Chain = strings.Repeat("d", 32)
	return l.history
}
