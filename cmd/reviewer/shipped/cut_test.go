package shipped

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// A case that is cut out of the records of another is reproduced, unless
// something that it needs was not recorded: then that is said. Every 21st case is
// cut, each seventh with REVIEWER_EVERY=1 (`make fidelity`), which is enough.
func TestCutCases(t *testing.T) {
	runner, list := shippedCases(t)
	same, other := 0, 0
	count := sweep.Count(t, "cases cut out of records")
	for i, c := range list {
		tellsMore := slices.ContainsFunc(c.Events, func(e cases.Event) bool { return e.Allow+e.Stop+e.Resume != "" })
		if i%7 != 0 || !sweep.Has(i/7, 3) || c.Todo != "" || tellsMore || c.Settings != nil || c.Layers != nil {
			continue // the records of a trial hold no choices
		}
		result, err := runner.Run(context.Background(), c)
		if err != nil || len(result.Seen) == 0 || len(result.Failures) > 0 {
			continue // TestCases says so
		}
		last := result.Seen[len(result.Seen)-1].Record
		if last.Decision == nil {
			continue
		}
		count.Add(1)
		x, err := cases.Cut(c.Name, c.Home, result.Chain, last.N)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		text, err := cases.Write(nil, x.Case)
		if err != nil {
			t.Fatal(err)
		}
		again, err := cases.Parse("cut.yaml", text)
		if err != nil {
			t.Errorf("%s: %v\n%s", c.Name, err, text)
			continue
		}
		result, err = runner.Run(context.Background(), again[0])
		if err != nil {
			t.Errorf("%s: %v\n%s", c.Name, err, text)
			continue
		}
		if len(result.Failures) == 0 {
			same++
			continue
		}
		if slices.ContainsFunc(x.Lost, func(what string) bool { return strings.HasPrefix(what, "the texts passed to ") }) {
			continue // what is written is not recorded, and such cases are about it
		}
		other++
		if len(x.Lost) == 0 {
			t.Errorf("%s: comes out otherwise, and nothing was lost:\n%s\n%s", c.Name, result.Failures[0], text)
		}
	}
	if same < 15*other || same < sweep.Some(7, 20) {
		t.Errorf("%d cases are reproduced, %d are not", same, other)
	}
}
