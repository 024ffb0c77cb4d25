//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Recording needs paths that name no machine and no person, and the client
// writes absolute paths: so it happens in these two folders, which must not
// exist and are removed afterwards.
var neutral = Folders{Home: "/home/kim", Project: "/srv/shop", Outside: "/srv/shop-outside"}

// Sessions of the recordings have fixed ids, so that a new recording differs
// only where the client does.
const (
	shopSession   = "7b1f6c52-3d0a-4c1e-9a55-2f0e8d6b4a10"
	eventsSession = "c04e7a19-58b2-4d6f-8e13-6a9d2b7f5c30"
)

var recordedEvents = []string{
	"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
	"PostToolBatch", "SubagentStart", "SubagentStop", "Stop", "SessionEnd",
}

// recordHook is what this test binary does when the client runs it as a hook:
// it keeps the document that it gets as one line, and denies a call whose input
// contains a line of the deny file. One write per document: hooks of parallel
// calls append to the same file.
func recordHook(in io.Reader, out io.Writer, log, deny string) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(append(bytes.TrimSpace(data), '\n')); err != nil {
		return err
	}
	var doc struct {
		Event string          `json:"hook_event_name"`
		Input json.RawMessage `json:"tool_input"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	words, err := os.ReadFile(deny)
	if err != nil || doc.Event != "PreToolUse" {
		return err
	}
	for _, word := range strings.Split(strings.TrimSpace(string(words)), "\n") {
		if bytes.Contains(doc.Input, []byte(word)) {
			_, err := fmt.Fprintf(out, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":%q}}`,
				"This call is not allowed here.")
			return err
		}
	}
	return nil
}

// TestRecord makes the recordings in testdata again. It changes files of the
// repository and needs to create folders in /home and /srv: only with RECORD=1.
func TestRecord(t *testing.T) {
	if os.Getenv("RECORD") != "1" {
		t.Skip("RECORD=1 makes the recordings again")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	hooks := filepath.Join(root, "testdata", "hooks", "claude-code")
	inputs, transcript := recordSession(t, "testdata/shop.txtar", shopSession)
	save(t, filepath.Join(hooks, "session.jsonl"), inputs)
	save(t, filepath.Join(root, "testdata", "transcripts", "claude-code-shop.jsonl"), transcript)
	more, _ := recordSession(t, "testdata/events.txtar", eventsSession)
	for name, doc := range goldens(t, append(inputs, more...)) {
		save(t, filepath.Join(hooks, name), doc)
	}
}

// recordSession runs a scenario in the neutral folders and returns the documents that
// the hooks got and the client's transcript.
func recordSession(t *testing.T, scenario, session string) (inputs, transcript []byte) {
	t.Helper()
	for _, dir := range []string{neutral.Home, neutral.Project, neutral.Outside} {
		if _, err := os.Lstat(dir); err == nil {
			t.Fatalf("%s exists: the recording needs this folder for itself", dir)
		}
		defer os.RemoveAll(dir)
	}
	s, err := LoadScenario(scenario, neutral.Places())
	if err != nil {
		t.Fatal(err)
	}
	if err := neutral.Fill(s.Files); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(neutral.Home, "hooks.jsonl")
	installRecorder(t, log)
	run, err := recordClient(t, session).Run(context.Background(), s.Prompt, s.Script)
	if err != nil {
		t.Fatal(err)
	}
	if run.Result().TerminalReason != "completed" {
		t.Fatalf("the client ended with %s\n%s", run.Result().Raw, run.Stderr)
	}
	inputs = read(t, log)
	transcript, err = Conversation(read(t, transcriptPath(t, inputs)))
	if err != nil {
		t.Fatal(err)
	}
	return inputs, transcript
}

func recordClient(t *testing.T, session string) Client {
	t.Helper()
	executable, _, err := InstallClient(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	return Client{
		Executable: executable, Home: neutral.Home, Project: neutral.Project, Limit: 3 * time.Minute,
		Args: []string{"--session-id", session, "--allowedTools", "Bash,Read,Edit,Write,NotebookEdit,WebFetch,Agent,mcp__stock__count"},
		Env:  []string{"CLAUDE_CODE_TMPDIR=" + neutral.Home + "/.cache"},
	}
}

// installRecorder copies this test binary to where the client's settings name
// it, for every event.
func installRecorder(t *testing.T, log string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hook := filepath.Join(neutral.Home, "bin", "recorder")
	deny := filepath.Join(neutral.Home, ".config", "recorder", "deny")
	if err := writeFile(hook, string(read(t, self))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	handler := map[string]any{"type": "command", "command": hook, "args": []string{"record-hook", log, deny}}
	events := map[string]any{}
	for _, event := range recordedEvents {
		events[event] = []any{map[string]any{"hooks": []any{handler}}}
	}
	settings, err := json.Marshal(map[string]any{"hooks": events, "skipWebFetchPreflight": true, "enableAllProjectMcpServers": true})
	if err != nil {
		t.Fatal(err)
	}
	if err := writeFile(filepath.Join(neutral.Home, ".claude", "settings.json"), string(settings)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func save(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := writeFile(path, string(data)); err != nil {
		t.Fatal(err)
	}
	t.Logf("wrote %s, %d bytes", filepath.Base(path), len(data))
}

func transcriptPath(t *testing.T, inputs []byte) string {
	t.Helper()
	var doc struct {
		Path string `json:"transcript_path"`
	}
	line, _, _ := bytes.Cut(inputs, []byte("\n"))
	if err := json.Unmarshal(line, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Path
}

// goldens picks the first document of each event, or of each event and tool,
// by the main agent and by one that it started.
func goldens(t *testing.T, inputs []byte) map[string][]byte {
	t.Helper()
	docs := map[string][]byte{}
	for _, line := range bytes.Split(bytes.TrimSpace(inputs), []byte("\n")) {
		var doc struct {
			Event string `json:"hook_event_name"`
			Tool  string `json:"tool_name"`
			Agent string `json:"agent_id"`
		}
		if err := json.Unmarshal(line, &doc); err != nil {
			t.Fatal(err)
		}
		name := doc.Event
		if doc.Tool != "" {
			name += "-" + doc.Tool
		}
		if doc.Agent != "" && !strings.HasPrefix(doc.Event, "Subagent") {
			name += "-subagent"
		}
		name += ".json"
		if docs[name] == nil {
			var indented bytes.Buffer
			if err := json.Indent(&indented, line, "", "  "); err != nil {
				t.Fatal(err)
			}
			docs[name] = append(indented.Bytes(), '\n')
		}
	}
	return docs
}
