package tasks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A block goes from a line of marks to one with at least as many, or to the end.
func TestDocumentBlocks(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"a block":            {"# Run\n\n```sh\nmake a\n```\ntext\n", []string{"make a\n"}},
		"not closed":         {"```sh\nmake a\n", []string{"make a\n"}},
		"marks in a line":    {"```one```\n\n```sh\nmake a\n```\n", []string{"make a\n"}},
		"a block in a block": {"````sh\n```sh\nmake a\n```\n````\n", []string{"```sh\nmake a\n```\n"}},
		"a longer end":       {"```sh\nmake a\n`````\n```sh\nmake b\n```\n", []string{"make a\n", "make b\n"}},
		"marks with a word":  {"```sh\n```sh\nmake a\n```\n", []string{"```sh\nmake a\n"}},
		"tildes":             {"~~~ {.bash}\nmake a\n~~~\n", []string{"make a\n"}},
		"a session":          {"```console\n$ make a\nok\n```\n", []string{"make a"}},
		"no program":         {"```mermaid\na --> b\n```\n", nil},
		"none":               {"make a\n", nil},
	} {
		if d := cmp.Diff(test.want, documentBlocks(test.text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
