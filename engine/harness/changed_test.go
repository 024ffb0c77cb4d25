package harness

import (
	"encoding/json"
	"slices"
	"testing"
)

// The form is the one that Claude Code 2.1.330 was seen to send: each path is in both lists.
func TestChangedFiles(t *testing.T) {
	for response, want := range map[string][]string{
		`{"stdout":"","bashEditDiff":{"files":[{"filePath":"/p/mark","hunks":[],"created":true},{"filePath":"/p/old","deleted":true}],` +
			`"moreFiles":0,"changedFiles":["/p/mark","/p/old"]}}`: {"/p/mark", "/p/old"},
		`{"bashEditDiff":{"files":[],"moreFiles":0,"unavailable":true}}`: nil,
		`{"bashEditDiff":{"files":["/p/a"],"changedFiles":["/p/b"]}}`:    {"/p/b", "/p/a"},
		`{"stdout":"x"}`: nil,
		`"x"`:            nil,
	} {
		if got := changedFiles(json.RawMessage(response)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", response, got, want)
		}
	}
}
