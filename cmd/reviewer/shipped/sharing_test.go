package shipped

import (
	"bytes"
	"os"
	"sync/atomic"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/sources"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/sweep"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// sharers are policies that use what the others computed for the same event.
type sharers struct {
	*testing.T
	policies  []*review.Policy
	sharing   *wiring.Sharing
	decisions int
	count     *atomic.Int64
	differ    int // decisions that differ from the first policy's
}

func newSharers(t *testing.T) *sharers {
	w := &sharers{T: t, sharing: &wiring.Sharing{}, count: sweep.Count(t, "decisions compared")}
	for _, e := range []*bundles.Effective{
		wiringtest.Effective(t),
		wiringtest.Edited(t, "data.yaml", "high_threshold: 0.8", "high_threshold: 0.65"),
		wiringtest.Edited(t, "data.yaml", "enforcement: {} # rule id", "enforcement: {database_destructive: observe} # rule id"),
		wiringtest.Edited(t, "rules/database/database.rego", "This drops, empties or overwrites", "Do you want to drop"),
		wiringtest.Edited(t, "policy/outcome.rego", "\nfirst_time_pardon if {\n", "\nfirst_time_pardon if {\n\tinput.phase == \"never\"\n"),
		wiringtest.Edited(t, "data.yaml", "enforcement: enforce", "enforcement: warn"),
		wiringtest.Edited(t, "data.yaml", "recent: {last: 10}", "recent: {last: 3}"),
	} {
		p, err := wiring.Compile(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		w.policies = append(w.policies, p)
		w.sharing.Add(p)
	}
	return w
}

// decide compares what policies decide alone with what they decide together, byte for byte.
// Every second one sees a history of its own, in which it noticed nothing so far.
func (w *sharers) decide(rec *engine.Record, h *history.State) {
	w.Helper()
	if rec.Event == nil || rec.Note != nil || !rec.Phase.Reviewed() || h.Empty() || rec.Phase == engine.PhasePre && rec.Action == nil {
		return
	}
	event := w.sharing.Event(w.Context())
	var first []byte
	for i, p := range w.policies {
		seen := h
		if i%2 == 1 {
			seen = h.WithPolicyState(history.New().PolicyState())
		}
		want, err := p.Decide(w.Context(), rec, seen)
		got, err2 := p.Decide(event, rec, seen)
		if (err == nil) != (err2 == nil) {
			w.Errorf("%s: policy %d: %v, sharing %v", rec.ID(), i, err, err2)
			continue
		}
		a, err := engine.CanonicalOf(want.Decision)
		b, err2 := engine.CanonicalOf(got.Decision)
		if err != nil || err2 != nil || !bytes.Equal(a, b) {
			w.Errorf("%s: policy %d (%v, %v) decides\n%s\nsharing\n%s", rec.ID(), i, err, err2, a, b)
		}
		if first == nil {
			first = a
		}
		if !bytes.Equal(a, first) {
			w.differ++
		}
		w.decisions++
		w.count.Add(1)
	}
}

func (w *sharers) enough(decisions int) {
	w.Helper()
	if w.decisions < decisions || w.differ == 0 {
		w.Errorf("only %d decisions were compared, of which %d differ between policies", w.decisions, w.differ)
	}
	w.Logf("%d decisions, of which %d differ between policies", w.decisions, w.differ)
}

// Policies that share decide every case as they do alone. Every sixtieth is tried; all with
// REVIEWER_EVERY=1.
func TestSharingCases(t *testing.T) {
	t.Parallel()
	runner, list := shippedCases(t)
	w := newSharers(t)
	for i, c := range list {
		if !sweep.Has(i, 60) || c.Settings != nil || c.Layers != nil {
			continue
		}
		result, err := runner.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		h := history.New()
		for _, rec := range result.Chain {
			w.decide(rec, h)
			h.Append(rec)
		}
	}
	w.enough(500)
}

// And the decisions of the frozen logs: every thirtieth; all with REVIEWER_EVERY=1.
func TestSharingFrozenLogs(t *testing.T) {
	w := newSharers(t)
	n := 0
	for _, frozen := range frozenHomes(t) {
		eachDecision(t, copied(t, frozen), func(rec *engine.Record, _ *review.Policy, h *history.State) {
			if n++; sweep.Has(n, 30) {
				w.decide(rec, h)
			}
		})
	}
	w.enough(100)
}

// And recorded sessions: those of testdata, and those that REVIEWER_SESSIONS names.
func TestSharingSessions(t *testing.T) {
	w := newSharers(t)
	args := []string{root + "/testdata/transcripts"}
	if more := os.Getenv("REVIEWER_SESSIONS"); more != "" {
		args = append(args, more)
	}
	set, err := sources.Find(t.Context(), args, sources.Options{
		Env: cli.Environment(), Mask: func(s string) string { return s },
		Classifier: func(transcript.Transcript) engine.Classifier {
			return &classify.Classifier{World: classify.System{Home: "/home/kim"}, MAC: classifytest.MAC, Rows: bundles.BuiltInRows()}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range set.Families {
		for s := range set.Families[i].Recorded(t.Context()) {
			h := history.New()
			for m, err := range s.Events {
				if err != nil {
					break // what cannot be read is not decided
				}
				w.decide(m.Record, h)
				h.Append(m.Record)
			}
		}
	}
	w.enough(100)
}
