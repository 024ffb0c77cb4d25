package history

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// What a policy noticed that found the contents of the log is the contents of the log,
// whatever happened: agents that are forgotten, more findings than are kept,
// calls that nobody reviewed.
func TestNoticedIsWhatIsRecorded(t *testing.T) {
	random := rand.New(rand.NewSource(3))
	h := lenient()
	n := h.PolicyState()
	for i := range int64(4000) {
		r := noticing(random, i+1)
		if r.Kind == engine.KindPost && h.Recorded(r.Agent, r.Call, engine.PhasePre) == 0 {
			r.Call = fmt.Sprint("never reviewed ", i) // a log holds one result of each
		}
		h.Append(r)
		n.Fold(h, r, r.Findings, r.Decision)
		own := h.WithPolicyState(n)
		if d := cmp.Diff(h.Fired, own.Fired); d != "" {
			t.Fatalf("record %d: of the session (-log +noticed):\n%s", i, d)
		}
		for k, a := range h.Agents {
			if len(a.Fired)+len(own.Agents[k].Fired) == 0 {
				continue
			}
			if d := cmp.Diff(a.Fired, own.Agents[k].Fired); d != "" {
				t.Fatalf("record %d: of %s (-log +noticed):\n%s", i, a.Name, d)
			}
		}
	}
	if len(h.Fired) == 0 {
		t.Fatal("nothing was found at all")
	}
}

// noticing makes a record with findings, of which some are told.
func noticing(random *rand.Rand, n int64) *engine.Record {
	r := &engine.Record{N: n, T: n, Kind: engine.KindPre, Phase: engine.PhasePre, Agent: fmt.Sprint("a", random.Intn(30)), Call: fmt.Sprint("c", random.Intn(50)), Action: &engine.Action{}, Decision: &engine.Decision{}}
	if random.Intn(2) == 0 {
		r.Kind, r.Phase = engine.KindPost, engine.PhasePost
		r.Event = &engine.EventFacts{Result: &engine.ResultFacts{Outcome: []engine.Outcome{engine.OutcomeRan, engine.OutcomeFailed}[random.Intn(2)]}}
	}
	r.Decision.Enforced = []engine.Verdict{engine.Warn, engine.Ask, engine.Block}[random.Intn(3)]
	for range random.Intn(4) {
		f := engine.Finding{ID: fmt.Sprint("p", random.Intn(40)), Level: []string{"", "low", "high"}[random.Intn(3)]}
		r.Findings = append(r.Findings, f)
		if random.Intn(2) == 0 {
			r.Decision.Rules = append(r.Decision.Rules, engine.RuleResult{ID: f.ID})
		}
	}
	return r
}

// Two policies that noticed different things see one history otherwise, and
// leave it as it is.
func TestNoticedApart(t *testing.T) {
	h := lenient()
	n := h.PolicyState()
	r := &engine.Record{N: 1, T: 1, Kind: engine.KindPre, Phase: engine.PhasePre, Agent: engine.MainAgent, Findings: []engine.Finding{{ID: "loop", Level: "high"}}}
	h.Append(r)
	n.Fold(h, r, []engine.Finding{{ID: "drift", Level: "low"}}, nil)
	if own := h.WithPolicyState(n); own.Fired["drift"] != 1 || own.Fired["loop"] != 0 || h.Fired["loop"] != 1 || h.Fired["drift"] != 0 {
		t.Errorf("the log has %v, the other policy noticed %v", h.Fired, own.Fired)
	}
}
