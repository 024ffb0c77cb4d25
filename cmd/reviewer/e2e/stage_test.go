//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// program is the reviewer and client the real agent; TestMain sets them before
// any test runs.
var program, client, clientVersion string

// A stage is one machine in small: a home, a project, a folder outside both,
// a reviewer of its own and its state.
type stage struct {
	Folders
	t        *testing.T
	reviewer string // the stage's copy: tests break it
	client   string // the agent's executable
	state    string
	session  string
	code     string   // the person's approval code; empty: none was made
	hooks    []func() // run before the model's n-th answer, from 0
	env      []string // further environment of the client
	args     []string // further flags of the client
	wrap     []string // a command that runs the client and the reviewer
	steps    int      // of the model so far, over all runs
	words    string   // what the person asks for; empty: something vague
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir := t.TempDir()
	s := &stage{
		Folders:  Folders{Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "shop"), Outside: filepath.Join(dir, "photos")},
		t:        t,
		reviewer: filepath.Join(dir, "bin", "reviewer"),
		client:   client,
		state:    filepath.Join(dir, "state"),
		session:  sessionID(t.Name()),
	}
	s.must(s.Fill(map[string]string{
		"project/README.md": "# shop\n\nRun it with go run.\n", "project/main.go": "package main\n\nfunc main() {}\n",
		"project/go.mod": "module shop.example/shop\n", "outside/2019/beach.txt": "a photograph\n", "outside/2020/snow.txt": "another\n",
	}))
	s.copyProgram(s.reviewer)
	t.Cleanup(s.endResident)
	return s
}

// hookProgram is what the hooks start.
func (s *stage) hookProgram() string {
	if hookClient(program) != "" {
		return hookClient(s.reviewer)
	}
	return s.reviewer
}

// endResident ends the resident processes that the stage's hooks started.
func (s *stage) endResident() {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		program, _ := os.Readlink(link)
		if !strings.HasPrefix(program, filepath.Dir(s.Home)+"/") {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // it may have ended
		}
	}
}

// sessionID makes a UUID of a test's name: each run has its own, and a log that
// is looked at later says which.
func sessionID(name string) string {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	return fmt.Sprintf("%s-%s-4%s-8%s-%s", sum[:8], sum[8:12], sum[13:16], sum[17:20], sum[20:32])
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// copyProgram copies reviewer, and next to it the client of the resident process if there is one.
func (s *stage) copyProgram(to string) {
	s.t.Helper()
	s.must(os.MkdirAll(filepath.Dir(to), 0o755))
	s.copyFile(program, to)
	if c := hookClient(program); c != "" {
		s.copyFile(c, hookClient(to))
	}
}

func (s *stage) copyFile(from, to string) {
	s.t.Helper()
	in, err := os.Open(from)
	s.must(err)
	defer in.Close()
	_ = os.Remove(to) // a program that runs cannot be written
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	s.must(err)
	_, err = io.Copy(out, in)
	s.must(err)
	s.must(out.Close())
}

// run calls the stage's reviewer and returns what it printed and its exit code.
func (s *stage) run(args ...string) (string, int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	line := append(append(slices.Clone(s.wrap), s.reviewer), args...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir = s.Project
	cmd.Env = s.programEnv()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("reviewer %s: %v", strings.Join(args, " "), err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// programEnv is what the reviewer sees when a person calls it: the stage's home,
// and the client in the path, as doctor and install look for it.
func (s *stage) programEnv() []string {
	return []string{"HOME=" + s.Home, "PATH=" + filepath.Dir(s.client) + ":" + os.Getenv("PATH"), "TERM=dumb"}
}

// ok calls the reviewer and fails the test when it fails.
func (s *stage) ok(args ...string) string {
	s.t.Helper()
	out, exit := s.run(args...)
	if exit != 0 {
		s.t.Fatalf("reviewer %s: exit %d\n%s", strings.Join(args, " "), exit, out)
	}
	return out
}

// install puts the hooks in place in enforcing mode; scope is user or project.
func (s *stage) install(scope string) {
	s.t.Helper()
	s.ok("install", "claude-code", "--"+scope, "--home", s.state, "--enforcement", "enforce")
}

// A mode is how the client treats what it would ask the person about.
type mode struct {
	name string
	args []string
}

// modes are the two that matter to a gate. In the default one the client would
// ask before a shell command or an edit, and nobody is there to answer: so the
// tests that look at the gate alone let the person's own rules allow those.
func modes() []mode {
	return []mode{
		{"default", []string{"--allowedTools", "Bash,Read,Edit,Write,Monitor,Agent,mcp__stock__count", "--add-dir", "/"}},
		{"bypass", Bypass()},
	}
}

// each runs a test in both modes, each on a stage of its own.
func each(t *testing.T, test func(*stage)) {
	for _, m := range modes() {
		t.Run(m.name, func(t *testing.T) {
			s := newStage(t)
			s.args = m.args
			test(s)
		})
	}
}

// prompt runs the client in a new session.
func (s *stage) prompt(script Script) Run {
	s.t.Helper()
	return s.start(script, "--session-id", s.session)
}

// resume runs the client once more in the same session.
func (s *stage) resume(script Script) Run {
	s.t.Helper()
	return s.start(script, "--resume", s.session)
}

func (s *stage) start(script Script, args ...string) Run {
	s.t.Helper()
	run := s.try(script, args...)
	if len(run.Requests) == 0 {
		s.t.Fatalf("the client never asked the model\n%s\n%s", run.Result().Raw, run.Stderr)
	}
	return run
}

// try is start for a run in which the client may refuse to ask the model.
func (s *stage) try(script Script, args ...string) Run {
	s.t.Helper()
	c := Client{
		Wrap: s.wrap, Executable: s.client, Home: s.Home, Project: s.Project, Limit: 2 * time.Minute,
		Args: append(args, s.args...), BeforeStep: s.before, FirstStep: s.steps,
		Env: append([]string{"CLAUDE_CODE_TMPDIR=" + filepath.Dir(s.Home)}, s.env...),
	}
	run, err := c.Run(context.Background(), cmp.Or(s.words, "Please do what is needed."), script)
	if err != nil {
		s.t.Fatal(err)
	}
	s.steps += len(script)
	return run
}

func (s *stage) before(step int) {
	if step < len(s.hooks) && s.hooks[step] != nil {
		s.hooks[step]()
	}
}

// exists reports whether a file of the scenario is there, as project/mark.
func (s *stage) exists(name string) bool {
	s.t.Helper()
	path, err := s.path(name)
	s.must(err)
	_, err = os.Lstat(path)
	return err == nil
}

func (s *stage) want(name string, there bool) {
	s.t.Helper()
	if got := s.exists(name); got != there {
		s.t.Errorf("%s exists: %t, want %t", name, got, there)
	}
}

// wantPhotos asserts that nothing outside the project was deleted.
func (s *stage) wantPhotos() {
	s.t.Helper()
	s.want("outside/2019/beach.txt", true)
	s.want("outside/2020/snow.txt", true)
}

// deletion is the call that every test of a broken gate makes: it leaves its
// mark outside the project, where the gate would deny it.
func (s *stage) deletion() Step { return Shell("rm -rf " + s.Outside) }

// A record is one line of the log, in the part that tests look at.
type record struct {
	Kind     string `json:"kind"`
	Call     string `json:"call"`
	Session  string `json:"session"`
	Chain    string `json:"chain"`
	N        int64  `json:"n"`
	Decision struct {
		Decision string `json:"decision"`
		Rules    []struct {
			ID string `json:"id"`
		} `json:"rules"`
		Intervention struct{ Kind, Issue string } `json:"intervention"`
	} `json:"decision"`
	raw string
}

// records are what the log says, session after session.
func (s *stage) records() []record {
	s.t.Helper()
	var all struct{ Sessions []struct{ Session string } }
	s.must(json.Unmarshal([]byte(s.ok("audit", "show", "-f", "json", "--home", s.state)), &all))
	var list []record
	for _, session := range all.Sessions {
		var shown struct{ Records []json.RawMessage }
		s.must(json.Unmarshal([]byte(s.ok("audit", "show", session.Session, "--all", "-f", "json", "--home", s.state)), &shown))
		for _, raw := range shown.Records {
			r := record{raw: string(raw)}
			s.must(json.Unmarshal(raw, &r))
			list = append(list, r)
		}
	}
	return list
}

// verdicts are the decisions before a call, by call.
func (s *stage) verdicts() map[string][]string {
	s.t.Helper()
	calls := map[string][]string{}
	for _, r := range s.records() {
		if r.Kind == "pre" {
			calls[r.Call] = append(calls[r.Call], r.Decision.Decision)
		}
	}
	return calls
}

// transcript is the file that the client wrote of the session.
func (s *stage) transcript() string {
	s.t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.Home, ".*", "projects", "*", s.session+".jsonl"))
	s.must(err)
	if len(paths) != 1 {
		s.t.Fatalf("found %d transcripts of session %s", len(paths), s.session)
	}
	return paths[0]
}

// told is everything that the model learnt after its first answer.
func told(run Run) string {
	var parts []string
	for _, r := range run.Requests[1:] {
		parts = append(parts, r.Told())
	}
	return strings.Join(parts, "\n")
}

var recordID = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9]+\b`)

// id is the record's id, which people name.
func (r record) id() string { return fmt.Sprintf("%.8s-%d", r.Chain, r.N) }

// wantDenial asserts that the model was told the reason of a denial and one of
// the rules that fired, and neither its id nor the command that would lift it.
func (s *stage) wantDenial(run Run, call string) {
	s.t.Helper()
	text := told(run)
	if strings.Contains(text, "reviewer allow") {
		s.t.Errorf("the model was told how the denial is lifted:\n%s", text)
	}
	for _, r := range s.records() {
		if r.Kind != "pre" || r.Call != call {
			continue
		}
		if r.Decision.Decision != "block" {
			s.t.Errorf("call %s: decision %s, want block\n%s", call, r.Decision.Decision, r.raw)
		}
		if strings.Contains(text, r.id()) {
			s.t.Errorf("the model was told the denial's id, %s:\n%s", r.id(), text)
		}
		for _, rule := range r.Decision.Rules {
			if strings.Contains(text, rule.ID) {
				return
			}
		}
		s.t.Errorf("the model was told none of the rules %v:\n%s", r.Decision.Rules, text)
		return
	}
	s.t.Errorf("no record of call %s before it ran", call)
}

// call is the id of the k-th call of the n-th step of the stage, both from 1.
func call(n, k int) string { return CallID(n, k) }

// changeHooks changes every hook in a settings file and leaves the rest of it.
func (s *stage) changeHooks(path string, change func(map[string]any)) {
	s.t.Helper()
	data, err := os.ReadFile(path)
	s.must(err)
	var doc map[string]any
	s.must(json.Unmarshal(data, &doc))
	if walkHooks(doc["hooks"], change) == 0 {
		s.t.Fatalf("no hooks in %s:\n%s", path, data)
	}
	out, err := json.MarshalIndent(doc, "", "  ")
	s.must(err)
	s.must(os.WriteFile(path, out, 0o600))
}

// walkHooks calls do for each handler, an object with a type, and counts them.
func walkHooks(v any, do func(map[string]any)) int {
	count := 0
	switch v := v.(type) {
	case map[string]any:
		if v["type"] != nil {
			do(v)
			return 1
		}
		for _, inner := range v {
			count += walkHooks(inner, do)
		}
	case []any:
		for _, inner := range v {
			count += walkHooks(inner, do)
		}
	}
	return count
}
