package simulate

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// drawn decides by the tool and by what the detectors d0, d1, … found.
type drawn map[string]engine.Verdict

func (drawn) Match(context.Context, *engine.Input) ([]engine.Finding, error) { return nil, nil }

func (p drawn) Decide(_ context.Context, in *engine.Input, _ []engine.Finding) (engine.Decision, error) {
	v := engine.Allow
	if in.Phase == engine.PhasePre {
		v = p.of(in.Event.Tool, func(id string) bool { return in.Action.Detected[id] > 0 })
	}
	return engine.Decision{Decision: v, Enforced: v}, nil
}

// of returns the verdict of a rule for the tool and a finding, else the one for the tool.
func (p drawn) of(tool string, found func(id string) bool) engine.Verdict {
	for _, id := range detectorsOfTest {
		if v, there := p[tool+" "+id]; there && found(id) {
			return v
		}
	}
	return p[tool]
}

var detectorsOfTest = []string{"d0", "d1", "d2"}

// lacking is what records lack for one side, by tool: detectors, or a fact about rows.
type lacking map[string][]string

const lackingRow = "row"

func (l lacking) of(r *engine.Record, _ string) Missing {
	missed := l[r.Event.Tool]
	switch {
	case r.Phase != engine.PhasePre || len(missed) == 0:
		return Missing{}
	case slices.Contains(missed, lackingRow):
		return Missing{Fact: "what it does"}
	}
	return Missing{Fact: "contents were not searched", Detectors: missed}
}

// any calls fn with each verdict that a side may have for a tool in fact.
func (p drawn) any(tool string, l lacking, found map[string]bool) []engine.Verdict {
	if slices.Contains(l[tool], lackingRow) {
		return []engine.Verdict{engine.Allow, engine.Block}
	}
	return []engine.Verdict{p.of(tool, func(id string) bool { return found[id] && slices.Contains(l[tool], id) })}
}

// mayBeLoosened decides by brute force: whatever detectors found and rows say.
func mayBeLoosened(tool string, base, now drawn, baseLacks, nowLacks lacking) bool {
	for n := range 1 << len(detectorsOfTest) {
		found := map[string]bool{}
		for i, id := range detectorsOfTest {
			found[id] = n>>i&1 == 1
		}
		for _, b := range base.any(tool, baseLacks, found) {
			for _, c := range now.any(tool, nowLacks, found) {
				if milder(b, c) {
					return true
				}
			}
		}
	}
	return false
}

// TestNoLooseningPasses draws candidates that disable rules, weaken decisions, only observe, and
// add detectors and rows, one change or several at once: none that loosens a recorded call, or may,
// is within the budget loosened>0. One that cannot is, unless it depends on a row, or nothing can be
// compared. 400 are drawn, and with REVIEWER_EVERY=1 (`make fidelity`) as many as loosen 10,000 times.
func TestNoLooseningPasses(t *testing.T) {
	budget, err := ParseBudget("loosened>0")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewSource(7))
	verdict := func() engine.Verdict { return engine.Verdict(engine.Verdicts()[r.Intn(5)]) }
	loosening, passed := 0, 0
	count := sweep.Count(t, "candidates")
	const few, pairs = 400, 10_000
	for i := range 100 * few {
		base, now := drawn{}, drawn{}
		baseLacks, nowLacks := lacking{}, lacking{}
		var tools []string
		observe := r.Intn(6) == 0
		for n := range 5 {
			tool := fmt.Sprint("T", n)
			tools = append(tools, tool)
			base[tool] = verdict()
			if r.Intn(2) == 0 {
				base[tool] = engine.Allow
			}
			now[tool] = base[tool]
			switch r.Intn(8) {
			case 0: // a rule is disabled
				now[tool] = engine.Allow
			case 1: // or weakened, or strengthened
				now[tool] = verdict()
			}
			for _, id := range detectorsOfTest[:r.Intn(3)+r.Intn(2)] {
				nowLacks[tool] = append(nowLacks[tool], id)
				if r.Intn(2) == 0 { // a rule for it
					if now[tool+" "+id] = verdict(); r.Intn(2) == 0 {
						now[tool+" "+id] = engine.Block
					}
				}
				if i%2 == 0 && r.Intn(3) == 0 { // the baseline has it as well
					base[tool+" "+id] = now[tool+" "+id]
					if base[tool+" "+id] == "" {
						delete(base, tool+" "+id)
					}
					baseLacks[tool] = append(baseLacks[tool], id)
				}
			}
			if r.Intn(8) == 0 {
				nowLacks[tool] = append(nowLacks[tool], lackingRow)
			}
		}
		if observe {
			for key := range now {
				now[key] = engine.Allow
			}
		}
		if !sweep.Has(i, 100) {
			continue
		}
		count.Add(1)
		candidate := Side{Named: Named{Name: "new", Digest: "new"}, Policy: compiled(now, "new"), MissingFact: nowLacks.of}
		baseline := recordedSide()
		if i%2 == 0 {
			baseline = Side{Named: Named{Name: "old", Digest: "old"}, Policy: compiled(base, "old"), MissingFact: baseLacks.of}
		}
		m := compareAll(t, Comparison{Baseline: baseline, Candidates: []Side{candidate}}, recordedStory(t, "a", base, tools...))
		may, many := false, false
		for _, tool := range tools {
			may = may || mayBeLoosened(tool, base, now, baseLacks, nowLacks)
			many = many || slices.Contains(nowLacks[tool], lackingRow)
		}
		switch why := budget.Exceeded(m); {
		case may && why == "":
			t.Fatalf("draw %d passes: %v, then %v; lacking %v, %v; %s", i, base, now, baseLacks, nowLacks, told(m))
		case !may && !many && why != "":
			t.Fatalf("draw %d is refused (%s): %v, then %v; lacking %v, %v; %s", i, why, base, now, baseLacks, nowLacks, told(m))
		case may:
			if loosening++; loosening == pairs {
				return
			}
		case why == "":
			passed++
		}
	}
	if sweep.Every() {
		t.Errorf("%d candidates loosen, want %d", loosening, pairs)
	}
	if draws := int(count.Load()); loosening < draws/4 || passed < draws/50 {
		t.Errorf("of %d candidates, %d loosen and %d pass", draws, loosening, passed)
	}
}
