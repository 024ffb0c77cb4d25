package docs

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/mutant"
)

var updateMutation = flag.Bool("update-mutation", false, "write the table of docs/mutation.md again")

// The document lists what is done, and nothing else.
func TestMutationDoc(t *testing.T) {
	const file = "mutation.md"
	var rows strings.Builder
	for _, o := range mutant.Operators() {
		fmt.Fprintf(&rows, "| %s | `%s` | %s | `%s` | `%s` |\n", o.In, o.Name, cell(o.Does), cell(o.Before), cell(o.After))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)(\|---\|---\|---\|---\|---\|\n).*?(\n## )`)
	want := table.ReplaceAllString(string(text), "${1}"+strings.ReplaceAll(rows.String(), "$", "$$")+"${2}")
	if want == string(text) {
		return
	}
	if *updateMutation {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("docs/mutation.md does not list what is done: run go test ./docs -run TestMutationDoc -update-mutation")
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
