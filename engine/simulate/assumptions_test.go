package simulate

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// looking answers by which files exist: each mixture has an answer of its own, or only the number of some files counts.
type looking struct {
	seed   int64
	counts []string // the answer depends on how many of these exist; nil: on each file
}

func (looking) Match(context.Context, *engine.Input) ([]engine.Finding, error) { return nil, nil }

func (p looking) Decide(_ context.Context, in *engine.Input, _ []engine.Finding) (engine.Decision, error) {
	v := engine.Allow
	if in.Phase == engine.PhasePre {
		exists := map[string]string{}
		for _, e := range in.Action.Effects {
			exists[e.Target] = e.Exists
		}
		v = p.of(exists)
	}
	return engine.Decision{Decision: v, Enforced: v}, nil
}

func (p looking) of(exists map[string]string) engine.Verdict {
	text := fmt.Sprint(exists)
	if p.counts != nil {
		n := 0
		for _, file := range p.counts {
			if exists[file] == "yes" {
				n++
			}
		}
		text = fmt.Sprint(n > 1)
	}
	hash := p.seed
	for _, b := range []byte(text) {
		hash = hash*31 + int64(b)
	}
	return []engine.Verdict{engine.Allow, engine.Ask, engine.Block}[rand.New(rand.NewSource(hash)).Intn(3)]
}

// changing is a transcript of one call that changes files of which is not known whether they existed.
func changing(files []string) RecordedSession {
	action := &engine.Action{Name: "test.write", Types: []engine.Type{engine.TypeFileModification}}
	for _, file := range files {
		action.Effects = append(action.Effects, engine.Effect{Kind: engine.EffectFileWrite, Verb: "write", Target: file, Certainty: engine.CertaintyExact})
	}
	return RecordedSession{Session: "a", Harness: "test", Format: "test", Events: func(yield func(RecordedEvent, error) bool) {
		open := &engine.Record{V: 1, N: 1, Chain: chainID("a"), Session: "a", T: 1, Kind: engine.KindOpen, Open: &engine.Open{Workspace: "/w", Env: &env}}
		call := &engine.Record{V: 1, N: 2, Chain: chainID("a"), Session: "a", T: 2, Agent: engine.MainAgent, Call: "c", Phase: engine.PhasePre,
			Kind: engine.KindPre, Event: &engine.EventFacts{Tool: "Write"}, Action: action}
		_ = yield(RecordedEvent{Record: open}, nil) && yield(RecordedEvent{Record: call, Event: &engine.Event{Phase: engine.PhasePre}}, nil)
	}}
}

// TestUnknownFiles draws policies that answer by which of up to five files exist: a state is certain if and only if it is the same
// for each mixture of them.
func TestUnknownFiles(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	count := sweep.Count(t, "policies")
	certain, open := 0, 0
	for i := range 2000 {
		var files []string
		for n := range 1 + r.Intn(5) {
			files = append(files, fmt.Sprint("/w/f", n))
		}
		drawn := func() looking {
			p := looking{seed: r.Int63()}
			if r.Intn(3) > 0 {
				p.counts = files[:r.Intn(len(files)+1)]
			}
			return p
		}
		base, now := drawn(), drawn()
		if !sweep.Has(i, 10) {
			continue
		}
		count.Add(1)
		side := func(name string, p looking) Side {
			return Side{Named: Named{Name: name, Digest: name}, Policy: &review.Policy{Digest: name, Matcher: p, Decider: p}}
		}
		m := compareAll(t, Comparison{Baseline: side("old", base), Candidates: []Side{side("new", now)}}, changing(files))
		possible := map[State]bool{stateOf(base.of(unknownOf(files)), now.of(unknownOf(files))): true}
		for n := range 1 << len(files) {
			exists := map[string]string{}
			for i, file := range files {
				exists[file] = []string{"no", "yes"}[n>>i&1]
			}
			possible[stateOf(base.of(exists), now.of(exists))] = true
		}
		var got []State
		for state, n := range m.Calls.States {
			if n > 0 {
				got = append(got, state)
			}
		}
		sure := slices.Contains([]State{Unchanged, Tightened, Loosened}, got[0])
		if len(got) != 1 || sure != (len(possible) == 1) || sure && !possible[got[0]] {
			t.Fatalf("draw %d: %v; possible: %v", i, got, possible)
		}
		if sure {
			certain++
		} else if open++; m.Loosening().Loosened+m.Loosening().Maybe+m.Loosening().Unknown == 0 && possible[Loosened] {
			t.Fatalf("draw %d: it may be loosened, and the gate does not know", i)
		}
	}
	if certain == 0 || open == 0 {
		t.Errorf("%d are certain, %d are not", certain, open)
	}
}

func unknownOf(files []string) map[string]string {
	exists := map[string]string{}
	for _, file := range files {
		exists[file] = ""
	}
	return exists
}

func stateOf(from, to engine.Verdict) State {
	switch {
	case milder(from, to):
		return Loosened
	case milder(to, from):
		return Tightened
	}
	return Unchanged
}

// Of more than five files, all, none, each and all but each are tried: not more than there is time for.
func TestManyUnknownFiles(t *testing.T) {
	var files []string
	for n := range 40 {
		files = append(files, fmt.Sprint("/w/f", n))
	}
	seen := map[string]bool{}
	for exists := range mixtures(files[:6]) {
		seen[fmt.Sprint(exists)] = true
	}
	if len(seen) != 14 {
		t.Errorf("%d mixtures of six files, want 14", len(seen))
	}
	n := 0
	for range mixtures(files) {
		n++
	}
	if n != maxCombinations {
		t.Errorf("%d mixtures of 40 files, want %d", n, maxCombinations)
	}
}
