package prompt

import (
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// outwardActs are the acts that others see, and a command that the person typed.
var outwardActs = []string{"tell", "type", "merge", "deploy", "release", "push", "pull_request"}

// TestOutwardNone: what people write about comments, issues, merges and commands otherwise orders none of them.
func TestOutwardNone(t *testing.T) {
	for _, p := range slices.Concat(phrasings(t, "outward_none.txt"), phrasings(t, "outward_apart.txt")) {
		if p.act != "none" {
			continue
		}
		for _, s := range statementsOf(p.text) {
			if s.Kind != engine.Forbids && slices.Contains(outwardActs, s.Act) {
				t.Errorf("%s: %s", p.text, renderStatements([]engine.Statement{s}))
			}
		}
	}
}

// TestOutwardOrders: orders to write what others see, to merge, to deploy, and to run a command that the person typed. A third was kept
// apart, and the orders of outward_apart.txt were written before the words were.
func TestOutwardOrders(t *testing.T) {
	var tuned, held share
	for _, p := range slices.Concat(phrasings(t, "outward.txt"), phrasings(t, "outward_apart.txt")) {
		if p.act != "orders" {
			continue
		}
		ok := slices.ContainsFunc(statementsOf(p.text), func(s engine.Statement) bool {
			return s.Kind == engine.Orders && s.Act == p.want
		})
		if p.held {
			held.count(ok)
		} else {
			tuned.count(ok)
		}
		if !ok {
			t.Logf("%s: not read as %s", p.text, p.want)
		}
	}
	t.Logf("%d of %d orders are read; kept apart: %d of %d", tuned.right, tuned.all, held.right, held.all)
	if tuned.percent() < 95 || held.percent() < 80 {
		t.Error("orders are not read")
	}
}
