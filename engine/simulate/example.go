package simulate

import (
	"context"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Example is a decision that changes, with as little as is needed to show it: the fewest
// events before it, in neutral words.
type Example struct {
	Events []ExampleEvent `json:"events,omitempty"` // in order, the decision last; none: it cannot be shown in neutral words
	Reason string         `json:"reason,omitempty"` // of the stricter side, in these words
	Before int64          `json:"before"`           // calls before it in its session, those left out included
}

// ExampleEvent is an event of an Example.
type ExampleEvent struct {
	Phase engine.Phase `json:"phase"`
	Tool  string       `json:"tool,omitempty"`
	Text  string       `json:"text,omitempty"` // the main argument of a tool, or a prompt
}

// Exampler searches for examples. The texts of an example are those that Neutral makes of a
// session's.
type Exampler struct {
	Comparison *Comparison
	Classifier func(session string, events []engine.Event) engine.Classifier
	Neutral    func([]engine.Event) []engine.Event
	Text       func(engine.Event) string // the text of an event in an example
}

// maxTried limits the events that are evaluated to find one example, so that a long session
// takes no longer than a short one.
const maxTried = 600

// Find returns the example of a step of a session; events are the session's up to the step. It
// has no events if the remaining ones do not show the change, or not in neutral words.
func (x *Exampler) Find(ctx context.Context, events []engine.Event, s Step) *Example {
	t := &trying{Exampler: x, ctx: ctx, step: s}
	e, last := &Example{Before: s.Index}, len(events)-1
	if last < 0 || !events[last].Phase.Reviewed() {
		return e
	}
	part, found := t.fewest(stepsOf(events[:last], events[last]), events[last])
	if !found {
		return e
	}
	t.tried = 0
	if other := x.Neutral(part); t.shows(other) {
		e.Reason = t.reason
		for _, v := range other {
			e.Events = append(e.Events, ExampleEvent{v.Phase, v.Tool, x.Text(v)})
		}
	}
	return e
}

// stepsOf groups events that belong together: a call and its result. The group of the last
// event is never left out.
func stepsOf(events []engine.Event, last engine.Event) [][]engine.Event {
	var groups [][]engine.Event
	of := map[string]int{}
	for _, e := range events {
		at, known := of[e.Call]
		if e.Call == "" || e.Call == last.Call || !known {
			of[e.Call] = len(groups)
			groups = append(groups, []engine.Event{e})
			continue
		}
		groups[at] = append(groups[at], e)
	}
	return groups
}

// trying evaluates parts of a session.
type trying struct {
	*Exampler
	ctx   context.Context
	step  Step
	tried int

	reason string // of the latest change that was found
}

// fewest leaves out all earlier steps that are not needed: first everything, then halves,
// quarters and single steps, until nothing more can be left out.
func (t *trying) fewest(before [][]engine.Event, last engine.Event) ([]engine.Event, bool) {
	with := func(groups [][]engine.Event) []engine.Event { return append(slices.Concat(groups...), last) }
	own := slices.DeleteFunc(slices.Clone(before), func(g []engine.Event) bool { return last.Call == "" || g[0].Call != last.Call })
	if t.shows(with(own)) {
		return with(own), true
	}
	const recent = 100 // steps: earlier ones are not searched
	kept := before[max(0, len(before)-recent):]
	if !t.shows(with(kept)) {
		return nil, false
	}
	for n := 2; len(kept) > len(own); {
		size := (len(kept) + n - 1) / n
		at := 0
		for ; at < len(kept); at += size {
			rest := slices.Concat(kept[:at], kept[min(at+size, len(kept)):])
			if needed(own, kept[at:min(at+size, len(kept))]) || !t.shows(with(rest)) {
				continue
			}
			kept, n = rest, max(n-1, 2)
			break
		}
		switch {
		case at < len(kept) || t.tried >= maxTried:
		case n >= len(kept):
			return with(kept), true
		default:
			n = min(2*n, len(kept))
		}
		if t.tried >= maxTried {
			break
		}
	}
	return with(kept), true
}

// needed reports whether some steps contain the call of the decision itself.
func needed(own, groups [][]engine.Event) bool {
	return slices.ContainsFunc(groups, func(g []engine.Event) bool {
		return slices.ContainsFunc(own, func(o []engine.Event) bool { return o[0].Call == g[0].Call })
	})
}

// shows reports whether a session of these events ends with the same change.
func (t *trying) shows(events []engine.Event) bool {
	if t.tried += len(events); t.tried > maxTried {
		return false
	}
	c := *t.Comparison
	c.Policies, c.Selection = nil, Selection{}
	side := c.Candidates[0]
	if c.Baseline.Policy == nil { // recorded answers do not belong to these events
		p := *side.Policy
		p.Decider, p.Digest = sameAnswer(t.step.From), "" // it is another policy
		c.Baseline.Policy = &p
	}
	side.Causes, side.Without = nil, nil
	c.Candidates = []Side{side}
	s := Session{ID: t.step.Session, Events: events}
	read := t.Classifier(s.ID, events)
	impacts, err := c.Session(t.ctx, RecordedSession{Session: s.ID, Events: Transcribe(t.ctx, s, read, c.Env, nil)})
	if err != nil || len(impacts[0].Changed) == 0 {
		return false
	}
	steps := impacts[0].Changed[0].Steps
	if len(steps) == 0 {
		return false
	}
	end := steps[len(steps)-1]
	calls := len(slices.DeleteFunc(slices.Clone(events), func(e engine.Event) bool { return e.Phase != engine.PhasePre }))
	if end.Phase == engine.PhasePre {
		calls-- // the decision itself
	}
	t.reason = end.Reason
	return end.Phase == t.step.Phase && end.Index == int64(calls) && end.State.changes() && end.From == t.step.From && end.To == t.step.To
}

// sameAnswer gives every call the answer of a recorded one.
type sameAnswer engine.Verdict

// Decide implements engine.Decider.
func (v sameAnswer) Decide(_ context.Context, in *engine.Input, _ []engine.Finding) (engine.Decision, error) {
	answer := engine.Verdict(v)
	if in.Phase != engine.PhasePre {
		answer = engine.Allow
	}
	return engine.Decision{Decision: answer, Enforced: answer}, nil
}

// EventOf returns the event of a record, as far as it was recorded.
func EventOf(m RecordedEvent) (engine.Event, bool) {
	r := m.Record
	switch {
	case m.Event != nil:
		return *m.Event, true
	case r.Event == nil || r.Note != nil || r.Phase == "":
		return engine.Event{}, false
	}
	e := engine.Event{Harness: r.Harness, Name: r.Event.Name, Phase: r.Phase, Session: r.Session, Call: r.Call, Tool: r.Event.Tool,
		CWD: r.Event.CWD, Mode: r.Event.Mode, PromptID: r.Event.PromptID, Time: r.T}
	if r.Agent != engine.MainAgent {
		e.Agent = r.Agent
	}
	if args, err := engine.CanonicalOf(r.Event.Args); err == nil && r.Event.Args != nil {
		e.Args = args
	}
	if res := r.Event.Result; res != nil {
		e.Result = &engine.Result{Failed: res.Outcome == engine.OutcomeFailed, Interrupted: res.Interrupted, Error: res.Class, DurationMS: res.MS}
	}
	return e, true
}
