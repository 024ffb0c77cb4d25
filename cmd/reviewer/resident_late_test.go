package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/serve"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// asyncHome is a state directory whose policy answers before the review, and a workspace with
// a lock file.
func asyncHome(t *testing.T) (home, shop string) {
	t.Helper()
	home, shop = t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(home, "policy", "settings.yaml"): "mode: async\nresources: {max_file_operations: 1}\n",
		filepath.Join(shop, "go.sum"):                  "a text\n",
		filepath.Join(shop, "cart.go"):                 "package cart\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home, shop
}

// edit asks a resident process about an edit.
func edit(t *testing.T, r *resident, shop, file, call string) *wire.Answer {
	t.Helper()
	input, err := json.Marshal(map[string]any{"session_id": "s1", "cwd": shop, "hook_event_name": "PreToolUse", "tool_name": "Edit",
		"tool_use_id": call, "tool_input": map[string]any{"file_path": filepath.Join(shop, file), "old_string": "text", "new_string": "word"}})
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"hook", harness.ClaudeCode, "PreToolUse", "--home", r.home}
	return r.handle(context.Background(), serve.Client{Pid: os.Getpid(), Own: true}, &wire.Request{Home: r.home, Args: args, Env: []string{"HOME=" + shop}, Input: input}, nil)
}

// recorded lists the calls and what was recorded about them.
func recorded(t *testing.T, home string) string {
	t.Helper()
	store := &audit.Store{Dir: home, Env: cli.Environment()}
	var list []string
	for rec, err := range store.Records(engine.SessionKey{Harness: harness.ClaudeCode, Session: "s1"}, 0) {
		switch {
		case err != nil:
			t.Fatal(err)
		case rec.Kind == engine.KindPre:
			list = append(list, strings.TrimSpace("pre "+string(rec.Answer.Effect)+" "+rec.Source))
		case rec.Act != nil && rec.Act.Late != nil:
			list = append(list, "late "+rec.Act.Result)
		}
	}
	return strings.Join(list, ", ")
}

// replays recomputes the log, with the policies that were kept.
func replays(t *testing.T, home, want string) {
	t.Helper()
	var stdout, stderr strings.Builder
	a := &cli.App{Streams: term.Streams{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Env: func(string) string { return "" }}}
	if code := run(context.Background(), a, []string{"audit", "replay", "--home", home}); code != 0 || !strings.Contains(stdout.String(), want) {
		t.Errorf("exit %d, want %q in\n%s%s", code, want, stdout.String(), stderr.String())
	}
}

// gitClean makes a workspace a repository in which nothing is changed, so that every edit can be
// undone.
func gitClean(t *testing.T, shop string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "a"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = shop
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %q: %v\n%s", args, err, out)
		}
	}
}

// TestAsync: the resident process answers before the review, records both, and holds what the
// review would have blocked against the next call. Both records replay.
func TestAsync(t *testing.T) {
	home, shop := asyncHome(t)
	gitClean(t, shop)
	r := newResident(home)
	for i, c := range []struct {
		file string
		exit byte
	}{{"cart.go", 0}, {"go.sum", 0}, {"cart.go", 2}} {
		if a := edit(t, r, shop, c.file, string(rune('a'+i))); a.Exit != c.exit {
			t.Errorf("%s: exit %d, want %d\n%s%s", c.file, a.Exit, c.exit, a.Stdout, a.Stderr)
		}
	}
	r.late.Wait()
	if got, want := recorded(t, home), "pre allow async, late allow, pre allow async, late block, pre block"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	replays(t, home, "5 decisions: 5 reproduced")
	counts := metricsOf(t, r)
	for _, line := range []string{"early_answers_total 2", `late_reviews_total{result="allow"} 1`, `late_reviews_total{result="block"} 1`} {
		if !strings.Contains(counts, "reviewer_resident_"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, counts)
		}
	}
}

func metricsOf(t *testing.T, r *resident) string {
	t.Helper()
	w := httptest.NewRecorder()
	r.meter.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:9464/metrics", nil))
	return w.Body.String()
}

// TestAsyncNeedsAResidentProcess: a process that ends with its answer reviews first.
func TestAsyncNeedsAResidentProcess(t *testing.T) {
	home, shop := asyncHome(t)
	gitClean(t, shop)
	r := newResident(home)
	r.late = nil
	edit(t, r, shop, "cart.go", "a")
	if got, want := recorded(t, home), "pre allow"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestKilledBeforeTheReview: a process that is killed between the answer and the review owes
// it; the next one makes it, whether or not the session has another event.
func TestKilledBeforeTheReview(t *testing.T) {
	home, shop := asyncHome(t)
	gitClean(t, shop)
	killed := newResident(home)
	killed.late.Lazy = true // it never gets to the review
	edit(t, killed, shop, "cart.go", "a")
	edit(t, killed, shop, "go.sum", "b")
	if got, want := recorded(t, home), "pre allow async, late allow, pre allow async"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	next := newResident(home)
	next.detach = func(args ...string) error { t.Errorf("started %q", args); return nil } // nothing stopped
	next.startCatchUp(context.Background())
	if err := next.finishLate(); err != nil {
		t.Fatal(err)
	}
	if got, want := recorded(t, home), "pre allow async, late allow, pre allow async, late block"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := os.Stat(lateMark(home)); err == nil {
		t.Error("the mark is left although nothing is owed")
	}
	if a := edit(t, next, shop, "cart.go", "c"); a.Exit != 2 || !strings.Contains(string(a.Stdout), "go.sum") {
		t.Errorf("the next call: exit %d\n%s", a.Exit, a.Stdout)
	}
	replays(t, home, "5 decisions: 5 reproduced")
}
