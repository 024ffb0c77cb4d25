package simulate

import (
	"context"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// judging has conditions that fire if one of some detectors has found something, and answers as a table says for the
// conditions that fired and for the detectors that it reads itself. No finding makes an answer stricter or milder.
type judging struct {
	conditions map[string]condition
	reads      []string // detectors, whose counts matter
	seed       int64
	constant   bool // it answers with the number of conditions that fired as its table says
}

type condition struct {
	detected, tools []string
}

func (p judging) Match(_ context.Context, in *engine.Input) (found []engine.Finding, _ error) {
	for _, id := range slices.Sorted(maps.Keys(p.conditions)) {
		c := p.conditions[id]
		if slices.Contains(c.tools, in.Event.Tool) && slices.ContainsFunc(c.detected, func(id string) bool { return in.Action.Detected[id] > 0 }) {
			found = append(found, engine.Finding{ID: id})
		}
	}
	return found, nil
}

func (p judging) Decide(_ context.Context, in *engine.Input, found []engine.Finding) (engine.Decision, error) {
	v := engine.Allow
	if in.Phase == engine.PhasePre {
		v = p.of(in.Event.Tool, len(found), fmt.Sprint(found), in.Action.Detected)
	}
	return engine.Decision{Decision: v, Enforced: v}, nil
}

func (p judging) of(tool string, count int, found string, detected map[string]int64) engine.Verdict {
	hash := p.seed
	add := func(text string) {
		for _, b := range []byte(text) {
			hash = hash*31 + int64(b)
		}
	}
	add(tool)
	for _, id := range p.reads {
		add(fmt.Sprint(detected[id]))
	}
	if !p.constant {
		add(found)
	} else if count == 0 {
		return engine.Allow
	}
	return []engine.Verdict{engine.Allow, engine.Ask, engine.Block}[rand.New(rand.NewSource(hash)).Intn(3)]
}

func (p judging) readers(id string) Readers {
	var r Readers
	if slices.Contains(p.reads, id) {
		r.Others = []string{"user/a.rego"}
	}
	for _, rule := range slices.Sorted(maps.Keys(p.conditions)) {
		if slices.Contains(p.conditions[rule].detected, id) {
			r.Conditions = append(r.Conditions, rule)
		}
	}
	return r
}

// TestUnknownDetections draws policies that read up to six detectors of which records lack the results. What is said to be
// known is so for each combination of what they may have found, and few rules leave nothing unknown that is the same for all.
// 300 are drawn, and with REVIEWER_EVERY=1 (`make fidelity`) 3,000.
func TestUnknownDetections(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	ids := []string{"d0", "d1", "d2", "d3", "d4", "d5"}
	tools := []string{"T0", "T1", "T2"}
	drawn := func() judging {
		p := judging{conditions: map[string]condition{}, seed: r.Int63(), constant: r.Intn(2) == 0}
		for n := range r.Intn(4) {
			c := condition{}
			for range 1 + r.Intn(3) {
				c.detected = append(c.detected, ids[r.Intn(len(ids))])
			}
			for range r.Intn(3) {
				c.tools = append(c.tools, tools[r.Intn(len(tools))])
			}
			p.conditions[fmt.Sprint("rule", n)] = c
		}
		if r.Intn(5) == 0 {
			p.reads = append(p.reads, ids[r.Intn(len(ids))])
		}
		return p
	}
	count := sweep.Count(t, "policies")
	known, unknown := 0, 0
	for i := range 3000 {
		base, now := drawn(), drawn()
		if r.Intn(2) == 0 {
			base.conditions, base.reads = nil, nil
		}
		if !sweep.Has(i, 10) {
			continue
		}
		count.Add(1)
		missing := func(*engine.Record, string) Missing { return Missing{Fact: "contents", Detectors: ids} }
		side := func(digest string, p judging) Side {
			policy := &review.Policy{Digest: digest, Matcher: p, Decider: p}
			return Side{Named: Named{Name: digest, Digest: digest}, Policy: policy, MissingFact: missing, Readers: p.readers}
		}
		m := compareAll(t, Comparison{Baseline: side("old", base), Candidates: []Side{side("new", now)}},
			recordedStory(t, "a", policy{patience: 99}, tools...))
		states := map[string]State{}
		for _, s := range m.Changed {
			for _, step := range s.Steps {
				states[step.Tool] = step.State
			}
		}
		for _, tool := range tools {
			possible := possibleStates(base, now, tool, ids)
			if len(possible) == 1 {
				known++
			} else {
				unknown++
			}
			got := states[tool]
			if got == "" { // unchanged or unknown: the sums tell
				continue
			}
			if (got == Tightened || got == Loosened) && (len(possible) != 1 || !possible[got]) {
				t.Fatalf("draw %d: %s is said to be %s; possible: %v; %+v, then %+v", i, tool, got, possible, base, now)
			}
		}
		var unchanged, open int64
		for _, tool := range tools {
			if p := possibleStates(base, now, tool, ids); len(p) > 1 {
				open++
			} else if p[Unchanged] {
				unchanged++
			}
		}
		if n := m.Calls.Count(Unchanged); n > unchanged {
			t.Fatalf("draw %d: %d calls are said to be unchanged, and %d are; %+v, then %+v", i, n, unchanged, base, now)
		}
		if n := m.Calls.Count(Unknown) + m.Calls.Count(Maybe); n > open && base.conditions == nil && now.reads == nil {
			t.Fatalf("draw %d: %d calls are said to be unknown, and %d are; %+v, then %+v", i, n, open, base, now)
		}
	}
	if known == 0 || unknown == 0 {
		t.Errorf("%d are known, %d are not", known, unknown)
	}
}

// possibleStates decides by brute force: whatever the detectors found.
func possibleStates(base, now judging, tool string, ids []string) map[State]bool {
	states := map[State]bool{}
	for n := range 1 << len(ids) {
		in := engine.Input{Phase: engine.PhasePre, Event: engine.EventFacts{Tool: tool}, Action: engine.Action{Detected: map[string]int64{}}}
		for i, id := range ids {
			if n>>i&1 == 1 {
				in.Action.Detected[id] = 1
			}
		}
		var verdicts [2]engine.Verdict
		for i, p := range []judging{base, now} {
			found, _ := p.Match(context.Background(), &in)
			verdicts[i] = p.of(tool, len(found), fmt.Sprint(found), in.Action.Detected)
		}
		switch {
		case milder(verdicts[0], verdicts[1]):
			states[Loosened] = true
		case milder(verdicts[1], verdicts[0]):
			states[Tightened] = true
		default:
			states[Unchanged] = true
		}
	}
	return states
}
