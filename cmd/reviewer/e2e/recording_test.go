package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const recordings = "../../../testdata"

// A recording must not tell where and by whom it was made.
func TestRecordingsNameNoMachine(t *testing.T) {
	private := regexp.MustCompile(`/tmp/|/Users/|/home/[^k]|sk-ant|api_key|system-reminder`)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range recorded(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if found := private.Find(data); found != nil {
			t.Errorf("%s holds %q", filepath.Base(path), found)
		}
		if len(host) > 3 && bytes.Contains(data, []byte(host)) {
			t.Errorf("%s holds this machine's name", filepath.Base(path))
		}
	}
}

func recorded(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"hooks/claude-code/*.json", "hooks/claude-code/*.jsonl", "transcripts/claude-code-*.jsonl"} {
		paths, err := filepath.Glob(filepath.Join(recordings, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no recording matches %s (%v)", pattern, err)
		}
		all = append(all, paths...)
	}
	return all
}

// A golden's file name begins with the event that it holds.
func TestGoldenNames(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(recordings, "hooks/claude-code/*.json"))
	if err != nil || len(paths) < 20 {
		t.Fatalf("found %d goldens (%v)", len(paths), err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var doc hookDocument
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		want := strings.TrimSuffix(doc.Event+"-"+doc.Tool, "-")
		if got := strings.TrimSuffix(filepath.Base(path), ".json"); strings.TrimSuffix(got, "-subagent") != want {
			t.Errorf("%s holds %s", got, want)
		}
	}
}

type hookDocument struct {
	Event string `json:"hook_event_name"`
	Tool  string `json:"tool_name"`
	Call  string `json:"tool_use_id"`
}

// The hook inputs and the transcript are of one session: a call is in both.
func TestSessionMatchesTranscript(t *testing.T) {
	var asked, reviewed []string
	lines(t, "transcripts/claude-code-shop.jsonl", func(line []byte) {
		var l struct {
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks(l.Message.Content) {
			if b.Type == "tool_use" {
				asked = append(asked, b.ID)
			}
		}
	})
	lines(t, "hooks/claude-code/session.jsonl", func(line []byte) {
		var doc hookDocument
		if err := json.Unmarshal(line, &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Event == "PreToolUse" {
			reviewed = append(reviewed, doc.Call)
		}
	})
	if len(asked) < 12 {
		t.Errorf("the transcript has %d calls, want at least 12", len(asked))
	}
	slices.Sort(asked)
	slices.Sort(reviewed) // hooks of parallel calls come in any order
	if diff := cmp.Diff(asked, reviewed); diff != "" {
		t.Errorf("calls of the transcript and of the hooks (-transcript +hooks):\n%s", diff)
	}
}

func lines(t *testing.T, name string, do func([]byte)) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(recordings, name))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		do(line)
	}
}
