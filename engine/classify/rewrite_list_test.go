package classify

import (
	"strings"
	"testing"
)

// The only command of a list is modified like a string; of several, none.
func TestRewriteList(t *testing.T) {
	out, err := rewriteCall("run_commands", `{"a":[1.0], "commands" : [ "git push --force" ],"b":"<>"}`, drop(0, "--force"), set(0, "--force-with-lease"))
	if want := `{"a":[1.0], "commands" : ["git push --force-with-lease"],"b":"<>"}`; err != nil || out != want {
		t.Errorf("%s (%v), want %s", out, err, want)
	}
	for args, want := range map[string]string{
		`{"commands":["ls","git push --force"]}`:        "several commands; only a single one",
		`{"commands":[]}`:                               "does not contain a command",
		`{"commands":[{"command":"git push --force"}]}`: "does not contain a command",
		`{}`: "does not contain a command",
	} {
		if out, err := rewriteCall("run_commands", args, drop(0, "--force")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s becomes %s (%v), want %s", args, out, err, want)
		}
	}
}
