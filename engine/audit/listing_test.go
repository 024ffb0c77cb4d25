package audit

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// Patterns and questions are counted without reading the records again.
func TestASessionCountsItsPatterns(t *testing.T) {
	s := testStore(t)
	asked := pre("a")
	asked.Answer.Effect = engine.Ask
	asked.Findings = []engine.Finding{{ID: "loop", Level: "medium"}, {ID: "a_condition"}}
	again := pre("b")
	again.Findings = []engine.Finding{{ID: "loop", Level: "high"}}
	mustAdd(t, s, named("alpha"), asked, again)
	list, err := s.Sessions()
	if err != nil || len(list) != 1 {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	if one := list[0]; one.Asked != 1 || len(one.Fired) != 1 || one.Fired["loop"] != 2 {
		t.Errorf("asked %d, fired %v", one.Asked, one.Fired)
	}
	state, err := s.State(list[0])
	if err != nil || state.N != list[0].N || state.Actions != 2 {
		t.Errorf("state of record %d, %d actions, %v", state.N, state.Actions, err)
	}
}

// BenchmarkSessions lists 2,000 sessions, each with a state as large as 200
// actions make it.
func BenchmarkSessions(b *testing.B) {
	s := testStore(b)
	g := generator{rand.New(rand.NewPCG(1, 2)), false}
	one := named("source")
	for range 300 {
		mustAdd(b, s, one, g.record())
	}
	source := s.sessionDir(one)
	for i := range 2000 {
		to := filepath.Join(filepath.Dir(source), fmt.Sprintf("%032x", i))
		if err := os.CopyFS(to, os.DirFS(source)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if list, err := (&Store{Dir: s.Dir}).Sessions(); err != nil || len(list) != 2001 {
			b.Fatal(len(list), err)
		}
	}
}
