package engine

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStrictness(t *testing.T) {
	for i, v := range Verdicts() {
		if got := Verdict(v).Strictness(); got != i {
			t.Errorf("%s has strictness %d, want %d", v, got, i)
		}
	}
	for _, v := range []Verdict{"", "deny", "Allow"} {
		if v.Strictness() != Block.Strictness() {
			t.Errorf("%q is milder than block", v)
		}
	}
}

func TestSettleRefusesWords(t *testing.T) {
	for _, d := range []Decision{
		{Decision: "deny", Enforced: Block}, {Decision: Block, Enforced: "deny"}, {Decision: Allow}, {Enforced: Allow}, {Decision: "ALLOW", Enforced: Allow}, {},
	} {
		if err := d.settle(); err == nil || !strings.Contains(err.Error(), "none of allow, warn, modify, ask, block") {
			t.Errorf("%q, %q: %v", d.Decision, d.Enforced, err)
		}
	}
	for _, v := range Verdicts() {
		if err := (&Decision{Decision: Verdict(v), Enforced: Verdict(v)}).settle(); err != nil {
			t.Errorf("%s: %v", v, err)
		}
	}
	if err := (&Decision{Decision: Allow, Enforced: Allow, Confidence: math.NaN()}).settle(); err == nil {
		t.Error("a confidence that is no number was accepted")
	}
}

// words makes texts of all lengths and of what takes most room in JSON.
type words struct{ *rand.Rand }

func (w words) text(most int) string {
	filler := []string{"x", "word ", "\x01", "\xff", `"`, "é", "\u2028", "\U0001F600"}[w.IntN(8)]
	return strings.Repeat(filler, w.IntN(1+most/len(filler)))
}

func (w words) list(most int) []string {
	var list []string
	for range w.IntN(most + 1) {
		list = append(list, w.text(3000))
	}
	return list
}

func (w words) decision() Decision {
	verdict := func() Verdict { return Verdict(Verdicts()[w.IntN(5)]) }
	d := Decision{
		Decision: verdict(), Enforced: verdict(), Reason: w.text(5000), Reasons: w.list(30), Explanation: w.text(5000), Text: w.text(9000),
		Risk:         &Risk{Score: w.Float64(), Level: "critical", Factors: w.list(20)},
		Rationality:  &Rationality{Score: w.Float64(), Level: "medium", Components: map[string]float64{"a": 0.5, "b": 1}, Issues: w.list(9), Suggestions: w.list(9)},
		SideEffects:  &SideEffects{Severity: "critical", Kinds: w.list(7), Mitigations: w.list(7)},
		Confidence:   w.Float64(),
		Alternatives: w.list(30), Obligations: []string{"checkpoint"}, Grant: true,
		Intervention: &Intervention{Kind: EmergencyStop, Reason: w.text(4000)},
	}
	for range w.IntN(40) {
		d.Rules = append(d.Rules, RuleResult{ID: "some_rule.with_a_name_of_usual_length", Decision: verdict(), Severity: "critical", Message: w.text(3000)})
		d.Errors = append(d.Errors, RuleError{Rule: "some_rule", Message: w.text(3000)})
	}
	return d
}

// Whatever policy returns, it fits its part of a line, is the same each time,
// and keeps what it says is to be done.
func TestEveryDecisionFits(t *testing.T) {
	w := words{rand.New(rand.NewPCG(7, 8))}
	cut := 0
	for range 200 {
		d := w.decision()
		var before, twin Decision
		for _, into := range []*Decision{&before, &twin} {
			if raw, err := json.Marshal(d); err != nil || json.Unmarshal(raw, into) != nil {
				t.Fatal(err)
			}
		}
		if err := twin.settle(); err != nil {
			t.Fatalf("%+v: %v", before, err)
		}
		raw, err := marshal(twin)
		if err != nil || len(raw) > maxDecision {
			t.Fatalf("%d bytes, at most %d (%v): %s", len(raw), maxDecision, err, raw)
		}
		if again := twin; again.settle() != nil || !cmp.Equal(again, twin) {
			t.Fatalf("settling twice changes it: %s", cmp.Diff(twin, again))
		}
		if twin.Decision != before.Decision || twin.Enforced != before.Enforced || !cmp.Equal(twin.Obligations, before.Obligations) ||
			!cmp.Equal(twin.RuleIDs(), before.RuleIDs()[:len(twin.Rules)]) || twin.Stops() != before.Stops() {
			t.Fatalf("what is to be done was lost: %+v of %+v", twin, before)
		}
		if !cmp.Equal(before, twin) {
			cut++
		}
		for _, lists := range [][2][]string{{before.Alternatives, twin.Alternatives}, {before.Reasons, twin.Reasons}} {
			if len(lists[0]) > 0 && len(lists[1]) == 0 {
				t.Fatal("a list lost all that was in it")
			}
		}
	}
	if cut < 150 {
		t.Errorf("only %d decisions were cut", cut)
	}
}

// What fits is left as it is.
func TestSettleLeavesAlone(t *testing.T) {
	d := Decision{
		Decision: Block, Enforced: Block, Reason: strings.Repeat("r", 500), Text: strings.Repeat("t", 900), Reasons: strings.Split("abcdefghijkl", ""),
		Rules: []RuleResult{{ID: "a", Message: "é"}},
	}
	before := d
	if err := d.settle(); err != nil || !cmp.Equal(before, d) {
		t.Errorf("%v\n%s", err, cmp.Diff(before, d))
	}
}

// What cannot be cut is refused: half of an id would be another one.
func TestSettleRefusesLongNames(t *testing.T) {
	long := strings.Repeat("a", maxDecision)
	for name, d := range map[string]Decision{
		"rule": {Rules: []RuleResult{{ID: long}}}, "obligation": {Obligations: []string{long}},
		"component": {Rationality: &Rationality{Components: map[string]float64{long: 1}}},
	} {
		d.Decision, d.Enforced = Allow, Allow
		if err := d.settle(); err == nil || !strings.Contains(err.Error(), "more than 2560 bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The end of a denial, with its id and the way on, survives.
func TestClipText(t *testing.T) {
	text := strings.Repeat("why ", 500) + "(reviewer {id})"
	got := clipText(text, 200)
	if !strings.HasPrefix(got, "why why") || !strings.HasSuffix(got, "(reviewer {id})") || len(got) > 210 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	for _, filler := range []string{"é", "\x01", "\U0001F600", "\xff"} {
		text := strings.Repeat(filler, 500)
		if got := clipText(text, 100); jsonLen(got) > 112 || !strings.HasPrefix(text, strings.Split(got, "…")[0]) {
			t.Errorf("%q: %d bytes in JSON: %q", filler, jsonLen(got), got)
		}
	}
	if got := clipText("short", 10); got != "short" {
		t.Errorf("%q", got)
	}
}

// The largest facts and the largest decision fit a line together.
func TestFactsAndDecisionFitALine(t *testing.T) {
	w := words{rand.New(rand.NewPCG(9, 10))}
	for range 50 {
		d := w.decision()
		l := newMemoryLog()
		r := newReviewer(l, always(d))
		r.Classifier = classifyFunc(func(e Event, _ string) (Facts, error) {
			f, err := plainly(e, "")
			f.Event.Args = map[string]any{}
			f.Event.Args["command"] = strings.Repeat("x", MaxFacts-factsSize(t, f))
			return f, err
		})
		e := event(PhasePre, strings.Repeat("c", maxID))
		e.Session, e.Agent = strings.Repeat("s", maxID), strings.Repeat("a", maxID)
		if _, err := r.Handle(context.Background(), e); err != nil {
			t.Fatal(err)
		}
		if l.records[1].Answer.Mode == ModeDegraded {
			t.Fatalf("%+v", l.records[1].Answer)
		}
	}
}

func factsSize(t *testing.T, f Facts) int {
	t.Helper()
	n := 0
	for _, v := range []any{f.Event, f.Action} {
		raw, err := marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		n += len(raw)
	}
	return n
}
