package simulatecmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/sources"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// sessionsIn writes transcripts of the same session, each as another one.
func sessionsIn(t *testing.T, ids ...string) string {
	t.Helper()
	dir := t.TempDir()
	raw, err := os.ReadFile("../../../testdata/transcripts/claude-code-shop.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	whole := string(raw)
	for _, id := range ids {
		text := strings.NewReplacer("7b1f6c52", id, "_01000", "_"+id, `uuid":"`, `uuid":"`+id, `Uuid":"`, `Uuid":"`+id, `UUID":"`, `UUID":"`+id).Replace(whole)
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// prepared is a comparison of the default policy with itself, ready to run.
func prepared(t *testing.T, ctx context.Context, dir string) (*cli.App, *comparing) {
	t.Helper()
	a := &cli.App{Streams: term.Streams{Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Env: func(string) string { return "" }}, Home: t.TempDir()}
	s := simulation{baseline: active.RefDefault, candidate: active.RefDefault, parallel: 1, given: func(string) bool { return false }}
	s.out.Given, s.out.Formats = []string{"json"}, []string{"json"}
	if err := s.read(a, []string{dir}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	r, err := prepare(ctx, a, &s, a.ShowProgress(time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	return a, r
}

// meddling does something when it has decided so many times.
type meddling struct {
	engine.Decider
	left *int
	do   func()
}

func (m meddling) Decide(ctx context.Context, in *engine.Input, found []engine.Finding) (engine.Decision, error) {
	if *m.left--; *m.left == 0 {
		m.do()
	}
	return m.Decider.Decide(ctx, in, found)
}

// meddle has something done within the second of several sessions.
func meddle(r *comparing, do func()) {
	const inSecond = 50 // of 35 decisions each
	left := inSecond
	p := r.comparison.Candidates[0].Policy
	p.Decider = meddling{p.Decider, &left, do}
}

// Ctrl-C keeps what was compared, whole sessions only, and says that it is a part.
func TestInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	a, r := prepared(t, ctx, sessionsIn(t, "0000aaaa", "0000bbbb", "0000cccc"))
	meddle(r, interrupt)
	if err := r.run(ctx); err != nil {
		t.Fatal(err)
	}
	m := r.sums[0]
	if m.Sessions.Total != 1 || m.Calls.Total != 17 || !strings.Contains(m.Partial, "1 session was compared") {
		t.Errorf("%d sessions, %d calls, partial: %q", m.Sessions.Total, m.Calls.Total, m.Partial)
	}
	err := verdictOf(a, nil, r.sums)
	if e := (*cli.ExitError)(nil); err == nil || errors.As(err, &e) || !strings.Contains(err.Error(), "incomplete") {
		t.Errorf("error %v, want exit code 1", err)
	}
	if _, err := simulate.Merge(r.sums); err == nil {
		t.Error("a part is merged as if it were whole")
	}
}

// A panic in one of the goroutines ends the run with an error, as one in main
// does, and without what it may quote.
func TestComparingCrash(t *testing.T) {
	_, r := prepared(t, t.Context(), sessionsIn(t, "0000aaaa", "0000bbbb", "0000cccc"))
	meddle(r, func() { panic("ghp_0123456789") })
	err := r.run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "internal error (string)") || strings.Contains(err.Error(), "ghp_") {
		t.Errorf("error %v", err)
	}
}

// What outweighs what, and what is said.
func TestSimulateVerdict(t *testing.T) {
	budget, err := simulate.ParseBudget("loosened>0")
	if err != nil {
		t.Fatal(err)
	}
	same := simulate.Tally{Total: 1, States: map[simulate.State]int64{simulate.Unchanged: 1}}
	fine := simulate.Impact{Calls: same}
	unknown := simulate.Impact{Calls: simulate.Tally{Total: 3, States: map[simulate.State]int64{simulate.Unknown: 3}}, Missing: map[string]int64{"the time of the call": 3}}
	loosened := simulate.Impact{Calls: simulate.Tally{Total: 1, States: map[simulate.State]int64{simulate.Loosened: 1}, Matrix: []simulate.Cell{{From: engine.Block, To: engine.Allow, Count: 1}}}}
	unread := simulate.Impact{Calls: same, Sources: simulate.Sources{Failed: 2, Troubles: []simulate.Trouble{{Path: "a.jsonl", Line: 7, Why: "torn", Failed: true}, {Path: "b.jsonl", Why: "odd"}}}}
	damaged := simulate.Impact{Sources: simulate.Sources{Failed: 1, Damaged: 1, Troubles: []simulate.Trouble{{Path: "c.jsonl", Failed: true, Damaged: true}}}}
	differs := simulate.Impact{Fidelity: &simulate.Report{Different: 1, First: &simulate.Difference{ID: "12345678-3", Field: "decision"}}}
	both := loosened
	both.Sources = unread.Sources
	for _, c := range []struct {
		name string
		m    simulate.Impact
		code int
		says []string
	}{
		{"fine", fine, cli.ExitOK, nil},
		{"budget", loosened, cli.ExitFindings, []string{"--fail-on loosened>0"}},
		{"unread", unread, cli.ExitFailed, []string{"2 files could not be read"}},
		{"damaged", damaged, cli.ExitFindings, []string{"a log was tampered with or damaged", "1 file could not be read"}},
		{"fidelity", differs, cli.ExitFindings, []string{"12345678-3: decision"}},
		{"budget and unread", both, cli.ExitFindings, []string{"loosened>0", "2 files"}},
		{"nothing read", simulate.Impact{}, cli.ExitFindings, []string{"--fail-on loosened>0: the simulation covers no decisions"}},
		{"nothing compared", unknown, cli.ExitFindings, []string{"could compare none of 3 decisions", "3 decisions could not be compared for lack of one fact: the time of the call", "--since"}},
		{"partial", simulate.Impact{Calls: same, Partial: "interrupted"}, cli.ExitFailed, []string{"incomplete: interrupted"}},
	} {
		var told bytes.Buffer
		a := &cli.App{Streams: term.Streams{Stderr: &told}}
		err := verdictOf(a, []simulate.Budget{budget}, []*simulate.Impact{&c.m})
		code := cli.ExitOK
		if e := (*cli.ExitError)(nil); errors.As(err, &e) {
			code = e.Code
		} else if err != nil {
			code = cli.ExitFailed
		}
		if code != c.code {
			t.Errorf("%s: exit code %d (%v), want %d", c.name, code, err, c.code)
		}
		for _, text := range c.says {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v does not say %q", c.name, err, text)
			}
		}
		if c.name == "unread" && told.String() != "reviewer: a.jsonl:7: torn\n" {
			t.Errorf("told of files: %q", told.String())
		}
	}
}

// Each shard has its own families, in the order in which they are read best.
func TestTake(t *testing.T) {
	set := &sources.Set{Lost: []simulate.Trouble{{Path: "x"}, {Path: "y"}, {Path: "z"}}}
	for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
		set.Families = append(set.Families, sources.Family{Session: name, Sessions: []string{name}, Bytes: int64(i)})
	}
	families, lost := 0, 0
	for i := range 3 {
		r := &comparing{progress: &term.Progress{}}
		r.take(&simulation{portion: selection{shard: &simulate.Shard{Index: i + 1, Of: 3}}}, set)
		var size int64
		for j, f := range r.families {
			if size += f.Bytes; j > 0 && f.Session < r.families[j-1].Session {
				t.Errorf("%s comes after a later one", f.Session)
			}
		}
		if got := r.progress.Total.Load(); got != max(size, 1) {
			t.Errorf("%d bytes to read, want %d", got, size)
		}
		families, lost = families+len(r.families), lost+len(r.lost)
	}
	if families != len(set.Families) || lost != len(set.Lost) {
		t.Errorf("the shards have %d families and %d lost files, want %d and %d", families, lost, len(set.Families), len(set.Lost))
	}
}

// Parts of a report name a secret alike wherever they are made, and nothing but
// the transcript tells which it is.
func TestOwnMAC(t *testing.T) {
	of := func(output string) transcript.Transcript {
		return transcript.Transcript{Session: "s", Events: []engine.Event{{Call: "c"}, {Call: "c", Result: &engine.Result{Output: []byte(output)}}}}
	}
	one, again, other := of(`"one"`), of(`"one"`), of(`"other"`)
	if a, b := ownMAC(one)([]byte("x")), ownMAC(again)([]byte("x")); a != b || len(a) != 64 {
		t.Errorf("the same transcript gives %s and %s", a, b)
	}
	if a, b := ownMAC(one)([]byte("x")), ownMAC(other)([]byte("x")); a == b {
		t.Error("another transcript gives the same")
	}
}

func TestPlainMask(t *testing.T) {
	mask := plainMask()
	got := mask("logs/ghp_0123456789abcdefghijABCDEFGHIJ012345/a.jsonl")
	if got != "logs/REDACTED_github_token_00000000/a.jsonl" || mask("logs/a.jsonl") != "logs/a.jsonl" {
		t.Errorf("masked: %s", got)
	}
}

// Standard input that says nothing more does not keep a run from ending.
func TestUntilDone(t *testing.T) {
	silent, never := io.Pipe()
	defer never.Close()
	ctx, cancel := context.WithCancel(t.Context())
	r := untilDone(ctx, silent)
	cancel()
	if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if b, err := io.ReadAll(untilDone(t.Context(), strings.NewReader("all of it"))); err != nil || string(b) != "all of it" {
		t.Errorf("read %q, %v", b, err)
	}
}

func TestHomesOf(t *testing.T) {
	home := t.TempDir()
	chain := filepath.Join(home, "sessions", "0123")
	for _, dir := range []string{chain, filepath.Join(home, "policies")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(chain, "000001.jsonl")
	got := homesOf([]string{home, chain, file, filepath.Join(home, "sessions", "*", "*.jsonl"), t.TempDir(), "-"})
	if want := []string{home, home, home, home}; !slices.Equal(got, want) {
		t.Errorf("homes %v, want %v", got, want)
	}
}
