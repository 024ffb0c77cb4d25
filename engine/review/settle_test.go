package review

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

func TestSettleRefusesWords(t *testing.T) {
	for _, d := range []engine.Decision{
		{Decision: "deny", Enforced: engine.Block}, {Decision: engine.Block, Enforced: "deny"}, {Decision: engine.Allow}, {Enforced: engine.Allow}, {Decision: "ALLOW", Enforced: engine.Allow}, {},
	} {
		if err := settle(&d); err == nil || !strings.Contains(err.Error(), "not one of allow, warn, modify, ask, block") {
			t.Errorf("%q, %q: %v", d.Decision, d.Enforced, err)
		}
	}
	for _, v := range engine.Verdicts() {
		if err := settle((&engine.Decision{Decision: engine.Verdict(v), Enforced: engine.Verdict(v)})); err != nil {
			t.Errorf("%s: %v", v, err)
		}
	}
	page := engine.Decision{Decision: engine.Warn, Enforced: engine.Warn, Intervention: &engine.Intervention{Kind: "page"}}
	if err := settle(&page); err == nil || !strings.Contains(err.Error(), `the intervention "page", which is not one of soft_correction`) {
		t.Errorf("a kind that the policy has not: %v", err)
	}
	if err := settle(&page, "page"); err != nil {
		t.Errorf("a kind that it has: %v", err)
	}
	page.Intervention.Does = []string{engine.DoesLimit, "delete"}
	if err := settle(&page, "page"); err == nil || !strings.Contains(err.Error(), `does "delete", which is not one of remind, limit, wait, restore, stop`) {
		t.Errorf("something that no kind does: %v", err)
	}
	if err := settle((&engine.Decision{Decision: engine.Allow, Enforced: engine.Allow, Confidence: math.NaN()})); err == nil {
		t.Error("a confidence that is not a number was accepted")
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

func (w words) decision() engine.Decision {
	verdict := func() engine.Verdict { return engine.Verdict(engine.Verdicts()[w.IntN(5)]) }
	d := engine.Decision{
		Decision: verdict(), Enforced: verdict(), Reason: w.text(5000), Reasons: w.list(30), Explanation: w.text(5000), Text: w.text(9000),
		Risk:         &engine.Risk{Score: w.Float64(), Level: "critical", Factors: w.list(20)},
		Rationality:  &engine.Rationality{Score: w.Float64(), Level: "medium", Components: map[string]float64{"a": 0.5, "b": 1}, Issues: w.list(9), Suggestions: w.list(9)},
		SideEffects:  &engine.SideEffects{Severity: "critical", Kinds: w.list(7), Mitigations: w.list(7)},
		Confidence:   w.Float64(),
		Alternatives: w.list(30), Obligations: []string{"checkpoint"}, Grant: true,
		Intervention: &engine.Intervention{Kind: engine.EmergencyStop, Reason: w.text(4000)},
	}
	for range w.IntN(40) {
		d.Rules = append(d.Rules, engine.RuleResult{ID: "some_rule.with_a_name_of_usual_length", Decision: verdict(), Severity: "critical", Message: w.text(3000)})
		d.Errors = append(d.Errors, engine.RuleError{Rule: "some_rule", Message: w.text(3000)})
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
		var before, twin engine.Decision
		for _, into := range []*engine.Decision{&before, &twin} {
			if raw, err := json.Marshal(d); err != nil || json.Unmarshal(raw, into) != nil {
				t.Fatal(err)
			}
		}
		if err := settle(&twin); err != nil {
			t.Fatalf("%+v: %v", before, err)
		}
		raw, err := engine.Marshal(twin)
		if err != nil || len(raw) > maxDecision {
			t.Fatalf("%d bytes, at most %d (%v): %s", len(raw), maxDecision, err, raw)
		}
		if again := twin; settle(&again) != nil || !cmp.Equal(again, twin) {
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
	d := engine.Decision{
		Decision: engine.Block, Enforced: engine.Block, Reason: strings.Repeat("r", 500), Text: strings.Repeat("t", 900), Reasons: strings.Split("abcdefghijkl", ""),
		Rules: []engine.RuleResult{{ID: "a", Message: "é"}},
	}
	before := d
	if err := settle(&d); err != nil || !cmp.Equal(before, d) {
		t.Errorf("%v\n%s", err, cmp.Diff(before, d))
	}
}

// What cannot be cut is refused: half of an id would be another one.
func TestSettleRefusesLongNames(t *testing.T) {
	long := strings.Repeat("a", maxDecision)
	for name, d := range map[string]engine.Decision{
		"rule": {Rules: []engine.RuleResult{{ID: long}}}, "obligation": {Obligations: []string{long}},
		"component": {Rationality: &engine.Rationality{Components: map[string]float64{long: 1}}},
	} {
		d.Decision, d.Enforced = engine.Allow, engine.Allow
		if err := settle(&d); err == nil || !strings.Contains(err.Error(), "more than 2560 bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the agent reads is whole, however much of the rest has to go.
func TestSettleKeepsWhatIsTold(t *testing.T) {
	d := engine.Decision{Decision: engine.Block, Enforced: engine.Block, Reason: strings.Repeat("r", 400)}
	d.Text = "Blocked by rule a: " + strings.Repeat("t", 1200) + "\nSafer: plan it first.\nDo not try to achieve the same effect in another way."
	for range 9 {
		d.Reasons = append(d.Reasons, strings.Repeat("s", 400))
		d.Rules = append(d.Rules, engine.RuleResult{ID: "a", Decision: engine.Block, Message: strings.Repeat("m", 400)})
		d.Alternatives = append(d.Alternatives, strings.Repeat("w", 300))
	}
	before := d.Text
	if err := settle(&d); err != nil || d.Text != before || len(d.Rules) == 0 {
		t.Errorf("%v: %q", err, d.Text)
	}
}

// A decision with many reasons loses some of them, and no part of a sentence.
func TestSettleLeavesOut(t *testing.T) {
	d := engine.Decision{Decision: engine.Block, Enforced: engine.Block, Reason: "The first reason. It has two sentences.", Explanation: "Several rules fired.",
		Text: "Blocked by rule r0: " + strings.Repeat("This deletes the only copy of something. ", 25)}
	for i := range 9 {
		d.Rules = append(d.Rules, engine.RuleResult{ID: fmt.Sprint("r", i), Decision: engine.Block, Severity: "high", Message: strings.Repeat("m", 110)})
		d.Reasons = append(d.Reasons, fmt.Sprint(i, strings.Repeat("r", 110)))
		d.Alternatives = append(d.Alternatives, fmt.Sprint(i, strings.Repeat("a", 40)))
	}
	before := d
	if err := settle(&d); err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(d.RuleIDs(), before.RuleIDs()) || d.Text != before.Text || d.Reason != before.Reason || d.Rules[1].Message != before.Rules[1].Message {
		t.Errorf("more than reasons were lost: %+v", d)
	}
	n := len(d.Reasons) - 1
	if n < 1 || !cmp.Equal(d.Reasons, append(before.Reasons[:n:n], fmt.Sprintf("… %d more", 9-n))) {
		t.Errorf("the reasons are %q", d.Reasons)
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
		if got := clipText(text, 100); engine.JSONLen(got) > 112 || !strings.HasPrefix(text, strings.Split(got, "…")[0]) {
			t.Errorf("%q: %d bytes in JSON: %q", filler, engine.JSONLen(got), got)
		}
	}
	if got := clipText("short", 10); got != "short" {
		t.Errorf("%q", got)
	}
}
