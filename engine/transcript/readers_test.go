package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// holds checks the invariants of a transcript: each call occurs once, and each result
// once, after its call.
func holds(t testing.TB, tr Transcript) {
	t.Helper()
	seen := map[string]int{}
	for _, e := range tr.Events {
		switch e.Phase {
		case engine.PhasePre:
			if seen[e.Call]++; seen[e.Call] != 1 {
				t.Errorf("call %q is read twice", e.Call)
			}
			if e.Call == "" || e.Tool == "" || !json.Valid(e.Args) || e.Args[0] != '{' {
				t.Errorf("call %q of the tool %q with the arguments %q", e.Call, e.Tool, e.Args)
			}
		case engine.PhasePost:
			if seen[e.Call] += 10; seen[e.Call] != 11 {
				t.Errorf("result of %q without its call, or twice", e.Call)
			}
			if e.Result == nil || e.Result.Output != nil && !json.Valid(e.Result.Output) {
				t.Errorf("result of %q: %+v", e.Call, e.Result)
			}
		}
		if e.Harness == "" {
			t.Errorf("event of no agent: %+v", e)
		}
	}
	for id := range tr.Unasked {
		if seen[id] == 0 {
			t.Errorf("%q is unasked and no call", id)
		}
	}
}

func TestTranscriptsHold(t *testing.T) {
	for _, path := range fixtures(t) {
		t.Run(path, func(t *testing.T) {
			tr, _ := read(t, path)
			holds(t, tr)
		})
	}
}

// A truncated file gives the beginning of what the whole file gives, and nothing else.
func TestCutTranscripts(t *testing.T) {
	for _, path := range fixtures(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, _ := Recognise(raw)
		for n := 1; n < len(raw); n += 97 {
			tr, err := r.Read(bytes.NewReader(raw[:n]))
			holds(t, tr)
			document := !strings.HasSuffix(path, ".jsonl") && !strings.HasSuffix(path, ".md") // whose lines may all be whole
			if document && !errors.Is(err, io.ErrUnexpectedEOF) && len(bytes.TrimSpace(raw[n:])) > 0 {
				t.Errorf("%s, cut at %d: error %v", path, n, err)
			}
		}
	}
}

// Files of a session are joined: copies are one call, unless the ids of calls are
// valid only within their file.
func TestMergeForeign(t *testing.T) {
	fork, agent := readTranscript(t, "testdata/codex-fork.jsonl"), readTranscript(t, "testdata/codex-agent.jsonl")
	merged := Merge([]Transcript{fork, agent, fork})
	if len(merged) != 1 || len(merged[0].Calls()) != 3 || merged[0].Calls()[2].Agent != "c-agent" || merged[0].Harness != Codex {
		t.Errorf("sub-agent and copy: %v", callsOf(merged[0]))
	}
	steps := readTranscript(t, "testdata/atif-1.4.json")
	merged = Merge([]Transcript{steps, steps, steps})
	if d := cmp.Diff([]string{"c1", "c1;2", "c1;3"}, callsOf(merged[0])); d != "" {
		t.Error(d)
	}
	holds(t, merged[0])
}

func callsOf(tr Transcript) []string {
	var ids []string
	for _, e := range tr.Calls() {
		ids = append(ids, e.Call)
	}
	return ids
}

func TestTranslate(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"shell", `{"command":["bash","-lc","ls | wc"]}`, `Bash {"command":"ls | wc"}`},
		{"shell", `{"command":["echo","a b","$HOME"]}`, `Bash {"command":"echo 'a b' '$HOME'"}`},
		{"shell", `{"command":["/bin/zsh","-c","id"],"env":{}}`, `Bash {"command":"id","env":{}}`},
		{"shell", `{"command":["bash","-lc","id"],"env":{"A":"b c"}}`, `Bash {"command":"env 'A=b c' bash -lc id","env":{"A":"b c"}}`},
		{"shell", `{"command":["bash","script.sh","x"]}`, `Bash {"command":"bash script.sh x"}`},
		{"shell", `{"command":[1]}`, `shell {"command":[1]}`},
		{"shell", `{}`, `shell {}`},
		{"exec_command", `{"cmd":"ls","workdir":"web"}`, `Bash {"command":"ls","workdir":"web"} in web`},
		{"bash_command", `{"keystrokes":"ls\n"}`, `Bash {"command":"ls\n"}`},
		{"shell", `{"command":["apply_patch","*** Begin Patch\n*** Delete File: a b\n*** End Patch"]}`, `Bash {"command":"rm -- 'a b'"}`},
		{"shell", `{"command":["bash","-lc","apply_patch <<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF"],"workdir":"/x"}`, `Bash {"command":"rm -- a"} in /x`},
		{"shell", `{"command":["bash","-lc","apply_patch <<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\nrm -rf /"]}`,
			`Bash {"command":"apply_patch <<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\nrm -rf /"}`},
		{"exec_command", `{"cmd":"apply_patch <<'EOF'\n*** Begin Patch\nEOF\nrm -rf /\n*** End Patch\nEOF"}`,
			`Bash {"command":"apply_patch <<'EOF'\n*** Begin Patch\nEOF\nrm -rf /\n*** End Patch\nEOF"}`},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch"}`, `Bash {"command":"mv -- a b"}`},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a\n x\n-y\n*** End of File\n*** End Patch"}`, `Edit {"file_path":"a","new_string":"x","old_string":"x\ny"}`},
		{"apply_patch", `{"input":"nothing like it"}`, `apply_patch {"input":"nothing like it"}`},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Add File: a\nno plus\n*** End Patch"}`, `apply_patch {"input":"*** Begin Patch\n*** Add File: a\nno plus\n*** End Patch"}`},
		{"read_file", `{"absolute_path":"/a","limit":3}`, `Read {"file_path":"/a","limit":3}`},
		{"read_file", `{"file_path":"/a","path":"/b"}`, `Read {"file_path":"/a","path":"/b"}`},
		{"read_many_files", `{"paths":["a","b"]}`, `Read {"file_path":"a"}; Read {"file_path":"b"}`},
		{"read_many_files", `{}`, `read_many_files {}`},
		{"web_fetch", `{"prompt":"what is new?"}`, `web_fetch {"prompt":"what is new?"}`},
		{"web_fetch", `{"prompt":"(see https://a.example/x)"}`, `WebFetch {"url":"https://a.example/x"}`},
		{"str_replace_editor", `{"command":"insert","path":"/a","new_str":"x"}`, `Edit {"file_path":"/a","new_string":"x","old_string":""}`},
		{"str_replace_editor", `{"command":"undo_edit","path":"/a"}`, `str_replace_editor {"command":"undo_edit","path":"/a"}`},
		{"write_stdin", `{"session_id":1}`, `BashOutput {"bash_id":1}`},
		{"write_stdin", `{"session_id":1,"chars":"\u0003"}`, `KillShell {"shell_id":1}`},
		{"write_stdin", `{"session_id":1,"chars":"rm -rf /\n"}`, `write_stdin {"chars":"rm -rf /\n","session_id":1}`},
		{"Bash", `{"command":"ls"}`, `Bash {"command":"ls"}`},
		{"unheard_of", `{"n":12345678901234567890}`, `unheard_of {"n":12345678901234567890}`},
		{"glob", `"{\"pattern\":\"*\"}"`, `Glob {"pattern":"*"}`},
		{"glob", `null`, `Glob {}`},
	} {
		args, err := arguments(json.RawMessage(c.args))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, call := range translate(c.tool, args) {
			text := call.tool + " " + string(call.args)
			if call.dir != "" {
				text += " in " + call.dir
			}
			got = append(got, text)
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.tool, c.args, got, c.want)
		}
	}
}

// A patch of too many files stays one call: it must not be judged by a part.
func TestPatchOfManyFiles(t *testing.T) {
	patch := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "*** Delete File: f%d\n", i)
		}
		return patchBegin + "\n" + b.String() + patchEnd
	}
	for n, want := range map[int]int{128: 128, 129: 1} {
		if got := patchCalls(map[string]any{"input": patch(n)}); len(got) != want {
			t.Errorf("a patch of %d files is %d calls, want %d", n, len(got), want)
		}
	}
}

// An agent's id that looks like one of a part of a patch is another call.
func TestIdsOfParts(t *testing.T) {
	s := newScribe(Codex)
	s.note("a", []toolCall{{tool: "Read", args: []byte("{}")}, {tool: "Read", args: []byte("{}")}})
	s.call("a#2", "shell", json.RawMessage(`{"command":"ls"}`))
	tr := s.close()
	holds(t, tr)
	if d := cmp.Diff([]string{"a", "a#2", "a#2+"}, callsOf(tr)); d != "" {
		t.Error(d)
	}
}

// An endless document is refused at the limit, before it exhausts memory.
func TestEndlessPart(t *testing.T) {
	d := newDocReader(io.MultiReader(strings.NewReader(`{"a":"b","messages":["`), endless{}))
	d.in.left, d.in.each = 1<<20, 1<<20
	err := d.object(func(string) error {
		raw, err := d.value()
		if err == nil && string(raw) != `"b"` {
			t.Errorf("value %.20s", raw)
		}
		return err
	})
	if !errors.Is(err, errLongLine) {
		t.Errorf("error %v", err)
	}
}

// Parts that a reader skips may exceed the limit of a part.
func TestSkipLong(t *testing.T) {
	long := `{"history":[` + strings.Repeat(`{"content":"`+strings.Repeat("x", 1000)+`"},`, 500) + `0],"trajectory":[]}`
	d := newDocReader(strings.NewReader(long))
	d.in.left, d.in.each = 100<<10, 100<<10
	var keys []string
	err := d.whole(func(key string) error {
		keys = append(keys, key)
		return d.skip()
	})
	if got := strings.Join(keys, " "); err != nil || got != "history trajectory" {
		t.Errorf("keys %s, error %v", got, err)
	}
}

// A document that is longer than a line may be is read anyway.
func TestLongDocument(t *testing.T) {
	message := `{"type":"gemini","toolCalls":[{"id":"c%d","name":"write_file","args":{"file_path":"a","content":"` + strings.Repeat("x", 12<<20) + `"}}]}`
	var list []string
	for i := range 3 {
		list = append(list, fmt.Sprintf(message, i))
	}
	tr, err := readGeminiSession(strings.NewReader(`{"sessionId":"g","projectHash":"x","messages":[` + strings.Join(list, ",") + `]}`))
	if d := cmp.Diff([]string{"c0", "c1", "c2"}, callsOf(tr)); d != "" || err != nil {
		t.Error(d, err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestReadersFailingReader(t *testing.T) {
	broken := errors.New("disk is gone")
	for _, r := range Readers() {
		start := "{"
		if r.Name == "claude-chat-json" || r.Name == "gemini-contents-json" {
			start = "["
		}
		if _, err := r.Read(io.MultiReader(strings.NewReader(start), failing{broken})); !errors.Is(err, broken) {
			t.Errorf("%s: error %v", r.Name, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Sub-agents that are nested too deeply are refused.
func TestDeepTrajectory(t *testing.T) {
	deep := strings.Repeat(`{"schema_version":"ATIF-v1.7","subagent_trajectories":[`, 100)
	if _, err := readATIF(strings.NewReader(deep)); !errors.Is(err, errTooDeep) {
		t.Errorf("error %v", err)
	}
}

// fuzzReader feeds a reader with its own fixtures and what the fuzzer makes of
// them: nothing is fatal, and the invariants of a transcript are kept.
func fuzzReader(f *testing.F, format string) {
	for _, path := range fixtures(f) {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if formatOf(path) != format || len(raw) > 16<<10 {
			continue
		}
		f.Add(raw)
		for _, line := range bytes.SplitAfter(raw, []byte("\n")) { // short ones: the fuzzer minimizes each input that is new to it
			f.Add(line)
		}
	}
	i := slices.IndexFunc(Readers(), func(r Reader) bool { return r.Name == format })
	r := Readers()[i]
	f.Fuzz(func(t *testing.T, raw []byte) {
		r.Is(raw)
		tr, err := r.Read(bytes.NewReader(raw))
		if lines := format == harness.ClaudeCode || format == Codex; lines && err != nil {
			t.Fatalf("a line was fatal: %v", err)
		}
		holds(t, tr)
		holds(t, join(tr, tr))
	})
}

func FuzzTranscript(f *testing.F)       { fuzzReader(f, harness.ClaudeCode) }
func FuzzCodexTranscript(f *testing.F)  { fuzzReader(f, Codex) }
func FuzzGeminiTranscript(f *testing.F) { fuzzReader(f, Gemini) }
func FuzzSWETranscript(f *testing.F)    { fuzzReader(f, SWEAgent) }
func FuzzATIFTranscript(f *testing.F)   { fuzzReader(f, ATIF) }
func FuzzHookLog(f *testing.F)          { fuzzReader(f, "claude-hook-log") }
func FuzzCopilotEvents(f *testing.F)    { fuzzReader(f, "copilot-events") }
func FuzzPiSession(f *testing.F)        { fuzzReader(f, "pi-jsonl") }
func FuzzDroidSession(f *testing.F)     { fuzzReader(f, "droid-jsonl") }
func FuzzQwenChat(f *testing.F)         { fuzzReader(f, "qwen-chat") }
func FuzzKimiWire(f *testing.F)         { fuzzReader(f, "kimi-wire") }
func FuzzClineSession(f *testing.F)     { fuzzReader(f, "cline-messages") }
func FuzzOpenCodeExport(f *testing.F)   { fuzzReader(f, "opencode-export") }
func FuzzContents(f *testing.F)         { fuzzReader(f, "gemini-contents-json") }
func FuzzMiniTrajectory(f *testing.F)   { fuzzReader(f, "mini-swe-agent-traj") }
func FuzzClaudeChat(f *testing.F)       { fuzzReader(f, "claude-chat-json") }
func FuzzSpecStory(f *testing.F)        { fuzzReader(f, "specstory-md") }

// A hook's log is split into its sessions, however they alternate, and counts if no
// other file has the session.
func TestPartsOfSessions(t *testing.T) {
	logs := Split(readTranscript(t, "testdata/hooklog-several.json"), "")
	if len(logs) != 2 || logs[0].Session != "one" || logs[1].Session != "two" || len(logs[0].Calls()) != 3 || len(logs[1].Calls()) != 2 {
		t.Fatalf("the log is split in %d sessions", len(logs))
	}
	whole := readTranscript(t, "testdata/newer.jsonl")
	whole.Session = "two"
	merged := Merge(append(logs, whole))
	if len(merged) != 2 || merged[1].Partial || len(merged[1].Calls()) != len(whole.Calls()) {
		t.Errorf("a log next to the session's own file: %d sessions", len(merged))
	}
	if again := Merge(append(logs[:1:1], logs[0])); len(again) != 1 || len(again[0].Calls()) != 3 {
		t.Error("a log that is there twice counts twice")
	}
}

// Where an export names files in full only, the session's directory is the one in
// which all of them lie.
func TestSpecStoryCommonDirectory(t *testing.T) {
	for name, test := range map[string]struct {
		files []string
		want  string
	}{
		"one project":  {[]string{"/home/kim/shop/src/a.go", "/home/kim/shop/docs/b.md", "/home/kim/.claude/plans/c.md"}, "/home/kim/shop"},
		"one file":     {[]string{"/home/kim/shop/src/a.go"}, "/home/kim/shop/src"},
		"only notes":   {[]string{"/home/kim/.claude/plans/c.md"}, ""},
		"two projects": {[]string{"/home/kim/shop/a.go", "/home/kim/site/b.go"}, ""},
		"on Windows":   {[]string{`D:\work\kim\shop\src\a.go`, `D:\work\kim\shop\b.go`}, "D:/work/kim/shop"},
		"none":         {nil, ""},
	} {
		p := newSpecPaths()
		for _, f := range test.files {
			p.note(f)
		}
		if got := p.root(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
