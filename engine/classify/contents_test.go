package classify

import (
	"context"
	"slices"
	"strings"
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

// The first word of a known program is its subcommand if the classifier reads it so.
func TestSubcommand(t *testing.T) {
	for call, want := range map[string]bool{
		"kubectl apply": true, "git push": true, "make deploy": false, "shopctl apply": false, "kubectl ;": false,
	} {
		program, word, _ := strings.Cut(call, " ")
		if got := Subcommand(context.Background(), classifytest.Rows(), program, word); got != want {
			t.Errorf("%s: %v", call, got)
		}
	}
}
