// Package harnesstest contains helpers for the tests of packages that read agents' events.
//
// Out of scope: anything that is not a test.
package harnesstest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// Update is set by -update.
var Update = flag.Bool("update", false, "write the golden files again")

// WantGolden compares a string with a file.
func WantGolden(t *testing.T, path, got string) {
	t.Helper()
	if *Update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got); -update writes it again:\n%s", path, d)
	}
}

// Describe writes an event as the golden files show it.
func Describe(e engine.Event) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	line("event", e.Name+" ("+string(e.Phase)+")")
	line("session", e.Session)
	line("agent", e.Agent)
	line("call", e.Call)
	line("tool", e.Tool)
	line("args", compact(e.Args))
	line("cwd", e.CWD)
	line("project", e.Project)
	line("mode", e.Mode)
	line("prompt_id", e.PromptID)
	line("prompt", e.Prompt)
	if e.Time != 0 {
		line("time", fmt.Sprint(e.Time))
	}
	if r := e.Result; r != nil {
		line("result", fmt.Sprintf("failed=%t interrupted=%t refused=%t ms=%d", r.Failed, r.Interrupted, r.Refused, r.DurationMS))
		line("error", fmt.Sprintf("%q", r.Error))
		line("output", compact(r.Output))
	}
	return b.String()
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) > 0 && json.Compact(&b, raw) != nil {
		return "not JSON: " + string(raw)
	}
	return b.String()
}
