package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/google/go-cmp/cmp"
)

func spoke(id string, tokens int) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"usage":{"input_tokens":9,"output_tokens":%d}}}`+"\n", id, tokens)
}

// Tokens are counted from event to event, each message once, whatever it is cut into.
func TestUsage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "transcript.jsonl")
	e := engine.Event{Harness: harness.ClaudeCode, Transcript: path}
	before := Usage(e, nil)
	if d := cmp.Diff(&engine.Usage{}, before); d != "" {
		t.Fatalf("no file yet: %s", d)
	}
	result := `{"type":"user","message":{"id":"m9","usage":{"output_tokens":700}}}` + "\n"
	for _, c := range []struct {
		name, add string
		want      int64
	}{
		{"one message", spoke("m1", 40), 40},
		{"two more", spoke("m2", 5) + spoke("m3", 7), 12},
		{"more of the last one", spoke("m3", 7) + spoke("m3", 30), 23},
		{"the same again", spoke("m3", 30), 0},
		{"a result that mentions usage", result, 0},
		{"no JSON", "\"usage\" \x00\n", 0},
		{"numbers below zero", spoke("m4", -5), 0},
		{"half a line", spoke("m5", 8) + spoke("m6", 100)[:20], 8},
		{"its other half", spoke("m6", 100)[20:], 100},
		{"more than is read", spoke("m7", 1000) + strings.Repeat(result, usageTail/len(result)) + spoke("m8", 6), 6},
	} {
		appendTo(t, path, c.add)
		got := Usage(e, before)
		if got == nil || got.Tokens != c.want {
			t.Fatalf("%s: got %+v, want %d tokens", c.name, got, c.want)
		}
		if skipped := c.want == 6; (got.Skipped > 0) != skipped {
			t.Errorf("%s: %d bytes were skipped", c.name, got.Skipped)
		}
		before = got
	}
	if got := Usage(e, before); got != nil {
		t.Errorf("nothing was added: got %+v", got)
	}
	if got := Usage(e, nil); got.Tokens != 0 || got.To != before.To {
		t.Errorf("a session that begins with old text: got %+v", got)
	}
	if err := os.WriteFile(path, []byte(spoke("m1", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Usage(e, before); got.Tokens != 0 || got.To >= before.To {
		t.Errorf("written again: got %+v", got)
	}
}

// A transcript of 500 MB costs no more than its end; one that cannot be read, nothing.
func TestUsageOfUnusualFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "transcript.jsonl")
	e := engine.Event{Harness: harness.ClaudeCode, Transcript: path}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 500<<20); err != nil {
		t.Skip(err)
	}
	appendTo(t, path, "\n"+spoke("m1", 3))
	got := Usage(e, &engine.Usage{To: 1 << 20})
	if got == nil || got.Tokens != 3 || got.Skipped < 498<<20 {
		t.Errorf("500 MB: got %+v", got)
	}
	for name, path := range map[string]string{"no path": "", "a folder": t.TempDir(), "gone": filepath.Join(t.TempDir(), "none")} {
		if got := Usage(engine.Event{Harness: harness.ClaudeCode, Transcript: path}, &engine.Usage{To: 5}); got != nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if got := Usage(engine.Event{Harness: harness.OpenCode, Transcript: path}, nil); got != nil {
		t.Errorf("another agent: got %+v", got)
	}
}

// Each agent counts in lines of its own form; what is written twice counts once.
func TestUsageOfAgents(t *testing.T) {
	for agent, lines := range map[string][]string{
		harness.Codex: {
			`{"type":"event_msg","payload":{"type":"token_count","info":null}}`,
			`{"type":"token_usage_record","payload":{"response_id":"r1","usage":{"output_tokens":30}}}`,
			`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"output_tokens":30,"total_tokens":90},"last_token_usage":{"output_tokens":30}}}}`,
			`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"output_tokens":30,"total_tokens":90},"last_token_usage":{"output_tokens":30}},"rate_limits":{}}}`,
			`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"output_tokens":42,"total_tokens":140},"last_token_usage":{"output_tokens":12}}}}`,
		},
		harness.Gemini: {
			`{"$set":{"lastUpdated":"x"}}`,
			`{"id":"a","type":"gemini","content":"tokens","tokens":{"input":10,"output":20,"thoughts":10}}`,
			`{"id":"a","type":"gemini","tokens":{"input":10,"output":20,"thoughts":10},"toolCalls":[]}`,
			`{"id":"b","type":"user","tokens":{"output":500}}`,
			`{"id":"c","type":"gemini","tokens":{"output":12}}`,
		},
		harness.Qwen: {
			`{"type":"system","uuid":"s","systemPayload":{"uiEvent":{"output_token_count":30}}}`,
			`{"type":"assistant","uuid":"a","usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":25,"thoughtsTokenCount":5}}`,
			`{"type":"assistant","uuid":"b","usageMetadata":{"candidatesTokenCount":12}}`,
		},
		harness.Pi: {
			`{"type":"message","id":"a","message":{"role":"assistant","usage":{"input":10,"output":30}}}`,
			`{"type":"message","id":"b","message":{"role":"toolResult","usage":{"output":70}}}`,
			`{"type":"message","id":"c","message":{"role":"assistant","usage":{"output":12}}}`,
		},
	} {
		path := filepath.Join(t.TempDir(), "transcript.jsonl")
		e := engine.Event{Harness: agent, Transcript: path}
		u, all := Usage(e, nil), int64(0)
		for _, line := range lines {
			appendTo(t, path, line+"\n")
			if next := Usage(e, u); next != nil {
				u, all = next, all+next.Tokens
			}
		}
		if all != 42 {
			t.Errorf("%s: %d tokens, want 42", agent, all)
		}
		e.Agent = "sub"
		appendTo(t, path, lines[len(lines)-1]+"\n")
		if got := Usage(e, u); got != nil {
			t.Errorf("%s: a sub-agent's event read %+v", agent, got)
		}
	}
}

// OpenCode counts itself: each event has the tokens of the session so far.
func TestUsageThatIsTold(t *testing.T) {
	var u *engine.Usage
	got := []int64{}
	for _, all := range []int64{5, 12, 12, 30, 4, 4, 0, -7} {
		if next := Usage(engine.Event{Harness: harness.OpenCode, Spoken: all}, u); next != nil {
			u, got = next, append(got, next.Tokens)
		}
	}
	if want := []int64{5, 7, 18, 4}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
