package cel

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agent-reviewer/reviewer/engine"
)

func TestAnswers(t *testing.T) {
	in := &engine.Input{Phase: engine.PhasePre, Action: engine.Action{
		Commands: []engine.Command{{Name: "kubectl", Operands: []string{"pods"}}, {Name: "git", Operands: []string{"main"}}},
		Types:    []engine.Type{engine.TypeFileRead}, Signals: []engine.Signal{}, Effects: []engine.Effect{},
	}}
	in.History.Similar.Failed = 2
	one := func(text string, line, col int, holds bool, values ...Value) Question {
		return Question{Text: text, Line: line, Column: col, Holds: holds, Values: values}
	}
	for name, test := range map[string]struct {
		c       Condition
		want    Answer
		missing int
	}{
		"one of two is false": {
			Condition{When: `history.similar.failed > 1 && session.actions == 3`},
			Answer{Parts: []Question{
				one("history.similar.failed > 1", 1, 1, true, Value{"history.similar.failed", "2"}),
				one("session.actions == 3", 1, 31, false, Value{"session.actions", "0"}),
			}}, 1,
		},
		"a false one first hides nothing": {
			Condition{When: "session.stopped\n  && phase == \"pre\""},
			Answer{Parts: []Question{
				one("session.stopped", 1, 1, false), one(`phase == "pre"`, 2, 6, true, Value{"phase", `"pre"`}),
			}}, 1,
		},
		"a list keeps it out": {
			Condition{When: "true", Match: Match{Phases: []string{"post"}, Commands: []string{"git"}}},
			Answer{Match: []UnmetList{{"phases", []string{"post"}, []string{"pre"}}}, Parts: []Question{one("true", 1, 1, true)}}, 1,
		},
		"a measure below its threshold": {
			Condition{Measure: "history.similar.failed", Threshold: 3},
			Answer{Measure: number64(2), Threshold: 3}, 1,
		},
		"it holds": {Condition{When: "phase == \"pre\""}, Answer{Holds: true, Parts: []Question{one(`phase == "pre"`, 1, 1, true, Value{"phase", `"pre"`})}}, 0},
	} {
		test.c.ID, test.want.ID = "x", "x"
		host, err := Compile([]Condition{test.c})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := host.Answers(in)
		if diff := cmp.Diff([]Answer{test.want}, got, cmpopts.IgnoreUnexported(Answer{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if n := got[0].Missing(); n != test.missing {
			t.Errorf("%s: %d missing, want %d", name, n, test.missing)
		}
	}
}

func number64(f float64) *float64 { return &f }

// Inside a macro each question reports whether it was true of any item.
func TestAnswersInside(t *testing.T) {
	in := &engine.Input{Phase: engine.PhasePre, Action: engine.Action{
		Commands: []engine.Command{{Name: "kubectl"}, {Name: "git", Operands: []string{"main"}}},
	}}
	host, err := Compile([]Condition{{ID: "x", When: `action.commands.exists(c, c.name == "kubectl" && "main" in c.operands)`}})
	if err != nil {
		t.Fatal(err)
	}
	part := host.Answers(in)[0].Parts[0]
	got := map[string]bool{}
	for _, q := range part.Within {
		got[q.Text] = q.Holds
	}
	want := map[string]bool{`c.name == "kubectl"`: true, `"main" in c.operands`: true}
	if part.Holds || !cmp.Equal(got, want) {
		t.Errorf("holds %v, within %v", part.Holds, got)
	}
	in.Action.Commands = in.Action.Commands[:1]
	for _, q := range host.Answers(in)[0].Parts[0].Within {
		if want := q.Text == `c.name == "kubectl"`; q.Holds != want {
			t.Errorf("%s: %v", q.Text, q.Holds)
		}
	}
}
