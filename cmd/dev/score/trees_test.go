package main

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// Working trees count if git listed them with the folder in which the session began.
func TestTrees(t *testing.T) {
	const porcelain = "worktree /srv/shop\nHEAD 1f64c883dd8369ff6ef9ceb1afad4cb0b2df6300\n\nworktree /srv/my trees/fix\nHEAD a\n"
	const plain = "/srv/shop      1f64c88 [main]\n/srv/shop-fix  dae788e [fix]\n"
	for name, test := range map[string]struct {
		command string
		output  any
		want    []string
	}{
		"porcelain":              {"git worktree list --porcelain", porcelain, []string{"/srv/my trees/fix", "/srv/shop"}},
		"plain, in an object":    {"git worktree list", map[string]any{"stdout": plain}, []string{"/srv/shop", "/srv/shop-fix"}},
		"parts":                  {"git worktree list", []any{map[string]any{"text": plain}}, []string{"/srv/shop", "/srv/shop-fix"}},
		"of another repository":  {"git worktree list", "/srv/till  1f64c88 [main]\n/srv/till-fix  dae788e [fix]\n", nil},
		"said by another call":   {"cat notes.txt", plain, nil},
		"no output":              {"git worktree list", nil, nil},
		"not in the form of git": {"git worktree list", "/srv/shop\n/srv/shop-fix\n", nil},
	} {
		args, _ := json.Marshal(map[string]any{"command": test.command})
		output, _ := json.Marshal(test.output)
		recorded := transcript.Transcript{Events: []engine.Event{
			{Phase: engine.PhasePre, Call: "a", Tool: "Bash", Args: args, CWD: "/srv/shop"},
			{Phase: engine.PhasePost, Call: "a", Tool: "Bash", Args: args, CWD: "/srv/shop", Result: &engine.Result{Output: output}},
		}}
		if got := trees(recorded, "/srv/shop"); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
