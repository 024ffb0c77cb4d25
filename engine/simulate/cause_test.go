package simulate

import (
	"context"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// What another answer is due to: a rule that is strict enough, one that asks
// where nobody could be asked, how it is enforced, the scores, or someone else.
func TestCause(t *testing.T) {
	side := func(decision, enforced engine.Verdict, rules ...engine.RuleResult) sideAnswer {
		return sideAnswer{verdict: enforced, decision: &engine.Decision{Decision: decision, Enforced: enforced, Rules: rules}}
	}
	deletes := engine.RuleResult{ID: "deletes", Decision: engine.Block}
	late := engine.RuleResult{ID: "late", Decision: engine.Ask}
	watched := engine.RuleResult{ID: "deletes", Decision: engine.Block, Enforcement: "observe"}
	loops := engine.RuleResult{ID: "loop", Decision: engine.Warn}
	held := side("ask", "ask", loops)
	held.decision.Intervention = &engine.Intervention{Kind: "ask_us", Issue: "loop", Does: []string{engine.DoesWait}}
	for _, c := range []struct {
		name      string
		base, now sideAnswer
		rule      string
		unasked   bool
	}{
		{"one rule added", side("allow", "allow"), side("block", "block", late, deletes), "deletes", false},
		{"one rule removed", side("block", "block", deletes), side("allow", "allow"), "deletes", false},
		{"a rule that is only watched", side("block", "block", deletes), side("allow", "allow", watched), "deletes", false},
		{"nothing is enforced any more", side("block", "block", deletes), side("block", "allow", deletes), ByEnforcement, false},
		{"nobody could be asked", side("allow", "allow"), side("block", "block", late), "late", true},
		{"both ask, and the scores block", side("ask", "ask", late), side("block", "block", late), ByScores, false},
		{"an intervention has a person asked", side("warn", "warn", loops), held, "loop", false},
		{"the scores", side("allow", "allow"), side("ask", "ask"), ByScores, false},
		{"somebody refused", sideAnswer{verdict: engine.Block}, side("allow", "allow"), ByOthers, false},
	} {
		if rule, unasked := cause(c.base, c.now); rule != c.rule || unasked != c.unasked {
			t.Errorf("%s: due to %s (%v), want %s (%v)", c.name, rule, unasked, c.rule, c.unasked)
		}
	}
}

// The reason of an answer that is only enforced differently is the setting.
func TestCauseEnforcement(t *testing.T) {
	deletes := engine.RuleResult{ID: "deletes", Decision: engine.Block}
	watched := engine.RuleResult{ID: "deletes", Decision: engine.Block, Enforcement: "observe"}
	side := func(decision, enforced engine.Verdict, rules ...engine.RuleResult) sideAnswer {
		return sideAnswer{verdict: enforced, decision: &engine.Decision{Decision: decision, Enforced: enforced, Reason: "risk", Rules: rules}}
	}
	for want, c := range map[string][2]sideAnswer{
		"setting enforcement, or rules.enforcement.deletes: observe -> enforce": {side("block", "allow", watched), side("block", "block", deletes)},
		"setting enforcement, or rules.enforcement.deletes: enforce -> observe": {side("block", "block", deletes), side("block", "allow", watched)},
		"setting enforcement: enforce -> warn":                                  {side("ask", "ask"), side("ask", "warn")},
		"setting enforcement: observe -> enforce":                               {side("ask", "allow"), side("ask", "ask")},
	} {
		strict, _ := stricter(c[0], c[1])
		if got := reason(strict, c[0], c[1]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// nights asks about every call from 22 to 6 o'clock.
type nights struct{ policy }

func (nights) Decide(_ context.Context, in *engine.Input, _ []engine.Finding) (engine.Decision, error) {
	if in.Phase == engine.PhasePre && (in.Time.Hour >= 22 || in.Time.Hour < 6) {
		return engine.Decision{Decision: engine.Ask, Enforced: engine.Ask, Rules: []engine.RuleResult{{ID: "late", Decision: engine.Ask}}}, nil
	}
	return engine.Decision{Decision: engine.Allow, Enforced: engine.Allow}, nil
}

// A transcript without times says nothing about what holds at night only.
func TestCompareWithoutTime(t *testing.T) {
	timeless := events("Read", "Write")
	for i := range timeless {
		timeless[i].Time = 0
	}
	late := side("late", policy{})
	late.Policy.Decider, late.TimeDependent = nights{}, true
	c := Comparison{Baseline: side("old", policy{}), Candidates: []Side{late}}
	m := compareAll(t, c, transcribed(t, "s1", timeless))
	if got, want := told(m), "calls unknown 2+0; events unchanged 3+0"; got != want {
		t.Errorf("without times: got %s, want %s", got, want)
	}
	if len(m.Rules) != 0 || m.Tools[0].Candidate != 0 || m.Alarms.New != 0 || m.First != 0 {
		t.Errorf("without times a rule of the night counts: %+v, %+v, %+v, since %d", m.Rules, m.Tools, m.Alarms, m.First)
	}
	if m.Missing["the time of the call"] != 2 {
		t.Errorf("missing: %v", m.Missing)
	}
	m = compareAll(t, c, transcribed(t, "s2", events("Read", "Write")))
	if got := m.Calls.States[Tightened] + m.Calls.After[Tightened]; got != 2 {
		t.Errorf("at night %d calls are tightened, want 2: %s", got, told(m))
	}
}

// A session without anybody to ask is counted.
func TestCompareUnattended(t *testing.T) {
	alone := events("Read")
	for i := range alone {
		alone[i].Mode = "alone"
	}
	late := side("late", policy{})
	late.Unattended = []string{"alone"}
	m := compareAll(t, Comparison{Baseline: side("old", policy{}), Candidates: []Side{late}}, transcribed(t, "s1", alone), transcribed(t, "s2", events("Read")))
	if m.Sessions.Total != 2 || m.Sessions.Unattended != 1 {
		t.Errorf("got %+v, want one of two sessions unattended", m.Sessions)
	}
}

// ownRows are rows of a side of its own.
type ownRows struct{}

func (ownRows) RowsDigest() string { return "own" }

// So it is where a side reads the calls by rows of its own.
func TestCompareWithoutTimeUnderOwnRows(t *testing.T) {
	timeless := events("Read", "Write")
	for i := range timeless {
		timeless[i].Time = 0
	}
	late := side("late", policy{})
	late.Policy.Decider, late.TimeDependent, late.Policy.Rows = nights{}, true, ownRows{}
	m := compareAll(t, Comparison{Baseline: side("old", policy{}), Candidates: []Side{late}}, transcribed(t, "s1", timeless))
	if got, want := told(m), "calls unknown 2+0; events unchanged 3+0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Stops are counted against the time in which something happened: what is between
// two moments, unless it is a pause.
func TestWork(t *testing.T) {
	worked := events("Read", "Write", "Read")
	at := int64(1_900_000_000_000)
	for i := range worked {
		if at += time.Minute.Milliseconds(); i == len(worked)/2 {
			at += time.Hour.Milliseconds()
		}
		worked[i].Time = at
	}
	late := side("late", policy{})
	late.Policy.Decider = always{}
	c := Comparison{Baseline: side("old", policy{}), Candidates: []Side{late}}
	m := compareAll(t, c, transcribed(t, "s1", worked), transcribed(t, "s2", worked))
	if want := (Work{int64(2*(len(worked)-2)) * time.Minute.Milliseconds(), 0, 6}); m.Work != want {
		t.Errorf("got %+v, want %+v", m.Work, want)
	}
	c.Selection.Since = worked[len(worked)/2].Time
	if m := compareAll(t, c, transcribed(t, "s1", worked)); m.Work.Milliseconds >= 5*time.Minute.Milliseconds() {
		t.Errorf("what came before the time that was asked for counts: %+v", m.Work)
	}
}

// always asks about every call.
type always struct{ policy }

func (always) Decide(_ context.Context, in *engine.Input, _ []engine.Finding) (engine.Decision, error) {
	if in.Phase == engine.PhasePre {
		return engine.Decision{Decision: engine.Ask, Enforced: engine.Ask}, nil
	}
	return engine.Decision{Decision: engine.Allow, Enforced: engine.Allow}, nil
}

// A change is about the rules of its access list, and about a rule that a setting names.
func TestCauseOf(t *testing.T) {
	for rule, want := range map[string]bool{"access.acme.delete": true, "access.acme.default": true, "access.acmes.delete": false, "acme": false} {
		if (Cause{Kind: "access", Name: "access.acme"}).of(rule) != want {
			t.Errorf("access.acme, %s: not %v", rule, want)
		}
	}
	if !(Cause{Kind: "setting", Name: "rules.enforcement.acme.go"}).of("acme.go") || (Cause{Kind: "rule", Name: "acme"}).of("acme.go") {
		t.Error("a setting is about the rule that it names, a rule only about itself")
	}
}
