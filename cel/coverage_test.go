package cel

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agent-reviewer/reviewer/engine"
)

// Every question that the author wrote is a branch, at its place, and no part of a
// macro's expansion is; results inside a loop count each time.
func TestBranches(t *testing.T) {
	h := host(t,
		Condition{ID: "a", When: "action.commands.exists(c, c.name == \"git\" &&\n  (\"-x\" in c.flags || !c.flags.exists(f, f.startsWith(\"--f\"))))"},
		Condition{ID: "b", Measure: `session.actions > 3 ? 1 : (has(event.args.command) ? 2 : 3)`},
		Condition{ID: "c", Match: Match{Tools: []string{"Write"}}, When: `phase == "pre" || true`})
	h.Cover(NewCoverage())
	match(t, h, sample())
	want := []Branch{
		{"a", "when", 1, 1, `action.commands.exists(c, c.name == "git" && ("-x" in c.flags || !c.flags.exists(f, f.startsWith("--f"))))`, false, true},
		{"a", "when", 1, 27, `c.name == "git" && ("-x" in c.flags || !c.flags.exists(f, f.startsWith("--f")))`, false, true},
		{"a", "when", 1, 27, `c.name == "git"`, true, true},
		{"a", "when", 2, 4, `"-x" in c.flags || !c.flags.exists(f, f.startsWith("--f"))`, false, true},
		{"a", "when", 2, 4, `"-x" in c.flags`, false, true},
		{"a", "when", 2, 24, `c.flags.exists(f, f.startsWith("--f"))`, true, false},
		{"a", "when", 2, 42, `f.startsWith("--f")`, true, false},
		{"b", "measure", 1, 1, `session.actions > 3`, true, false},
		{"b", "measure", 1, 28, `has(event.args.command)`, false, false},
		{"c", "when", 1, 1, `phase == "pre" || true`, false, false},
		{"c", "when", 1, 1, `phase == "pre"`, false, false},
	}
	if diff := cmp.Diff(h.Branches(), want); diff != "" {
		t.Error(diff)
	}
}

// Observing does not change findings, and several hosts share their coverage.
func TestCoverChangesNothing(t *testing.T) {
	conditions := []Condition{
		{ID: "holds", When: `action.commands.exists(c, c.name.matches("^g.t$"))`},
		{ID: "fails", When: `history.windows["none"].events > 1`},
		{ID: "counts", Measure: "size(action.commands)", Levels: []Level{{At: 2, Level: "low"}}},
	}
	plain := match(t, host(t, conditions...), sample())
	shared := NewCoverage()
	first, second := host(t, conditions...), host(t, conditions...)
	first.Cover(shared)
	second.Cover(shared)
	got := match(t, first, sample())
	if diff := cmp.Diff(got, plain, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	in := sample()
	in.Action.Commands = []engine.Command{{Name: "ls"}}
	match(t, second, in)
	for _, b := range first.Branches() {
		if b.ID == "holds" && !(b.True && b.False) {
			t.Errorf("%s: true %t, false %t; want both, of two hosts", b.Text, b.True, b.False)
		}
	}
	if host(t, conditions...).Branches() != nil {
		t.Error("a host that is not covered has branches")
	}
}
