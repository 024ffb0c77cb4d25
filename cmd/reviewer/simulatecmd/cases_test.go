package simulatecmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/policycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/transcript"
	"github.com/google/go-cmp/cmp"
)

// transcript is what a transcript tells as a session, read again each time.
func (s *shelf) transcript(t *testing.T, name string) func(string) (simulate.RecordedSession, error) {
	return func(session string) (simulate.RecordedSession, error) {
		f, err := os.Open(name)
		if err != nil {
			return simulate.RecordedSession{}, err
		}
		defer f.Close()
		tr, err := transcript.ReadClaudeCode(f)
		if err == nil && session != "" && session != tr.Session {
			err = errors.New("the session does not exist")
		}
		mac, err2 := cli.PassingMAC()
		if err := errors.Join(err, err2); err != nil {
			return simulate.RecordedSession{}, err
		}
		c := &classify.Classifier{World: classify.System{Home: "/home/kim"}, MAC: mac, Rows: bundles.BuiltInRows()}
		moments := simulate.Transcribe(t.Context(), simulate.Session{ID: tr.Session, Events: tr.Events}, c, cli.Environment(), nil)
		return simulate.RecordedSession{Session: tr.Session, Harness: "claude-code", Format: "claude-code", Events: moments,
			Sources: func() simulate.Sources { return simulate.Sources{} }}, nil
	}
}

func (s *shelf) impact(t *testing.T, open func(string) (simulate.RecordedSession, error), baseline, candidate string) *simulate.Impact {
	t.Helper()
	from, _, err := side(t.Context(), s.App, baseline, s.kept(t))
	if err != nil {
		t.Fatal(err)
	}
	to, _, err := side(t.Context(), s.App, candidate, s.kept(t))
	if err != nil {
		t.Fatal(err)
	}
	session, err := open("")
	if err != nil {
		t.Fatal(err)
	}
	c := &simulate.Comparison{Baseline: from, Candidates: []simulate.Side{to}, Env: cli.Environment()}
	list, err := c.Session(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

const stricter = `
- id: mine.read
  title: No reading
  severity: high
  decision: block
  message: not to be read
  match: {tools: [Read]}
- id: mine.commands
  title: Every command is asked about
  severity: medium
  decision: ask
  message: may it run?
  match: {tools: [Bash]}
- id: mine.watched
  title: Every edit is watched
  severity: medium
  decision: block
  enforcement: observe
  message: only watched
  match: {tools: [Edit]}
`

// Each kind of change becomes a case that `policy test` runs: it holds under the
// candidate, or says why it cannot.
func TestSaveCases(t *testing.T) {
	transcript, err := filepath.Abs("../../../testdata/transcripts/claude-code-shop.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s := newShelf(t)
	s.write(t, "policy/rules/mine/mine.yaml", stricter)
	open := s.transcript(t, transcript)
	m := s.impact(t, open, "default", "policy")
	candidate := s.ref(t, "policy")
	dir := filepath.Join("policy", "cases", "found")
	saved, err := saveCases(t.Context(), s.App, dir, m, open, s.ref(t, "default"), candidate)
	if err != nil {
		t.Fatal(err)
	}
	if len(saved) < 3 || len(saved) > len(m.Kinds) {
		t.Fatalf("%d cases of %d kinds: %v", len(saved), len(m.Kinds), saved)
	}
	if want := filepath.Join(dir, "mine.read-allow-block", "mine.read-allow-block.yaml"); !active.Exists(want) {
		t.Errorf("there is no %s: %v", want, saved)
	}
	holding := s.runCases(t, dir, candidate, len(saved))
	if 2*holding < len(saved) {
		t.Errorf("%d of %d cases hold", holding, len(saved))
	}
	s.savedAgain(t, saved, func() ([]string, error) {
		return saveCases(t.Context(), s.App, dir, m, open, s.ref(t, "default"), candidate)
	})
}

// runCases runs the cases of a folder as `policy test` does, and counts those
// that are expected to hold.
func (s *shelf) runCases(t *testing.T, dir string, candidate *bundles.Effective, want int) int {
	t.Helper()
	subject, err := policycmd.CaseSubject(t.Context(), s.App, dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(subject.Cases) != want || subject.At != "policy" {
		t.Errorf("%d cases of %s, want %d", len(subject.Cases), subject.At, want)
	}
	runner := trial.NewRunner(cli.Environment(), candidate.Layers...)
	holding := 0
	for _, c := range subject.Cases {
		result, err := runner.Run(t.Context(), c)
		if err != nil {
			t.Fatalf("%s: %v", c.File, err)
		}
		if c.Todo == "" {
			holding++
		}
		if (len(result.Failures) == 0) != (c.Todo == "") {
			t.Errorf("%s: todo %q, failures %v", c.File, c.Todo, result.Failures)
		}
		if c.Home != "" && strings.HasPrefix(c.Workspace, "/home/") && !strings.HasPrefix(c.Workspace, c.Home) {
			t.Errorf("%s: home %s, workspace %s", c.File, c.Home, c.Workspace)
		}
	}
	return holding
}

// savedAgain saves what is saved already: the same is left, and another content
// is never overwritten.
func (s *shelf) savedAgain(t *testing.T, saved []string, save func() ([]string, error)) {
	t.Helper()
	again, err := save()
	if err != nil || !cmp.Equal(again, saved) {
		t.Errorf("the second time: %v (%v)", again, err)
	}
	if err := os.Remove(saved[0]); err != nil {
		t.Fatal(err)
	}
	const own = "# my own\n"
	if err := os.WriteFile(saved[1], []byte(own), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := save(); err == nil || !strings.Contains(err.Error(), saved[1]+" already exists with different contents; nothing was written") {
		t.Errorf("over another file: %v", err)
	}
	text, err := os.ReadFile(saved[1])
	if err != nil || string(text) != own || active.Exists(saved[0]) {
		t.Errorf("something was written anyway: %q (%v)", text, err)
	}
}

// What was read before and is gone now, and what cannot be opened, is said.
func TestSaveCasesOfWhatChanged(t *testing.T) {
	s := newShelf(t)
	kind := simulate.Kind{Phase: engine.PhasePre, State: simulate.Tightened, From: engine.Allow, To: engine.Block, Rule: "a",
		Example: simulate.Step{ID: "00000000-7", Session: "s1", To: engine.Block}}
	m := &simulate.Impact{Kinds: []simulate.Kind{kind}}
	empty := func(string) (simulate.RecordedSession, error) {
		return simulate.RecordedSession{Events: func(func(simulate.RecordedEvent, error) bool) {}}, nil
	}
	broken := func(string) (simulate.RecordedSession, error) {
		return simulate.RecordedSession{Events: func(yield func(simulate.RecordedEvent, error) bool) {
			yield(simulate.RecordedEvent{}, fs.ErrPermission)
		}}, nil
	}
	gone := func(string) (simulate.RecordedSession, error) { return simulate.RecordedSession{}, fs.ErrNotExist }
	for name, test := range map[string]struct {
		open func(string) (simulate.RecordedSession, error)
		want string
	}{
		"without the record": {empty, "save cases: session s1: a compared decision no longer exists"},
		"unreadable":         {broken, "permission denied"},
		"gone":               {gone, "file does not exist"},
	} {
		saved, err := saveCases(t.Context(), s.App, "out", m, test.open, nil, s.ref(t, "default"))
		if err == nil || !strings.Contains(err.Error(), test.want) || saved != nil || active.Exists("out") {
			t.Errorf("%s: %v, got %v, want an error with %q", name, saved, err, test.want)
		}
	}
	m.Kinds[0].State, m.Kinds[0].Example.To = simulate.Unknown, ""
	if saved, err := saveCases(t.Context(), s.App, "out", m, gone, nil, s.ref(t, "default")); err != nil || len(saved) != 0 {
		t.Errorf("a change that is not known: %v (%v)", saved, err)
	}
}

// A long session is not told; a call that shows the change alone is.
func TestCasesStayShort(t *testing.T) {
	long := make([]*engine.Record, maxStory+1)
	for i := range long {
		long[i] = &engine.Record{N: int64(i + 1), Kind: engine.KindNote}
	}
	for _, w := range []simulate.Step{{From: engine.Allow, To: engine.Block}, {From: engine.Block, To: engine.Allow}} {
		if got := parts(long, w); len(got) != 1 || len(got[0]) != 1 {
			t.Errorf("%s to %s: %d parts of a session of %d records", w.From, w.To, len(got), len(long))
		}
		if got := parts(long[1:], w); len(got) != 2 {
			t.Errorf("%s to %s: %d parts of a session of %d records", w.From, w.To, len(got), maxStory)
		}
	}
}

func TestCaseNames(t *testing.T) {
	s := caseSaver{names: map[string]bool{}}
	of := func(rule string, from, to engine.Verdict, state simulate.State, phase engine.Phase) simulate.Kind {
		return simulate.Kind{Phase: phase, State: state, From: from, To: to, Rule: rule}
	}
	for _, test := range []struct {
		kind simulate.Kind
		want string
	}{
		{of("git_force_push", "allow", "block", simulate.Tightened, engine.PhasePre), "git_force_push-allow-block"},
		{of("git_force_push", "allow", "block", simulate.Maybe, engine.PhasePre), "git_force_push-allow-block-maybe"},
		{of(simulate.ByScores, "warn", "allow", simulate.Loosened, engine.PhasePre), "scores-warn-allow"},
		{of("mine.orders", "allow", "block", simulate.Tightened, engine.PhasePost), "mine.orders-allow-block-post"},
		{of("../../x y", "allow", "block", simulate.Tightened, engine.PhasePre), ".._.._x_y-allow-block"},
		{of("..:..:x y", "allow", "block", simulate.Tightened, engine.PhasePre), ".._.._x_y-allow-block-2"},
	} {
		if got := s.name(test.kind); got != test.want {
			t.Errorf("%+v: %s, want %s", test.kind, got, test.want)
		}
	}
}

// That a call is stopped shows by the call alone; that it is allowed, only with the
// session before it.
func TestCasesTellEnough(t *testing.T) {
	s := newShelf(t)
	s.write(t, "policy/settings.yaml", "patterns: {enabled: false}\n")
	s.write(t, "policy/rules/mine/mine.yaml", "- id: mine.make\n  title: No make\n  severity: high\n  decision: block\n  message: no\n  match: {commands: [make], phases: [pre]}\n")
	var lines []string
	for i := range 20 {
		call, at := fmt.Sprintf("c%d", i), fmt.Sprintf("2026-03-02T09:00:%02d", i)
		command, failed := "npm test", "true"
		switch {
		case i < 8:
			command, failed = fmt.Sprintf("grep name%d notes.txt", i), "false"
		case i == 19:
			command = "make all"
		}
		lines = append(lines,
			`{"type":"assistant","sessionId":"s1","cwd":"/home/kim/shop","timestamp":"`+at+`.000Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"`+call+`","name":"Bash","input":{"command":"`+command+`"}}]}}`,
			`{"type":"user","sessionId":"s1","cwd":"/home/kim/shop","timestamp":"`+at+`.500Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+call+`","is_error":`+failed+`,"content":"exit code 1: no such test"}]}}`)
	}
	s.write(t, "s1.jsonl", strings.Join(lines, "\n")+"\n")
	open := s.transcript(t, "s1.jsonl")
	m := s.impact(t, open, "default", "policy")
	saved, err := saveCases(t.Context(), s.App, "found", m, open, s.ref(t, "default"), s.ref(t, "policy"))
	if err != nil {
		t.Fatal(err)
	}
	stopped, released := 0, 0
	for _, file := range saved {
		list, err := cases.LoadBelow(os.DirFS("."), filepath.ToSlash(file), "")
		if err != nil {
			t.Fatal(err)
		}
		switch n := len(list[0].Events); {
		case strings.HasPrefix(filepath.Base(file), "mine.make-"):
			stopped++
			if n != 1 {
				t.Errorf("%s tells %d events to show that one call is stopped", file, n)
			}
		default:
			released++
			if n < 3 {
				t.Errorf("%s tells %d events, which the baseline would have allowed", file, n)
			}
			// Whether there is progress is asked of all calls, so that pattern needs them.
			text, err := os.ReadFile(file)
			if err != nil || strings.Contains(string(text), "grep") && !strings.Contains(file, "no_progress") {
				t.Errorf("%s tells calls that the change does not need: %s (%v)", file, text, err)
			}
		}
	}
	if stopped == 0 || released == 0 {
		t.Errorf("of what is stopped %d cases, of what is allowed %d: %v %+v", stopped, released, saved, m.Kinds)
	}
}
