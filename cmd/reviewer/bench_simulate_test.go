//go:build bench && unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/sweep"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
)

// TestSimulateRatios prints what simulating costs. It fails only where something
// does not work.
func TestSimulateRatios(t *testing.T) {
	debug.SetGCPercent(400) // as main does
	b := newSimulateBench(t, 600)
	b.stage()
	b.beside()
	b.faithful()
}

// TestSimulatePolicies prints what a second policy adds.
func TestSimulatePolicies(t *testing.T) {
	debug.SetGCPercent(400) // as main does
	newSimulateBench(t, 600).twoPolicies()
}

// simulateBench is recorded history, in memory.
type simulateBench struct {
	*testing.T
	home      string
	store     *audit.Store
	chains    [][]*engine.Record // in order, one for each session
	decisions int
	policy    *review.Policy
	other     *review.Policy // with one threshold moved
}

func newSimulateBench(t *testing.T, calls int) *simulateBench {
	home := filepath.Join(t.TempDir(), "state")
	b := &simulateBench{T: t, home: home}
	list := keptPolicies(t, home, wiringtest.Effective(t), wiringtest.Edited(t, "data.yaml", "high_threshold: 0.8", "high_threshold: 0.75"))
	b.policy, b.other = list[0], list[1]
	c := newChronicle(t, 5, home, list[:1])
	c.tell(calls)
	b.store = c.store
	sessions, err := b.store.Sessions()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		var chain []*engine.Record
		for r, err := range b.store.Records(s.Key, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if chain = append(chain, r); r.Decision != nil {
				b.decisions++
			}
		}
		b.chains = append(b.chains, chain)
	}
	return b
}

// compare takes all sessions through a comparison, as many at a time as there
// are processors.
func (b *simulateBench) compare(c *simulate.Comparison, moments func(i int) iter.Seq2[simulate.RecordedEvent, error]) {
	b.Helper()
	next := make(chan int)
	errs := make([]error, len(b.chains))
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				first := b.chains[i][0]
				_, errs[i] = c.Session(b.Context(), simulate.RecordedSession{Session: first.Session, Harness: first.Harness, Format: "audit", Audit: true, Events: moments(i)})
			}
		})
	}
	for i := range b.chains {
		next <- i
	}
	close(next)
	workers.Wait()
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
}

func (b *simulateBench) remembered(i int) iter.Seq2[simulate.RecordedEvent, error] {
	return func(yield func(simulate.RecordedEvent, error) bool) {
		for _, r := range b.chains[i] {
			if !yield(simulate.RecordedEvent{Record: r}, nil) {
				return
			}
		}
	}
}

func (b *simulateBench) read(i int) iter.Seq2[simulate.RecordedEvent, error] {
	first := b.chains[i][0]
	return func(yield func(simulate.RecordedEvent, error) bool) {
		for r, err := range b.store.Records(engine.SessionKey{Harness: first.Harness, Session: first.Session}, 0) {
			if !yield(simulate.RecordedEvent{Record: r}, err) {
				return
			}
		}
	}
}

func (b *simulateBench) against(candidate *review.Policy) *simulate.Comparison {
	return &simulate.Comparison{
		Baseline: simulate.Side{Named: simulate.Named{Name: "recorded", Recorded: true}}, Env: cli.Environment(),
		Candidates: []simulate.Side{{Named: simulate.Named{Name: "candidate"}, Policy: candidate}},
	}
}

// stage is deciding alone, from records that are in memory: next to a rule `allow
// := true` over the same inputs, which is what OPA costs at least.
func (b *simulateBench) stage() {
	trivial := trivialRego(b.T)
	inputs := b.inputs()
	us, least := turns(5, func() { b.compare(b.against(b.policy), b.remembered) }, func() {
		b.parallel(len(inputs), func(i int) error {
			_, err := trivial.Decide(b.Context(), &inputs[i], nil)
			return err
		})
	})
	rate := func(d time.Duration) float64 { return float64(b.decisions) / d.Seconds() }
	fmt.Printf("%-74s %8.0f   decisions a second on %d processors (goal: 15000 on 2 free ones; a trivial Rego rule: %.0f)\n",
		"the decision stage, from audit inputs", rate(us), runtime.GOMAXPROCS(0), rate(least))
	fmt.Printf("%-74s %8.2f   (%s / %s)\n", "the decision stage / a trivial Rego rule over the same inputs", float64(us)/float64(least), us, least)
}

// parallel does n things, as many at a time as there are processors.
func (b *simulateBench) parallel(n int, do func(i int) error) {
	b.Helper()
	next := make(chan int)
	errs := make([]error, n)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				errs[i] = do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
}

// inputs are the documents that policy decided on.
func (b *simulateBench) inputs() []engine.Input {
	var all []engine.Input
	for _, chain := range b.chains {
		h := history.New()
		for _, r := range chain {
			if r.Decision != nil {
				all = append(all, history.NewInput(r, h, b.policy.View))
			}
			h.Append(r)
		}
	}
	return all
}

// beside compares the whole path, from the log's bytes to the impact, with two
// others: only scanning the JSON, and OPA over each input's JSON as `opa exec`
// evaluates it.
func (b *simulateBench) beside() {
	raw := b.bytes()
	whole, scan := turns(5, func() { b.compare(b.against(b.policy), b.read) }, func() { b.scan(raw) })
	fmt.Printf("%-74s %8.2f   (%s / %s; %d MB)\n", "simulate, from the log's bytes / json.Valid over the same bytes", float64(whole)/float64(scan), whole, scan, len(raw)>>20)
	whole, decode := processorTurns(3, func() { b.compare(b.against(b.policy), b.read) }, func() { b.decode(raw) })
	fmt.Printf("%-74s %8.2f   (%s / %s)\n", "simulate, from the log's bytes / json.Decoder over them (processor time)", float64(whole)/float64(decode), whole, decode)
	exec := b.opaExec()
	whole, theirs := turns(3, func() { b.compare(b.against(b.policy), b.read) }, exec)
	fmt.Printf("%-74s %8.2f   (goal: below 1; %s / %s)\n", "simulate, from the log's bytes / opa exec over the inputs as JSON", float64(whole)/float64(theirs), whole, theirs)
}

func (b *simulateBench) bytes() []byte {
	var raw []byte
	files, err := filepath.Glob(filepath.Join(b.home, "sessions", "*", "*.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		raw = append(raw, content...)
	}
	return raw
}

func (b *simulateBench) scan(raw []byte) {
	lines := bytes.SplitAfter(raw, []byte("\n"))
	b.parallel(len(lines)-1, func(i int) error {
		if !json.Valid(lines[i]) {
			return errors.New("a line is not JSON")
		}
		return nil
	})
}

func (b *simulateBench) decode(raw []byte) {
	lines := bytes.SplitAfter(raw, []byte("\n"))
	b.parallel(len(lines)-1, func(i int) error {
		var v any
		return json.NewDecoder(bytes.NewReader(lines[i])).Decode(&v)
	})
}

// opaExec evaluates the same Rego over the inputs as `opa exec` does: JSON is
// parsed to a value, the query prepared once, the result made to plain values.
// It has neither history nor conditions to work out: their result is in its
// inputs.
func (b *simulateBench) opaExec() func() {
	query := preparedOPA(b.T)
	var documents [][]byte
	for _, in := range b.inputs() {
		found, err := b.policy.Matcher.Match(b.Context(), &in)
		if err != nil {
			b.Fatal(err)
		}
		documents = append(documents, document(b.T, in, found))
	}
	return func() {
		b.parallel(len(documents), func(i int) error {
			v, err := ast.ValueFromReader(bytes.NewReader(documents[i]))
			if err != nil {
				return err
			}
			rs, err := query.Eval(b.Context(), opa.EvalParsedInput(v))
			if err == nil && len(rs) != 1 {
				err = fmt.Errorf("%d results", len(rs))
			}
			return err
		})
	}
}

// document is the input as Rego sees it.
func document(t *testing.T, in engine.Input, found []engine.Finding) []byte {
	ids, byID := []string{}, map[string]engine.Finding{}
	for _, f := range found {
		ids, byID[f.ID] = append(ids, f.ID), f
	}
	raw, err := json.Marshal(in)
	rest, ferr := json.Marshal(map[string]any{"findings": ids, "finding": byID})
	if err := errors.Join(err, ferr); err != nil {
		t.Fatal(err)
	}
	return slices.Concat(raw[:len(raw)-1], []byte(","), rest[1:])
}

func preparedOPA(t *testing.T) opa.PreparedEvalQuery {
	e := wiringtest.Effective(t)
	options := []func(*opa.Rego){opa.Query(rego.Entry), opa.Store(inmem.NewFromObject(e.Data))}
	for name, text := range e.Modules() {
		options = append(options, opa.Module(name, text))
	}
	query, err := opa.New(options...).PrepareForEval(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return query
}

// twoPolicies compares deciding with two policies over one parsed log with deciding with
// one, in processor time: others use the machine, too.
func (b *simulateBench) twoPolicies() {
	alone := b.against(b.other)
	alone.Baseline = simulate.Side{Named: simulate.Named{Name: "baseline"}, Policy: b.policy}
	var sharing wiring.Sharing
	sharing.Add(b.policy)
	sharing.Add(b.other)
	two := *alone
	two.Event = sharing.Event
	one := b.against(b.policy)
	var both, apart, single []time.Duration
	for range 5 {
		both = append(both, processorTime(func() { b.compare(&two, b.read) }))
		apart = append(apart, processorTime(func() { b.compare(alone, b.read) }))
		single = append(single, processorTime(func() { b.compare(one, b.read) }))
	}
	fmt.Printf("%-74s %8.2f   (goal: below 1.40; each decides alone: %.2f; %s / %s)\n", "simulate with two policies / with one (processor time)",
		float64(median(both))/float64(median(single)), float64(median(apart))/float64(median(single)), median(both), median(single))
}

// processorTurns is turns in the time of processors that this process took.
func processorTurns(n int, a, b func()) (time.Duration, time.Duration) {
	var as, bs []time.Duration
	for range n {
		as, bs = append(as, processorTime(a)), append(bs, processorTime(b))
	}
	return median(as), median(bs)
}

// processorTime returns how much time of processors a function takes, in this process.
func processorTime(fn func()) time.Duration {
	before := processorTimeUsed()
	fn()
	return processorTimeUsed() - before
}

func processorTimeUsed() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it fails only for wrong arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// faithful compares a simulation that checks the recorded decisions with one that does not.
func (b *simulateBench) faithful() {
	one := b.against(b.policy)
	checked := b.against(b.policy)
	checked.Policies = func(digest string) (*review.Policy, error) {
		if digest != b.policy.Digest {
			return nil, fmt.Errorf("the log names policy %s", digest)
		}
		return b.policy, nil
	}
	faithful, plain := turns(5, func() { b.compare(checked, b.read) }, func() { b.compare(one, b.read) })
	fmt.Printf("%-74s %8.2f   (%s / %s)\n", "simulate with the fidelity check / without", float64(faithful)/float64(plain), faithful, plain)
}

// TestSimulateMemory prints how much memory the program holds at most over logs
// of growing length: it must not grow with them. REVIEWER_EVERY=1 takes
// 2,000,000 calls as well, which needs 8 GB of disk.
func TestSimulateMemory(t *testing.T) {
	reviewer := builtReviewer(t)
	sizes := []int{100_000, 400_000}
	if sweep.Every() {
		sizes = append(sizes, 2_000_000)
	}
	for _, calls := range sizes {
		home := filepath.Join(t.TempDir(), "state")
		written := bigLog(t, home, calls)
		start := time.Now()
		peak := peakMemory(t, reviewer, "policy", "simulate", home, "--home", home, "--baseline", "recorded", "--candidate", "../../bundles/default", "-f", "json", "-o", os.DevNull)
		took := time.Since(start)
		fmt.Printf("%-74s %8d   MB at most (goal: 300; %s, %.0f calls a second)\n", fmt.Sprintf("simulate over %d calls", written), peak>>20, took.Round(time.Millisecond), float64(written)/took.Seconds())
		if peak > 300<<20 {
			t.Errorf("%d MB over %d calls", peak>>20, written)
		}
		if err := os.RemoveAll(home); err != nil {
			t.Fatal(err)
		}
	}
}

// builtReviewer makes the program.
func builtReviewer(t *testing.T) string {
	program := filepath.Join(t.TempDir(), "reviewer")
	build := exec.Command("go", "build", "-trimpath", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	mustRun(t, build)
	return program
}

// peakMemory runs a program to its end and returns the most memory that it held,
// in bytes. On Linux, what the system reports at the end includes the memory of this
// process from before the program was loaded, so the program is asked while it runs.
func peakMemory(t *testing.T, name string, args ...string) (peak int64) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v\n%s", err, &said)
			}
			if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && runtime.GOOS != "linux" {
				return usage.Maxrss
			}
			return peak
		case <-time.After(50 * time.Millisecond):
			peak = max(peak, highWater(cmd.Process.Pid))
		}
	}
}

// highWater returns the most memory that a process held so far; 0: the system does not
// say.
func highWater(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kb int64
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		return 0
	}
	return kb << 10
}

// bigLog writes a log of at least so many calls, and returns how many: a few
// sessions as they really are, again and again under other ids, each a chain
// that fits.
func bigLog(t *testing.T, home string, calls int) int {
	t.Helper()
	c := newChronicle(t, 5, home, keptPolicies(t, home, wiringtest.Effective(t)))
	c.tell(2000)
	templates, err := c.store.Sessions()
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	for n := 0; written < calls; n++ {
		s := templates[n%len(templates)]
		if err := retell(home, s, n); err != nil {
			t.Fatal(err)
		}
		written += int(s.Actions)
	}
	return written
}

// retell writes a session once more under an id and a chain of its own. The new
// ids are as long as the old ones, so that no line changes its length.
func retell(home string, s audit.Session, n int) error {
	id := fmt.Sprintf("%0*d", len(s.Key.Session), n)
	sum := sha256.Sum256([]byte(id))
	chain := hex.EncodeToString(sum[:16])
	other := sha256.Sum256([]byte(s.Key.Harness + "\n" + id))
	dir := filepath.Join(home, "sessions", hex.EncodeToString(other[:16]))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(s.Dir, "*.jsonl"))
	prev := engine.ChainSeed(chain)
	for _, f := range files {
		raw, rerr := os.ReadFile(f)
		if err = errors.Join(err, rerr); err != nil {
			return err
		}
		raw = bytes.ReplaceAll(raw, []byte(s.Chain), []byte(chain))
		raw = bytes.ReplaceAll(raw, []byte(s.Key.Session), []byte(id))
		for line := range bytes.Lines(raw) {
			copy(line[len(`{"v":1,"prev":"`):], prev)
			prev = engine.LineHash(line)
		}
		err = os.WriteFile(filepath.Join(dir, filepath.Base(f)), raw, 0o600)
	}
	return err
}
