package approval

import (
	"fmt"
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// The model: one question, two people, two processes that hold up the call (the hook is
// installed twice, or the first one was killed), a clock, a stop, and a file that changes. Each
// is one step; each step that reads and appends does so under the session's lock.

const (
	testChain = "00112233445566778899aabbccddeeff"
	askedAt   = 1000
	until     = 2000
	digest    = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// world is one state of the model.
type world struct {
	records  []engine.Record // after the question
	folded   Questions
	now      int64
	stopped  bool
	changed  bool
	accepted int // answers by people that the log took
	procs    [2]proc
}

// proc is a process that holds up the call.
type proc struct {
	killed bool
	again  bool   // it was started again
	said   string // allow, deny; empty: it waits
}

func start() world {
	w := world{now: askedAt}
	w.append(engine.Record{Kind: engine.KindPre, Answer: &engine.AnswerFacts{Effect: engine.Ask,
		Pending: &engine.Pending{Digest: digest, Until: until}}})
	return w
}

func (w *world) append(r engine.Record) {
	r.N, r.T, r.Chain = int64(len(w.records))+2, w.now, testChain
	w.records = append(slices.Clip(w.records), r)
	w.folded = slices.Clone(w.folded).Fold(&r, testChain, w.stopped)
}

func id() string { return engine.RecordID(testChain, 2) }

// step is something that can happen; false: not in this state.
type step struct {
	name string
	do   func(*world) bool
}

func answer(do string) func(*world) bool {
	return func(w *world) bool {
		if w.folded.Accepts(2, digest, w.now) != nil {
			return false
		}
		w.accepted++
		w.append(engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: do, Record: id(), Digest: digest,
			Decided: &engine.Decided{Who: engine.DecidedPerson}}})
		return true
	}
}

// look lets a process take its step.
func look(i int) func(*world) bool {
	return func(w *world) bool {
		p := &w.procs[i]
		if p.killed || p.said != "" {
			return false
		}
		next := w.folded.Of(2).Next(id(), w.now, func() string {
			if w.changed {
				return "a file changed"
			}
			return ""
		})
		if next.Record != nil {
			w.append(*next.Record)
		}
		switch {
		case next.Wait:
			return false
		case next.Allow:
			p.said = "allow"
		default:
			p.said = "deny"
		}
		return true
	}
}

func once(is func(*world) *bool) func(*world) bool {
	return func(w *world) bool {
		done := *is(w)
		*is(w) = true
		return !done
	}
}

func steps() []step {
	return []step{
		{"one approves", answer(engine.ControlApprove)},
		{"another denies", answer(engine.ControlDeny)},
		{"time passes", func(w *world) bool {
			was := w.now
			w.now = min(was+until/4, until+1)
			return was != w.now
		}},
		{"the session is stopped", func(w *world) bool {
			was := w.stopped
			w.stopped = true
			if !was {
				w.append(engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlStop}})
			}
			return !was
		}},
		{"a file changes", once(func(w *world) *bool { return &w.changed })},
		{"first looks", look(0)},
		{"second looks", look(1)},
		{"first is killed", func(w *world) bool {
			was := w.procs[0]
			w.procs[0].killed = true
			return !was.killed && !was.again
		}},
		{"first starts again", func(w *world) bool { // the client asks again, whether or not it had an answer
			was := w.procs[0]
			w.procs[0] = proc{again: true}
			return was.killed && !was.again
		}},
	}
}

// TestEveryInterleaving tries all orders of all steps.
func TestEveryInterleaving(t *testing.T) {
	seen := map[string]bool{}
	var visit func(w world, path []string)
	visit = func(w world, path []string) {
		if problem := w.problem(); problem != "" {
			t.Fatalf("%s after %q", problem, path)
		}
		// The state must not hide anything that later steps depend on: records and all.
		state := fmt.Sprintf("%+v|%v|%v|%v|%v|%+v", w.folded, w.now, w.stopped, w.changed, w.accepted, w.procs) + kinds(w.records)
		if seen[state] {
			return
		}
		seen[state] = true
		for _, s := range steps() {
			next := w
			next.folded, next.records = slices.Clone(w.folded), slices.Clone(w.records)
			if s.do(&next) {
				visit(next, append(slices.Clip(path), s.name))
			}
		}
	}
	visit(start(), nil)
	if len(seen) < 500 {
		t.Errorf("only %d states: the model does too little", len(seen))
	}
}

func kinds(records []engine.Record) string {
	var s string
	for i := range records {
		if c := records[i].Control; c != nil {
			s += c.Do + " "
		} else if a := records[i].Act; a != nil {
			s += a.Kind + " "
		}
	}
	return s
}

// problem returns which promise a state breaks.
func (w *world) problem() string {
	approved, stopped, resumed := false, false, 0
	for i := range w.records {
		switch r := &w.records[i]; {
		case r.Act != nil && r.Act.Kind == engine.ActResumed:
			if resumed++; !approved || stopped {
				return "a call resumed without an approval, or after a stop"
			}
		case r.Control == nil:
		case r.Control.Do == engine.ControlStop:
			stopped = true
		case r.Control.Do == engine.ControlApprove:
			if approved = true; r.T > until || stopped {
				return "an approval was taken too late"
			}
		}
	}
	if resumed > 1 || w.accepted > 1 {
		return "it was answered twice"
	}
	for _, p := range w.procs {
		if p.said == "allow" && resumed == 0 {
			return "a call ran without a record"
		}
	}
	if w.procs[0].said != "" && w.procs[1].said != "" && w.procs[0].said != w.procs[1].said {
		return "two processes give different answers"
	}
	if again := w.refold(); fmt.Sprint(again) != fmt.Sprint(w.folded) {
		return fmt.Sprintf("folded again: %v, not %v", again, w.folded)
	}
	return w.stuck()
}

// refold folds the records from the beginning, as a process does that was started again.
func (w *world) refold() Questions {
	var qs Questions
	stopped := false
	for i := range w.records {
		r := &w.records[i]
		stopped = stopped || r.Control != nil && r.Control.Do == engine.ControlStop
		qs = qs.Fold(r, testChain, stopped)
	}
	return qs
}

// stuck reports a process that would wait forever: when the time has passed it has an answer.
func (w *world) stuck() string {
	if w.now <= until {
		return ""
	}
	for i := range w.procs {
		next := *w
		next.folded, next.records = slices.Clone(w.folded), slices.Clone(w.records)
		if p := next.procs[i]; !p.killed && p.said == "" && !look(i)(&next) {
			return "a process waits after the time has passed"
		}
	}
	return ""
}
