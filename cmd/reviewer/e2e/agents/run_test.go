//go:build e2e && linux

package agents

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/scripted"
)

// A summary is the part of a run's summary that these tests read.
type summary struct {
	Result     string
	ExitCode   int `json:"exit_code"`
	Limit      string
	Sessions   []string
	Unreviewed []struct{ Tool string }
	Review     struct {
		Reviewed int `json:"reviewed_count"`
	} `json:"review_summary"`
	Usage struct{ Tokens int64 }
}

// strict runs the client under the profile strict, with a model that makes one call per command.
func (s *stage) strict(t *testing.T, flags []string, commands ...string) summary {
	t.Helper()
	sum, _ := s.strictWith(t, flags, s.driver.Args, nil, commands...)
	return sum
}

// strictWith is strict with other arguments of the client, and its standard input; it also returns the output.
func (s *stage) strictWith(t *testing.T, flags, arguments []string, stdin *os.File, commands ...string) (summary, string) {
	t.Helper()
	var script scripted.Script
	for _, c := range commands {
		script = append(script, scripted.Step{Say: "Next.", Calls: []scripted.Call{s.driver.Shell(c)}})
	}
	model, err := scripted.Start(script)
	s.must(err)
	defer model.Close()
	s.model, model.BeforeStep = model, s.before
	if s.driver.Configure != nil {
		s.must(s.driver.Configure(s.place()))
	}
	s.write(filepath.Join(s.state, "policy/settings.yaml"), "isolation: {hosts: [\""+strings.TrimPrefix(model.URL(), "http://")+"\"]}\n"+s.settings)
	file := filepath.Join(s.dir, "run.json")
	args := append([]string{"run", "--home", s.state, "--profile", "strict", "--summary", file}, flags...)
	cmd := exec.Command(s.reviewer, append(append(append(args, "--"), s.client.Command...), arguments...)...)
	if stdin != nil {
		cmd.Stdin = stdin
	}
	cmd.Dir, cmd.Env = s.project, s.environment()
	out, err := cmd.CombinedOutput()
	raw, rerr := os.ReadFile(file)
	if rerr != nil {
		t.Fatalf("no summary: %v\n%s", err, out)
	}
	t.Logf("%s", out)
	var sum summary
	s.must(json.Unmarshal(raw, &sum))
	return sum, string(out)
}

// Claude Code is asked to stop by its control protocol before it gets a signal, if its input is a stream: it answers, and
// ends its turn with a result.
func TestRunInterrupt(t *testing.T) {
	s := newStage(t, installedFor(t, "claude-code"))
	from, to, err := os.Pipe()
	s.must(err)
	defer to.Close()
	_, err = to.WriteString(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"do it"}]}}` + "\n")
	s.must(err)
	sum, out := s.strictWith(t, []string{"--max-time", "10s"}, streaming(), from, "tail -f README.md")
	if sum.ExitCode != 12 || sum.Result != "limit" || !strings.Contains(out, `"request_id":"reviewer-stop"`) || !strings.Contains(out, `"type":"result"`) {
		t.Errorf("%+v", sum)
	}
}

// streaming are the arguments with which Claude Code reads documents from its standard input.
func streaming() []string {
	return []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"}
}

// talk runs Claude Code with a standard input that stays open until the model gives its last answer. It returns the summary
// and the last request to the model.
func (s *stage) talk(t *testing.T, flags []string, commands ...string) (summary, string) {
	t.Helper()
	from, to, err := os.Pipe()
	s.must(err)
	defer from.Close()
	_, err = to.WriteString(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"do it"}]}}` + "\n")
	s.must(err)
	s.before = func(step int) {
		if step == len(commands) {
			to.Close()
		}
	}
	s.installWith(filepath.Dir(s.client.Command[0]))
	sum, _ := s.strictWith(t, flags, streaming(), from, commands...)
	requests := s.model.Requests()
	prompts := 0
	for _, r := range s.records() {
		if r.Kind == "prompt" {
			prompts++
		}
	}
	if prompts != 1 {
		t.Errorf("%d prompts are recorded as a person's, want 1", prompts)
	}
	s.review("audit", "verify")
	s.review("audit", "replay")
	return sum, string(requests[len(requests)-1].Body)
}

// Claude Code is told by its protocol that a limit is near and what was refused below its hooks, while it works. That does
// not count as a person's prompt.
func TestRunTells(t *testing.T) {
	s := newStage(t, installedFor(t, "claude-code"))
	connect := "git ls-remote https://forbidden.example/shop.git"
	sum, last := s.talk(t, []string{"--max-tokens", "450"}, "ls", connect, "ls", "ls", "ls", "sleep 4; echo done > done.txt")
	if sum.Result != "ended" {
		t.Errorf("%+v", sum)
	}
	for _, want := range []string{"[reviewer run] This run has used 360 of 450 (max_token_usage)", "[reviewer run] The policy of this run does not permit this: forbidden.example:443"} {
		if n := strings.Count(last, want); n != 1 {
			t.Errorf("the model was told %d times: %s", n, want)
		}
	}
}

// After a rollback, the conversation of Claude Code goes on from before the changes that are gone.
func TestRunRewinds(t *testing.T) {
	s := newStage(t, installedFor(t, "claude-code"))
	s.settings = "interventions: {ladders: {repetitive_errors: [checkpoint_rollback]}, auto_rollback: true}\n"
	spoil := func(n string) string {
		return "echo " + n + " > spoiled-" + n + "; echo " + n + " > notes.txt; git checkout topic-" + n
	}
	sum, last := s.talk(t, nil, "echo one > notes.txt", spoil("0"), spoil("1"), spoil("2"), "sleep 4", "cat notes.txt > seen.txt")
	if raw, err := os.ReadFile(filepath.Join(s.project, "seen.txt")); err != nil || string(raw) != "one\n" {
		t.Errorf("the agent read %q (%v) after the rollback; %+v", raw, err, sum)
	}
	if strings.Contains(last, "spoiled-2") || !strings.Contains(last, "echo one") || !strings.Contains(last, "[reviewer run] The files were restored to checkpoint") {
		t.Errorf("the conversation was not rewound: %s", last)
	}
}

// Under the profile strict, allowed work passes, and what the hooks know nothing of is stopped below them: the
// private key cannot be read, nothing is written outside, and no other host is reached.
func TestRunStrict(t *testing.T) {
	for _, name := range []string{"claude-code", "codex"} {
		t.Run(name, func(t *testing.T) {
			c := installedFor(t, name)
			t.Run("with hooks", func(t *testing.T) { withHooks(t, newStage(t, c)) })
			t.Run("without hooks", func(t *testing.T) { withoutHooks(t, newStage(t, c)) })
			t.Run("limit", func(t *testing.T) { overLimit(t, newStage(t, c)) })
		})
	}
}

func withHooks(t *testing.T, s *stage) {
	s.installWith(filepath.Dir(s.client.Command[0]))
	sum := s.strict(t, nil, "echo done > allowed.txt", "ls")
	if sum.ExitCode != 0 || sum.Review.Reviewed < 2 || len(sum.Unreviewed) > 0 || len(sum.Sessions) != 1 {
		t.Errorf("%+v", sum)
	}
	if raw, err := os.ReadFile(filepath.Join(s.project, "allowed.txt")); err != nil || string(raw) != "done\n" {
		t.Errorf("allowed work did not pass: %q, %v", raw, err)
	}
	s.review("audit", "verify")
	s.review("audit", "replay")
}

func withoutHooks(t *testing.T, s *stage) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	defer l.Close()
	var reached atomic.Int64
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			conn.Close()
		}
	}()
	s.write(filepath.Join(s.home, ".ssh/id_ed25519"), "the private key\n")
	_, port, _ := net.SplitHostPort(l.Addr().String())
	sum := s.strict(t, nil, "echo done > allowed.txt; cat "+s.home+"/.ssh/id_ed25519 > got-key; echo x > "+s.outside+"/new; bash -c 'echo x > /dev/tcp/127.0.0.1/"+port+"'; echo all > tried")
	if raw, err := os.ReadFile(filepath.Join(s.project, "tried")); err != nil || string(raw) != "all\n" {
		t.Fatalf("the call did not run: %q, %v; %+v", raw, err, sum)
	}
	if raw, _ := os.ReadFile(filepath.Join(s.project, "got-key")); len(raw) > 0 {
		t.Errorf("the key was read: %s", raw)
	}
	if _, err := os.Stat(filepath.Join(s.outside, "new")); err == nil {
		t.Error("a file was written outside")
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("another host was reached %d times", n)
	}
	if len(sum.Unreviewed) == 0 {
		t.Errorf("calls without a review were not found: %+v", sum)
	}
}

func overLimit(t *testing.T, s *stage) {
	sum := s.strict(t, []string{"--max-time", "10s"}, "tail -f README.md")
	if sum.ExitCode != 12 || sum.Limit != "max_execution_time_seconds" || sum.Result != "limit" {
		t.Errorf("%+v", sum)
	}
}
