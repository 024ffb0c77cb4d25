package classify

import (
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

func TestPlaces(t *testing.T) {
	argument, content := []engine.Place{engine.PlaceArguments}, []engine.Place{engine.PlaceContents}
	for _, test := range []struct {
		tool, argument string
		want           []engine.Place
	}{
		{"Write", "content", content}, {"Write", "file_path", argument}, {"Write", "unheard", argument},
		{"Edit", "new_string", content}, {"Edit", "old_string", nil}, {"Edit", "file_path", argument},
		{"MultiEdit", "new_string", content}, {"MultiEdit", "old_string", nil},
		{"NotebookEdit", "new_source", content}, {"Bash", "command", argument}, {"Agent", "prompt", content},
		{"Workflow", "script", content}, {"Artifact", "content", content},
		{"mcp__files__write", "old_string", append(argument, content...)}, {"Unheard", "a", append(argument, content...)},
	} {
		if got := Places(classifytest.Rows())(test.tool, test.argument); !slices.Equal(got, test.want) {
			t.Errorf("%s of %s: %q, want %q", test.argument, test.tool, got, test.want)
		}
	}
}
