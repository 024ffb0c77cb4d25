package classify

import (
	"context"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Examples of the rows of built-in programs, and of their subcommands, have the result that
// they state.
func TestProgramExamples(t *testing.T) {
	set := classifytest.Rows()
	all, err := rows.All[rows.Program](set, rows.ProgramsFolder)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range all {
		seen += tryProgram(t, set, e.Place, e.Row)
	}
	if len(all) < 500 || seen < 200 {
		t.Errorf("%d rows with %d examples", len(all), seen)
	}
}

// tryProgram tries the examples of a row, and returns how many there are.
func tryProgram(t *testing.T, set *rows.Set, at rows.Place, row rows.Program) int {
	t.Helper()
	for _, ex := range row.Examples {
		if wrong, found, err := TryExample(context.Background(), set, ex); err != nil || len(wrong) > 0 {
			t.Errorf("%s: %s: %v %v, found %v", at, ex.Run, err, wrong, found)
		}
	}
	seen := len(row.Examples)
	for _, name := range row.SubcommandNames() {
		seen += tryProgram(t, set, at, row.Subcommands[name])
	}
	return seen
}
