package simulatecmd

import (
	"encoding/json"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// A report is the same each time, however many sessions are read at once.
func TestSameReport(t *testing.T) {
	dir := sessionsIn(t, "0000aaaa", "0000bbbb", "0000cccc", "0000dddd", "0000eeee")
	report := func() string {
		_, r := prepared(t, t.Context(), dir)
		r.parallel = 4
		r.comparison.Baseline = simulate.Side{Named: simulate.Named{Name: active.RefRecorded, Recorded: true, Rules: []string{}, Patterns: []string{}}}
		r.sums = r.comparison.Empty()
		if err := r.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.addExamples(t.Context())
		raw, err := json.Marshal(r.sums[0])
		if err != nil {
			t.Fatal(err)
		}
		if len(r.sums[0].Kinds) == 0 {
			t.Fatal("no decision differs")
		}
		return string(raw)
	}
	if first, second := report(), report(); first != second {
		t.Errorf("two runs differ:\n%s\n%s", first, second)
	}
}
