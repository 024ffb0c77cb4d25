package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/harnesstest"
)

const shopTranscript = "../../testdata/transcripts/claude-code-shop.jsonl"

// fixtures lists the transcripts of the tests. Their names begin with the
// format's; those of Claude Code need not.
func fixtures(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return filepath.Ext(p) == ".golden" || filepath.Base(p) == "fuzz" })
	return append(paths, shopTranscript)
}

func formatOf(path string) string {
	for start, format := range map[string]string{
		"codex-": Codex, "gemini-": Gemini, "swe-": SWEAgent, "atif-": ATIF, "chat-": "claude-chat-json", "hooklog-": "claude-hook-log",
		"copilot-": "copilot-events", "pi-": "pi-jsonl", "contents-": "gemini-contents-json", "mini-": "mini-swe-agent-traj",
		"specstory-": "specstory-md", "droid-": "droid-jsonl", "qwen-": "qwen-chat", "kimi-": "kimi-wire", "cline-": "cline-messages",
		"opencode-": "opencode-export",
	} {
		if strings.HasPrefix(filepath.Base(path), start) {
			return format
		}
	}
	return harness.ClaudeCode
}

// read reads a fixture with the reader for its format, and reports whether it reached
// the end.
func read(t testing.TB, path string) (Transcript, error) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := Recognise(raw[:min(len(raw), 64<<10)])
	if !ok || r.Name != formatOf(path) {
		t.Fatalf("%s is taken for %q", path, r.Name)
	}
	return r.Read(bytes.NewReader(raw))
}

func readTranscript(t testing.TB, path string) Transcript {
	t.Helper()
	tr, err := read(t, path)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Each fixture, as it is read. The shop is a session of the real client.
func TestReadTranscript(t *testing.T) {
	for _, path := range fixtures(t) {
		base := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		t.Run(base, func(t *testing.T) {
			tr, err := read(t, path)
			shown := show(tr)
			if err != nil {
				shown += "\nerror: " + err.Error() + "\n"
			}
			if cut := strings.HasSuffix(strings.TrimSuffix(base, filepath.Ext(base)), "-cut"); cut != errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("error %v", err)
			}
			harnesstest.WantGolden(t, filepath.Join("testdata", base+".golden"), shown)
		})
	}
}

// show writes a transcript as the golden files show it.
func show(tr Transcript) string {
	var b strings.Builder
	fmt.Fprintf(&b, "session %s, version %s, %d lines\n", tr.Session, tr.Version, tr.Lines)
	if tr.Harness != harness.ClaudeCode {
		fmt.Fprintf(&b, "harness %s, local %t\n", tr.Harness, tr.LocalIDs)
	}
	for _, bad := range tr.Bad {
		fmt.Fprintf(&b, "line %d: %s\n", bad.Line, bad.Why)
	}
	for _, e := range tr.Events {
		fmt.Fprintf(&b, "\n%s", harnesstest.Describe(e))
		if tr.Unasked[e.Call] && e.Phase == engine.PhasePre {
			b.WriteString("unasked\n")
		}
	}
	return b.String()
}

// The hooks and the transcript of the same recorded session contain the same calls.
func TestTranscriptAgreesWithHooks(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/hooks/claude-code/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	tr := readTranscript(t, shopTranscript)
	if len(tr.Bad) > 0 {
		t.Errorf("lines of the real client that were not understood: %v", tr.Bad)
	}
	asked := map[string]engine.Event{}
	for _, line := range bytes.Split(bytes.TrimSpace(raw), []byte("\n")) {
		if e, err := harness.DecodeClaudeCode("", line, ""); err == nil && e.Session == tr.Session {
			asked[e.Call+string(e.Phase)] = e
		}
	}
	for _, e := range tr.Events {
		hook, ok := asked[e.Call+string(e.Phase)]
		switch {
		case e.Phase == engine.PhasePost && e.Result.Refused:
			if ok {
				t.Errorf("call %s is refused in the transcript and has a result in the hooks", e.Call)
			}
		case !ok:
			t.Errorf("%s of call %s is in the transcript only", e.Phase, e.Call)
		case e.Phase == engine.PhasePre && canonical(t, e.Args) != canonical(t, hook.Args):
			t.Errorf("call %s: transcript has %s, hook %s", e.Call, e.Args, hook.Args)
		case e.CWD != hook.CWD || e.Mode != hook.Mode || e.PromptID != hook.PromptID || e.Prompt != hook.Prompt || e.Tool != hook.Tool:
			t.Errorf("call %s: transcript\n%s\nhook\n%s", e.Call, harnesstest.Describe(e), harnesstest.Describe(hook))
		case e.Phase == engine.PhasePost && (e.Name != hook.Name || e.Result.Error != hook.Result.Error):
			t.Errorf("call %s: transcript\n%s\nhook\n%s", e.Call, harnesstest.Describe(e), harnesstest.Describe(hook))
		}
	}
}

// canonical leaves out the order of keys: the hook has the tool's, the
// transcript the model's.
func canonical(t *testing.T, raw []byte) string {
	t.Helper()
	b, err := engine.Canonical(raw)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestMerge(t *testing.T) {
	main, sub := readTranscript(t, "testdata/newer.jsonl"), readTranscript(t, "testdata/subagent.jsonl")
	other := readTranscript(t, "testdata/older.jsonl")
	merged := Merge([]Transcript{main, other, sub, sub})
	if len(merged) != 2 || merged[0].Session != "s-new" || merged[1].Session != "s-old" {
		t.Fatalf("merged to %d sessions, want s-new and s-old", len(merged))
	}
	var order []string
	for _, e := range merged[0].Events[:5] {
		order = append(order, e.Call+"/"+e.Agent)
	}
	if got := strings.Join(order, " "); got != "/ t1/ t20/a739 t20/a739 t1/" {
		t.Errorf("first events are %s", got)
	}
	if got, want := len(merged[0].Events), len(main.Events)+len(sub.Events); got != want {
		t.Errorf("%d events, want %d", got, want)
	}
	if !merged[1].Unasked["t5"] {
		t.Error("the other session lost its unasked call")
	}
}

func TestReadTranscriptLongLine(t *testing.T) {
	line := func(id, text string) string {
		return `{"type":"assistant","sessionId":"s1","message":{"content":[{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"` + text + `"}}]}}` + "\n"
	}
	long := strings.Repeat("x", 5<<20)
	tr, err := ReadClaudeCode(strings.NewReader(line("t1", long) + line("t2", "ls")))
	if err != nil || len(tr.Events) != 2 || len(tr.Bad) != 0 {
		t.Fatalf("%d events, bad %v, error %v; want 2 events", len(tr.Events), tr.Bad, err)
	}
	if got := len(tr.Events[0].Args); got < 5<<20 {
		t.Errorf("the long call's input has %d bytes", got)
	}
}

// An endless line is left out and reported; later lines are read.
func TestEachLineEndless(t *testing.T) {
	var got []string
	long := strings.Repeat("x", 200<<10)
	err := eachLine(strings.NewReader("a\n\n"+long+"\n b \r\n"+long), 100<<10, func(n int, line []byte) {
		got = append(got, fmt.Sprintf("%d %s", n, line))
	})
	if want := "1 a|3 |4 b|5 "; err != nil || strings.Join(got, "|") != want {
		t.Errorf("lines %q, error %v; want %q", strings.Join(got, "|"), err, want)
	}
}

func TestReadTranscriptFailingReader(t *testing.T) {
	broken := errors.New("disk is gone")
	tr, err := ReadClaudeCode(io.MultiReader(strings.NewReader("{}\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || tr.Lines != 1 {
		t.Errorf("error %v after %d lines, want the reader's after 1", err, tr.Lines)
	}
}

// Exactly one reader recognises the beginning of a file.
func TestRecognise(t *testing.T) {
	for _, path := range fixtures(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{len(raw), min(len(raw), 700)} {
			for _, r := range Readers() {
				if got, want := r.Is(raw[:n]), r.Name == formatOf(path); got != want {
					t.Errorf("%s: is %s by its first %d bytes: %t", path, r.Name, n, got)
				}
			}
		}
	}
	for _, other := range []string{
		"", "\n\n", "plain text\n", `{"type":"user"}`, `[{"type":"user","sessionId":"s1"}]`, "\x00\x01", `{"messages":[]}`,
		`{"v":1,"prev":"00","n":1,"kind":"open","session":"s1"}`,
		`{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash"}`,
		`{"timestamp":"2026-01-01T00:00:00Z","type":"audit","payload":{}}`,
		`{"schema_version":"2","steps":[{"text":"ATIF-v1.4"}]}`,
		`{"trajectory":[[0,1],[2,3]]}`,
	} {
		if r, ok := Recognise([]byte(other)); ok {
			t.Errorf("taken for %s: %q", r.Name, other)
		}
	}
}

// A client writes a result as soon as it has it, also between the calls of one
// message. The agent had seen none of them when it chose these calls.
func TestCallsOfOneMessage(t *testing.T) {
	call := func(message, id string) string {
		return fmt.Sprintf(`{"type":"assistant","sessionId":"s","message":{"id":%q,"role":"assistant","content":[`+
			`{"type":"tool_use","id":%q,"name":"Read","input":{"file_path":"/srv/shop/%s"}}]}}`, message, id, id)
	}
	result := func(id string) string {
		return fmt.Sprintf(`{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"x"}]}}`, id)
	}
	for name, test := range map[string]struct {
		lines []string
		want  []string
	}{
		"one after the other": {[]string{call("m", "a"), result("a"), call("n", "b"), result("b")}, []string{"pre a", "post a", "pre b", "post b"}},
		"together":            {[]string{call("m", "a"), result("a"), call("m", "b"), result("b")}, []string{"pre a", "pre b", "post a", "post b"}},
		"three, and another": {
			[]string{call("m", "a"), result("a"), call("m", "b"), result("b"), call("m", "c"), result("c"), call("n", "d"), result("d")},
			[]string{"pre a", "pre b", "pre c", "post a", "post b", "post c", "pre d", "post d"},
		},
		"a message without an id": {[]string{call("", "a"), result("a"), call("", "b")}, []string{"pre a", "post a", "pre b"}},
	} {
		tr, err := ReadClaudeCode(strings.NewReader(strings.Join(test.lines, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range tr.Events {
			got = append(got, string(e.Phase)+" "+e.Call)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
