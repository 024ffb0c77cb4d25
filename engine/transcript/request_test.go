package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// The words come from the end of the transcript, and only from a person.
func TestRequest(t *testing.T) {
	const first = `{"type":"user","uuid":"u1","message":{"role":"user","content":"Start the shop."}}`
	const second = `{"type":"user","uuid":"u2","message":{"role":"user","content":"Then test the cart."}}`
	const result = `{"type":"user","uuid":"u3","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}}`
	long := `{"type":"assistant","message":{"content":[{"type":"text","text":"` + strings.Repeat("x", 1<<20) + `"}]}}`
	for _, c := range []struct{ name, text, want, failure string }{
		{"one prompt", first + "\n", "Start the shop.", ""},
		{"the latest of two", first + "\n" + second + "\n" + result + "\n", "Then test the cart.", ""},
		{"the last line is cut off", first + "\n" + second[:40], "Start the shop.", ""},
		{"after much text", first + "\n" + strings.Repeat(long+"\n", 6) + second + "\n", "Then test the cart.", ""},
		{"too far back", first + "\n" + strings.Repeat(long+"\n", 6), "", "has no prompt"},
		{"only results", result + "\n", "", "has no prompt"},
		{"empty", "", "", "has no prompt"},
		{"no JSON", "\x00\x01\n{\n", "", "has no prompt"},
	} {
		path := filepath.Join(t.TempDir(), "transcript.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Request(engine.Event{Harness: harness.ClaudeCode, Transcript: path})
		if got != c.want || (err == nil) != (c.failure == "") || err != nil && !strings.Contains(err.Error(), c.failure) {
			t.Errorf("%s: got %q, %v; want %q, %s", c.name, got, err, c.want, c.failure)
		}
	}
	for name, path := range map[string]string{"no path": "", "no file": filepath.Join(t.TempDir(), "none"), "a folder": t.TempDir()} {
		if got, err := Request(engine.Event{Harness: harness.ClaudeCode, Transcript: path}); got != "" || err == nil {
			t.Errorf("%s: got %q, %v; want an error", name, got, err)
		}
	}
}
