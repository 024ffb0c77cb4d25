//go:build bench && unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/act"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/rego"
)

// TestRatios prints what `make bench` promises: ratios of two things measured
// alternating in one run, since absolute times of a shared machine say nothing.
// It fails only where something does not work.
func TestRatios(t *testing.T) {
	debug.SetGCPercent(400) // as main does
	ratio(t, "warm decision of an allowed call / trivial Rego rule (median)", 5, func(t *testing.T) (a, b time.Duration) { return warm(t, true) })
	ratio(t, "warm decision of any call, a third denied / trivial Rego rule (median)", 20, func(t *testing.T) (a, b time.Duration) { return warm(t, false) })
	ratio(t, "all patterns / trivial Rego rule (mean; goal: 10 µs)", 0.27, func(t *testing.T) (a, b time.Duration) { return patternCost(t, false) })
	ratio(t, "all patterns, where each of them runs / trivial Rego rule (mean)", 0.27, func(t *testing.T) (a, b time.Duration) { return patternCost(t, true) })
	ratio(t, "warm decisions with interventions / without (best)", 1.1, interventionCost)
	ratio(t, "warm decision with 1,000 more rules / with 40 more (median)", 1.3, manyRulesWarm)
	ratio(t, "client with a resident process, record written / empty Go process (median)", 2, clientCost)
	clientTail(t)
	ratio(t, "client and resident process, record written / empty Go process (least CPU)", 2, clientWork)
	ratio(t, "hook of the slowest other agent / of Claude Code, resident process (median)", 1.2, agentsCost)
	ratio(t, "cold hook / empty Go process (median)", 12, coldProcess)
	ratio(t, "cold hook / empty Go process (least CPU)", 12, coldWork)
	ratio(t, "reviewer version / empty Go process (median)", 6, versionCost)
	ratio(t, "reviewer version / empty Go process (least CPU)", 6, versionWork)
	otherHooks(t)
	ratio(t, "cold hook / opa eval -b on the same bundle (median)", 1, cold)
	ratio(t, "the rows of the policy indexed, and one of them read / cold hook (median)", 0.05, rowsRead)
	programSize(t)
	ratio(t, "warm call at 10,000 earlier ones / at 10 (median)", 1.5, longSession)
	ratio(t, "policy test --coverage / opa test --coverage, the same Rego tests (median)", 1, policyTests)
	ratio(t, "verify a signed policy without compiling / hash and unpack it (median; goal: 5 ms)", 1.5, verifyBundle)
	suites(t)
	ratio(t, "policy build --skip-tests of 5,000 rules / policy check of them (median)", 1.3, buildMany)
	buildTested(t)
	ratio(t, "verify / raw SHA-256 in memory (processor time, median)", 1/0.6, verify)
	ratio(t, "append, each record on its own / raw SHA-256 of the same bytes (processor time)", 40, appendCost)
}

func ratio(t *testing.T, what string, goal float64, fn func(*testing.T) (a, b time.Duration)) (got float64) {
	t.Run(what, func(t *testing.T) {
		a, b := fn(t)
		got = float64(a) / float64(b)
		fmt.Printf("%-74s %8.2f   (goal: at most %.2f; %s / %s)\n", what, got, goal, a, b)
	})
	return got
}

// turns runs two things alternately and returns the medians of their times.
func turns(n int, a, b func()) (time.Duration, time.Duration) { return turnsBy(timed, n, a, b) }

func turnsBy(measure func(func()) time.Duration, n int, a, b func()) (time.Duration, time.Duration) {
	var as, bs []time.Duration
	for range n {
		as, bs = append(as, measure(a)), append(bs, measure(b))
	}
	return median(as), median(bs)
}

// worked measures the processor time of this process, which other processes hardly change.
func worked(fn func()) time.Duration {
	start := osfile.ProcessTime()
	fn()
	return osfile.ProcessTime() - start
}

func timed(fn func()) time.Duration {
	start := time.Now()
	fn()
	return time.Since(start)
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// recordedInputs returns the recorded session's hook inputs.
func recordedInputs(t *testing.T) [][]byte {
	raw, err := os.ReadFile("../../testdata/hooks/claude-code/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var lines [][]byte
	for s := bufio.NewScanner(bytes.NewReader(raw)); s.Scan(); {
		lines = append(lines, bytes.Clone(s.Bytes()))
	}
	return lines
}

func defaultPolicy(t testing.TB) (*review.Policy, *bundles.Effective) {
	b, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(b)
	if err != nil {
		t.Fatal(err)
	}
	p, err := wiring.Compile(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return p, e
}

// warm compares whole decisions (input, digests, conditions, Rego) over the
// calls of the recorded session with one rule `allow := true` over the same
// input, built and evaluated in the same way. In the recording every third call
// is one that must be denied, which takes longer since it is explained; in daily
// work that is one in some hundreds.
func warm(t *testing.T, allowed bool) (time.Duration, time.Duration) {
	ctx := context.Background()
	p, _ := defaultPolicy(t)
	trivial := trivialRego(t)
	c := &classify.Classifier{World: classify.System{Home: "/home/kim"}, MAC: mustMAC(t)}
	h := history.New()
	h.Workspace = "/srv/shop"
	var records []*engine.Record
	for _, line := range recordedInputs(t) {
		e, err := harness.DecodeClaudeCode("", line, "")
		if err != nil || e.Phase != engine.PhasePre {
			continue
		}
		e.Rows = p.Rows
		facts, err := c.Classify(ctx, e, h.Workspace)
		if err != nil {
			t.Fatal(err)
		}
		rec := engine.NewRecord(e, facts, 1)
		if v, err := p.Review(ctx, rec, h); err != nil {
			t.Fatal(err)
		} else if !allowed || v.Decision.Decision == engine.Allow {
			records = append(records, rec)
		}
	}
	var as, bs []time.Duration
	for _, rec := range slices.Repeat(records, 60) {
		in := history.NewInput(rec, h, p.View)
		var err error
		as = append(as, worked(func() { _, err = p.Review(ctx, rec, h) }))
		if err != nil {
			t.Fatal(err)
		}
		bs = append(bs, worked(func() { _, err = trivial.Decide(ctx, &in, nil) }))
		if err != nil {
			t.Fatal(err)
		}
	}
	return median(as), median(bs)
}

func mustMAC(t testing.TB) func([]byte) string {
	mac, err := cli.PassingMAC()
	if err != nil {
		t.Fatal(err)
	}
	return mac
}

// cold compares a hook process with OPA's own command line on the same bundle
// and the input that the hook's policy sees.
func cold(t *testing.T) (time.Duration, time.Duration) {
	dir := t.TempDir()
	_, opa := builtPrograms(t)
	input, bundle := filepath.Join(dir, "input.json"), filepath.Join(dir, "bundle")
	writeBundle(t, bundle)
	writeInput(t, input)
	return turns(31, unmeasured(coldHook(t)), func() {
		mustRun(t, exec.Command(opa, "eval", "-b", bundle, "-i", input, rego.Entry))
	})
}

// rowsRead compares what a hook spends on rows, next to those of places, with all
// that it does.
func rowsRead(t *testing.T) (time.Duration, time.Duration) {
	dir := t.TempDir()
	reviewer, _ := builtPrograms(t)
	_, e := defaultPolicy(t)
	call := recordedCall(t)
	return turns(31, func() {
		if _, ok, err := classify.NewRows(e.RowLayers()).Program("git"); err != nil || !ok {
			t.Fatal("no row for git", err)
		}
	}, func() {
		hook := exec.Command(reviewer, "hook", "claude-code", "PreToolUse", "--home", filepath.Join(dir, "home"))
		hook.Stdin = strings.NewReader(call)
		mustRun(t, hook)
	})
}

// programSize describes how large the program is, and how much of it are rows.
func programSize(t *testing.T) {
	reviewer, _ := builtPrograms(t)
	program, err := os.Stat(reviewer)
	if err != nil {
		t.Fatal(err)
	}
	_, e := defaultPolicy(t)
	held := 0
	for _, content := range e.Layers[0].Rows {
		held += len(content)
	}
	fmt.Printf("%-74s %8.4f   (%d KB of %d KB)\n", "rows / the program (bytes)", float64(held)/float64(program.Size()), held>>10, program.Size()>>10)
}

// writeBundle writes the policy as it ships: without its tests, which OPA would
// compile too.
func writeBundle(t *testing.T, dir string) {
	_, e := defaultPolicy(t)
	for name, content := range e.Layers[0].Files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func mustRun(t *testing.T, cmd *exec.Cmd) {
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// recordedCall is the first shell command of the recorded session.
func recordedCall(t *testing.T) string {
	for _, line := range recordedInputs(t) {
		if e, err := harness.DecodeClaudeCode("", line, ""); err == nil && e.Phase == engine.PhasePre && e.Tool == "Bash" {
			return string(line)
		}
	}
	t.Fatal("the recording has no shell command")
	return ""
}

func writeInput(t *testing.T, path string) {
	e, err := harness.DecodeClaudeCode("", []byte(recordedCall(t)), "")
	if err != nil {
		t.Fatal(err)
	}
	c := &classify.Classifier{MAC: mustMAC(t)}
	p, _ := defaultPolicy(t)
	e.Rows = p.Rows
	facts, err := c.Classify(context.Background(), e, "/srv/shop")
	if err != nil {
		t.Fatal(err)
	}
	in := history.NewInput(engine.NewRecord(e, facts, 1), history.New(), p.View)
	raw, err := json.Marshal(in)
	if err == nil {
		raw = append(raw[:len(raw)-1], `,"findings":[],"finding":{}}`...)
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// longSession compares a whole warm call (classify, fold, decide, append) in a
// session of 10,000 calls with one in a session of 10.
func longSession(t *testing.T) (time.Duration, time.Duration) {
	long, short := liveSession(t, 10_000), liveSession(t, 10)
	return turnsBy(worked, 201, long, short)
}

// liveSession returns a function that handles one more call of a session with
// n calls behind it. The short one starts again after each ten.
func liveSession(t *testing.T, n int) func() {
	p, _ := defaultPolicy(t)
	dir := t.TempDir()
	store := &audit.Store{Dir: dir, Env: cli.Environment()}
	c := &classify.Classifier{World: classify.System{Home: "/home/kim"}, MAC: mustMAC(t)}
	r := &act.Reviewer{
		Policy: func(string) (*review.Policy, error) { return p, nil }, Classifier: c, Log: asItIs(store),
		Env: cli.Environment(), Clock: act.Clock{Now: func() int64 { return time.Now().UnixMilli() }},
	}
	call := 0
	handle := func() {
		call++
		session := fmt.Sprintf("s%d", 0)
		if n == 10 {
			session = fmt.Sprintf("s%d", call/10)
		}
		args := fmt.Sprintf(`{"command":"grep -n func file%d.go"}`, call%97)
		e := engine.Event{Harness: "bench", Name: "PreToolUse", Phase: engine.PhasePre, Session: session, Call: fmt.Sprint("c", call), Tool: "Bash", CWD: "/srv/shop", Args: json.RawMessage(args)}
		if _, err := r.Handle(context.Background(), e); err != nil {
			t.Fatal(err)
		}
		e.Phase, e.Name, e.Result = engine.PhasePost, "PostToolUse", &engine.Result{Output: json.RawMessage(`"ok"`)}
		if _, err := r.Handle(context.Background(), e); err != nil {
			t.Fatal(err)
		}
	}
	for call < n-n%10 {
		handle()
	}
	if n == 10 {
		call = 1 // the next calls are the second to the tenth of a session
	}
	return handle
}

// verify compares raw SHA-256 over the log's bytes with a verification of it on
// one core: the inverse of the share of SHA-256's speed.
func verify(t *testing.T) (time.Duration, time.Duration) {
	dir := t.TempDir()
	store := &audit.Store{Dir: dir, Env: cli.Environment()}
	fillLog(t, store)
	raw := logBytes(t, dir)
	var vs, ss []time.Duration
	for range 15 {
		vs = append(vs, cpu(func() {
			r, err := store.Verify(context.Background(), audit.Check{Workers: 1, Hashes: true})
			if err != nil || len(r.Problems) > 0 {
				t.Fatal(err, r.Problems)
			}
		}))
		ss = append(ss, cpu(func() { sha256.Sum256(raw) }))
	}
	return median(vs), median(ss)
}

// appendCost compares appending records, each under the session's lock and written before the next
// one, with hashing the bytes that they become.
func appendCost(t *testing.T) (time.Duration, time.Duration) {
	dir := t.TempDir()
	store := &audit.Store{Dir: dir, Env: cli.Environment()}
	key, text := engine.SessionKey{Harness: "bench", Session: "s"}, strings.Repeat("x", 1730)
	add := func(r *engine.Record) error {
		return store.Update(context.Background(), key, func(tail history.Tail) error { return tail.Append(r) })
	}
	if err := add(&engine.Record{Kind: engine.KindOpen, Open: &engine.Open{Workspace: "/srv"}}); err != nil {
		t.Fatal(err)
	}
	took := cpu(func() {
		for range 4000 {
			if err := add(&engine.Record{Kind: engine.KindNote, Note: &engine.Note{What: "filler", Detail: text}}); err != nil {
				t.Fatal(err)
			}
		}
	})
	raw := logBytes(t, dir)
	return took, cpu(func() { sha256.Sum256(raw) })
}

// logBytes are the lines of all sessions in a state directory.
func logBytes(t *testing.T, dir string) []byte {
	var raw []byte
	files, err := filepath.Glob(filepath.Join(dir, "sessions", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, b...)
	}
	return raw
}

// cpu is the processor time of a thing, reading files included: what one core
// has to do, whatever else the machine does.
func cpu(fn func()) time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			return 0
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	fn()
	return used() - before
}

// fillLog writes about 100 MB of lines that are as long as those of the recorded
// session are on average, 2,000 bytes.
func fillLog(t *testing.T, store *audit.Store) {
	text := strings.Repeat("x", 1730)
	for i := range 60 {
		key := engine.SessionKey{Harness: "bench", Session: fmt.Sprint("s", i)}
		err := store.Update(context.Background(), key, func(tail history.Tail) error {
			if err := tail.Append(&engine.Record{Kind: engine.KindOpen, Open: &engine.Open{Workspace: "/srv"}}); err != nil {
				return err
			}
			for range 800 {
				if err := tail.Append(&engine.Record{Kind: engine.KindNote, Note: &engine.Note{What: "filler", Detail: text}}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
