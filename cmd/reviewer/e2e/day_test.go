//go:build e2e && unix

package e2e

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/await"
)

// A person's day: a denied call is allowed once, a question is approved from another terminal, a stopped session is
// resumed, and the hooks are removed. Each command asks for the code once.
func TestADay(t *testing.T) {
	s := newDay(t)
	done, over := make(chan []string, 1), make(chan struct{})
	s.hooks = []func(){nil, func() {
		s.decide("allow", s.latestDenial(), "--once", "--home", s.state)
		go func() { done <- s.answerQuestions(over, []string{"approve", "ID"}) }()
	}}
	s.prompt(Script{s.deletion(), s.deletion(), Shell("touch first")})
	close(over)
	if failed := <-done; len(failed) > 0 {
		t.Fatal(failed)
	}
	s.want("outside/2019/beach.txt", false)
	s.want("project/first", true)
	s.hooks = nil
	s.ok("session", "stop", s.session, "--home", s.state)
	s.decide("session", "resume", s.session, "--home", s.state)
	s.resume(Script{Shell("echo 2 > second")})
	s.want("project/second", true)
	s.wantChain()
	s.decide("uninstall", "claude-code", "--user", "--home", s.state)
	if text, err := os.ReadFile(filepath.Join(s.Home, ".claude", "settings.json")); strings.Contains(string(text), "reviewer") {
		t.Errorf("hooks are left (%v):\n%s", err, text)
	}
}

// The same day with `approvals watch`, which asks for the code once for all of it.
func TestADayOfWatching(t *testing.T) {
	s := newDay(t)
	w := s.watch()
	defer w.end()
	done := make(chan struct{})
	s.hooks = []func(){nil, func() {
		w.choose('a', "allow once")
		w.until("allowed once")
		go func() {
			defer close(done)
			w.choose('a', "approve")
			w.until("approved")
		}()
	}}
	s.prompt(Script{s.deletion(), s.deletion(), Shell("touch first")})
	<-done
	s.want("outside/2019/beach.txt", false)
	s.want("project/first", true)
	s.hooks = nil
	s.ok("session", "stop", s.session, "--home", s.state)
	w.choose('r', "resume")
	w.until("resumed")
	s.resume(Script{Shell("echo 2 > second")})
	s.want("project/second", true)
	if asked := strings.Count(w.all(), "approval code:"); asked != 1 {
		t.Errorf("the code was asked for %d times:\n%s", asked, w.all())
	}
}

// newDay is a stage with a hook that knows the person's key, and a rule that asks.
func newDay(t *testing.T) *stage {
	s := attempt(t, nil)
	s.must(os.MkdirAll(filepath.Join(s.state, "policy", "rules", "shop"), 0o700))
	s.must(os.WriteFile(filepath.Join(s.state, "policy", "rules", "shop", "release.yaml"), []byte(releaseRule), 0o600))
	s.configure("approvals: {queue: always, wait_seconds: 60}\n")
	return s
}

// latestDenial returns the id of the newest call that was denied.
func (s *stage) latestDenial() (id string) {
	s.t.Helper()
	for _, r := range s.records() {
		if r.Kind == "pre" {
			id = r.id()
		}
	}
	return id
}

// watcher is `approvals watch` in a terminal.
type watcher struct {
	*stage
	cmd  *exec.Cmd
	keys io.WriteCloser
	mu   sync.Mutex
	out  bytes.Buffer
	from int // what was shown before was answered
}

func (s *stage) watch() *watcher {
	s.t.Helper()
	w := &watcher{stage: s}
	// script passes on what it reads from a pipe only at first.
	w.cmd = exec.Command("python3", "-c", "import pty, sys; pty.spawn(sys.argv[1:])", s.reviewer, "approvals", "watch", "--home", s.state)
	w.cmd.Dir, w.cmd.Env, w.cmd.Stdout = s.Project, s.programEnv(), w
	var err error
	w.keys, err = w.cmd.StdinPipe()
	s.must(err)
	s.must(w.cmd.Start())
	w.until("approval code:")
	w.press(s.code + "\r")
	return w
}

func (w *watcher) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(b)
}

func (w *watcher) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String()
}

// until waits for a text, and returns the latest match.
func (w *watcher) until(pattern string) (match []string) {
	w.t.Helper()
	p := regexp.MustCompile(pattern)
	if !await.Holds(func() bool {
		shown := w.all()
		for _, m := range p.FindAllStringSubmatch(shown[min(w.from, len(shown)):], -1) {
			match = m
		}
		return match != nil
	}) {
		w.t.Errorf("%s was not shown: %s", pattern, w.all())
	}
	return match
}

// choose makes an act: its letter, and the two characters that are shown next to it. What has just appeared takes no act
// until it is selected.
func (w *watcher) choose(letter byte, act string) {
	w.t.Helper()
	shown := string(letter) + "([a-z0-9]{2}) " + act
	for _, keys := range []string{"j", ""} {
		m := w.until(shown)
		if m == nil {
			return
		}
		if w.from = len(w.all()); keys == "" {
			keys = string(letter) + m[1]
		}
		w.press(keys)
	}
}

func (w *watcher) press(keys string) {
	_, err := io.WriteString(w.keys, keys)
	w.must(err)
}

func (w *watcher) end() {
	_ = w.keys.Close()
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait() // it was killed
}
