package stats

import (
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// A call counts for the strictest rules that are enforced; a question with its answer, a denial as overruled once.
func TestCosts(t *testing.T) {
	decided := func(r *engine.Record, rules ...engine.RuleResult) *engine.Record {
		r.Decision = &engine.Decision{Decision: r.Answer.Effect, Enforced: r.Answer.Effect, Rules: rules}
		return r
	}
	is := func(id string, v engine.Verdict) engine.RuleResult { return engine.RuleResult{ID: id, Decision: v} }
	watched := engine.RuleResult{ID: "watched", Decision: engine.Block, Enforcement: "observe"}
	allow := func(of string) *engine.Record {
		return &engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlAllowOnce, Record: of}}
	}
	id := func(n int64) string { return (&engine.Record{Chain: "0123456789abcdef", N: n}).ID() }
	answered := func(r *engine.Record, list ...engine.Approval) *engine.Record {
		r.Answer.Approvals = list
		return r
	}

	c, err := NewCollector(0, ByRule, soon)
	if err != nil {
		t.Fatal(err)
	}
	asked(c,
		decided(pre("a", engine.Ask), is("one", engine.Ask), is("two", engine.Ask), is("mild", engine.Warn), watched),
		answered(post("a", engine.OutcomeRan), engine.Approval{Of: id(1), Approved: true}), // it took 1 s, of which the call took 0.4
		decided(pre("b", engine.Ask), is("one", engine.Ask)),
		answered(pre("c", engine.Allow), engine.Approval{Of: id(3)}),
		decided(pre("d", engine.Block), is("one", engine.Ask), is("three", engine.Block)),
		allow(id(5)), allow(id(5)),
		decided(pre("e", engine.Block)),
		decided(pre("f", engine.Ask), is("two", engine.Ask)),
	)
	got := c.Document().Costs
	want := []Cost{
		{Rule: "one", Asked: 2, Approved: 1, Refused: 1, WaitedS: 0.6},
		{Rule: "two", Asked: 2, Approved: 1, Open: 1, WaitedS: 0.6},
		{Rule: byScores, Blocked: 1},
		{Rule: "three", Blocked: 1, Overruled: 1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if c, _ := NewCollector(0, ByTool, soon); c.Document().Costs != nil {
		t.Error("costs are counted where the groups are not rules")
	}
}
