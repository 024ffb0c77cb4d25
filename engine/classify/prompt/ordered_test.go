package prompt

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// TestAsksAgent: "can you push now?" is an order, and "can you push without a key?" is none. What questions order is never wrong.
func TestAsksAgent(t *testing.T) {
	raw, err := os.ReadFile("testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	var read share
	for line := range strings.Lines(string(raw)) {
		text, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
		if !ok {
			continue
		}
		var orders []string
		for _, s := range statementsOf(text) {
			if s.Kind == engine.Permits {
				s.Kind = engine.Orders
			}
			if s.Kind == engine.Orders || strings.HasPrefix(want, "forbids") {
				orders = append(orders, strings.Join(append([]string{string(s.Kind), s.Act}, s.Objects...), " "))
			}
		}
		slices.Sort(orders)
		if got := strings.Join(orders, ", "); want == "nothing" {
			if got != "" {
				t.Errorf("%s: %s", text, got)
			}
		} else if read.count(got == want); got != want {
			t.Logf("%s: %q, not %q", text, got, want)
		}
	}
	if t.Logf("%.0f %% of %d", read.percent(), read.all); read.percent() < 60 {
		t.Error("fewer than 60 % of the orders are read")
	}
}

// TestOrdersAsTyped measures orders in prompts that others wrote. What orders nothing is never read as an order.
func TestOrdersAsTyped(t *testing.T) {
	for file, goal := range map[string]float64{"first": 58, "second": 57, "third": 54, "fourth": 38} {
		raw, err := os.ReadFile("testdata/orders/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var ordered share
		for line := range strings.Lines(string(raw)) {
			text, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
			if !ok || strings.HasPrefix(line, "#") {
				continue
			}
			acts := map[string]bool{}
			for _, s := range statementsOf(text) {
				if s.Kind == engine.Orders || s.Kind == engine.Permits {
					acts[map[string]string{"remove_branch": "delete"}[s.Act]] = true
					acts[s.Act] = true
				}
			}
			if acts["remove_branch"] {
				delete(acts, "branch")
			}
			wanted := strings.Split(want, ", ")
			for _, act := range wanted {
				if act != "nothing" {
					ordered.count(acts[act])
				}
			}
			for _, act := range []string{"push", "commit", "merge", "pull_request", "deploy", "release", "delete", "branch", "tag", "migrate", "install"} {
				if acts[act] && !slices.Contains(wanted, act) {
					t.Errorf("%s: %s is read as ordered", text, act)
				}
			}
		}
		if t.Logf("%s: %.1f %% of %d orders are read", file, ordered.percent(), ordered.all); ordered.percent() < goal {
			t.Errorf("%s: fewer than %v %%", file, goal)
		}
	}
}
