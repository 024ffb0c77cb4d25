package cel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

// pick returns up to three words of a list, often none.
func pick(r *rand.Rand, words ...string) []string {
	var list []string
	for range max(0, r.IntN(5)-1) {
		list = append(list, words[r.IntN(len(words))])
	}
	return list
}

// The index hides no match: it gives the same result as evaluating every condition,
// for lists that are empty, full, and combined.
func TestIndexHidesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tools := []string{"Bash", "Write", "mcp__a__b", "mcp__a__c", "mcp__*", "B*"}
	types, signals := []string{"file_read", "file_deletion", "unknown"}, []string{"disk_write", "git_force_push", "dry_run"}
	commands, phases := []string{"git", "rm", "curl"}, []string{"pre", "post", "stop"}
	actions := []string{"code.exec", "code.*", "co*", "mcp.a.b", "mcp.a.*", "filesystem.write", "*"}
	names := []string{"code.exec", "mcp.a.b", "mcp.a.c", "filesystem.write", ""}
	detected := []string{"text.hidden", "code.miner", "text"}
	holding := 0
	for range 300 {
		var conditions []Condition
		for i := range 20 {
			m := Match{Phases: pick(r, phases...), Tools: pick(r, tools...), Types: pick(r, types...), Signals: pick(r, signals...), Commands: pick(r, commands...), Actions: pick(r, actions...), Detected: pick(r, detected...)}
			if !m.empty() {
				conditions = append(conditions, Condition{ID: fmt.Sprintf("c%02d", i), Match: m})
			}
		}
		h := host(t, conditions...)
		for range 10 {
			in := &engine.Input{Phase: engine.Phase(phases[r.IntN(3)])}
			in.Event.Tool, in.Action.Name = tools[r.IntN(4)], names[r.IntN(len(names))]
			for _, w := range pick(r, types...) {
				in.Action.Types = append(in.Action.Types, engine.Type(w))
			}
			for _, w := range pick(r, detected...) {
				in.Action.Detected = map[string]int64{w: 1}
			}
			for _, w := range pick(r, signals...) {
				in.Action.Signals = append(in.Action.Signals, engine.Signal(w))
			}
			for _, w := range pick(r, commands...) {
				in.Action.Commands = append(in.Action.Commands, engine.Command{Name: w})
			}
			var want []engine.Finding
			for _, c := range conditions {
				if naive(c.Match, in) {
					want = append(want, engine.Finding{ID: c.ID})
				}
			}
			holding += len(want)
			if d := cmp.Diff(want, match(t, h, in)); d != "" {
				t.Fatalf("%+v\n%s", in, d)
			}
		}
	}
	if holding == 0 {
		t.Error("no condition ever held: nothing was tested")
	}
}

// naive evaluates a match list literally, as its documentation describes it.
func naive(m Match, in *engine.Input) bool {
	asks := func(list []string, has func(string) bool) bool {
		return len(list) == 0 || slices.ContainsFunc(list, has)
	}
	fits := func(word string) func(string) bool {
		return func(w string) bool {
			if w[len(w)-1] == '*' {
				return len(word) >= len(w)-1 && word[:len(w)-1] == w[:len(w)-1]
			}
			return w == word
		}
	}
	return asks(m.Phases, func(w string) bool { return w == string(in.Phase) }) &&
		asks(m.Tools, fits(in.Event.Tool)) && asks(m.Actions, fits(in.Action.Name)) &&
		asks(m.Detected, func(w string) bool { return in.Action.Detected[w] > 0 }) &&
		asks(m.Types, func(w string) bool { return slices.Contains(in.Action.Types, engine.Type(w)) }) &&
		asks(m.Signals, func(w string) bool { return slices.Contains(in.Action.Signals, engine.Signal(w)) }) &&
		asks(m.Commands, func(w string) bool {
			for _, c := range in.Action.Commands {
				if c.Name == w {
					return true
				}
			}
			return false
		})
}
