package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/agent-reviewer/reviewer/engine/await"
)

// TestMain lets the tests start this binary as the helper.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "helper" {
		fmt.Fprintln(os.Stderr, Main(nil))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func shell(t *testing.T, script string) Options {
	t.Helper()
	return Options{Command: []string{"sh", "-c", script}, Dir: t.TempDir(), Env: os.Environ(), Helper: []string{os.Args[0], "helper"}}
}

func started(t *testing.T, o Options) *Run {
	t.Helper()
	r, err := Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// gone asserts that the process whose number a file contains does not run.
func gone(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && !bytes.Contains(text, []byte(") Z")) {
		t.Errorf("process %d runs: %s", pid, text)
	}
}

// A run has the exit code of its command, also if a signal ended it.
func TestExit(t *testing.T) {
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 128 + int(syscall.SIGKILL)} {
		got := started(t, shell(t, script)).Wait()
		if got.Exit != want || got.Result != ResultEnded {
			t.Errorf("%s: %+v, want %d", script, got, want)
		}
	}
}

// What a command used that ended before the first measurement is reported.
func TestBriefUsage(t *testing.T) {
	got := started(t, shell(t, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")).Wait()
	if got.Most < 1 || got.Usage.Peak <= 0 || got.Usage.CPU <= 0 {
		t.Errorf("used: %+v, %d processes", got.Usage, got.Most)
	}
}

// A command that does not exist is an error before anything runs.
func TestNoCommand(t *testing.T) {
	for _, command := range [][]string{nil, {"no-such-program"}, {"./no-such-file"}, {"/"}} {
		o := shell(t, "")
		o.Command = command
		if r, err := Start(context.Background(), o); err == nil {
			t.Errorf("%q ran: %+v", command, r.Wait())
		}
	}
}

// A stop reaches processes that ignore it, that left the process group and the session, and whose parents
// have ended, and it leaves nothing behind.
func TestStop(t *testing.T) {
	o := shell(t, `trap "" TERM
setsid sh -c 'trap "" TERM; echo $$ > left; sleep 1000' &
sh -c 'setsid sh -c "echo \$\$ > orphan; trap \"\" TERM; sleep 1000 & wait" & '
echo $$ > first
while :; do sleep 1; done`)
	o.Grace = 50 * time.Millisecond
	r := started(t, o)
	for _, file := range []string{"left", "orphan", "first"} {
		written(t, filepath.Join(o.Dir, file))
	}
	r.Stop("enough")
	got := r.Wait()
	if got.Result != ResultStopped || got.Reason != "enough" || got.Exit != 128+int(syscall.SIGKILL) || len(got.Stuck) > 0 {
		t.Errorf("%+v", got)
	}
	for _, file := range []string{"left", "orphan", "first"} {
		gone(t, filepath.Join(o.Dir, file))
	}
}

// written waits for a file with a line.
func written(t *testing.T, file string) {
	t.Helper()
	await.Until(t, file+" is written", func() bool {
		raw, err := os.ReadFile(file)
		return err == nil && strings.HasSuffix(string(raw), "\n")
	})
}

// The first reason to end a run is the one that counts.
func TestStopTwice(t *testing.T) {
	r := started(t, shell(t, "sleep 1000"))
	r.Stop("one")
	r.Stop("two")
	if got := r.Wait(); got.Reason != "one" {
		t.Errorf("%+v", got)
	}
}

// What a command leaves running is ended with it and reported, or waited for.
func TestDaemon(t *testing.T) {
	o := shell(t, `sh -c 'setsid sh -c "echo \$\$ > daemon; sleep 1000" &'; until test -s daemon; do sleep 0.01; done; exit 3`)
	got := started(t, o).Wait()
	if got.Exit != 3 || got.Result != ResultEnded || len(got.Leftover) == 0 {
		t.Errorf("%+v", got)
	}
	gone(t, filepath.Join(o.Dir, "daemon"))

	o = shell(t, `setsid sh -c "sleep 0.3; echo done > result" & exit 0`)
	o.Wait = true
	if got := started(t, o).Wait(); got.Exit != 0 || len(got.Leftover) > 0 {
		t.Errorf("%+v", got)
	}
	written(t, filepath.Join(o.Dir, "result"))
}

// Each limit ends a run, and its name and numbers are in the outcome.
func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		limits Limits
		script string
		reason string
	}{
		LimitTime:      {Limits{Time: 300 * time.Millisecond}, "sleep 1000", "more than 300ms"},
		LimitMemory:    {Limits{Memory: 64 << 20}, `exec python3 -c 'import time; b = bytearray(400 << 20); time.sleep(1000)'`, "memory"},
		LimitProcesses: {Limits{Processes: 8}, `sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1000 & done; wait'; exec sleep 1000`, ""},
		LimitWritten:   {Limits{Written: 8 << 20}, `while :; do dd if=/dev/zero of=big bs=1M count=16 conv=fsync 2>/dev/null; done`, "wrote"},
		LimitTokens:    {Limits{Tokens: 10}, "sleep 1000", "the model wrote 11 tokens, more than 10"},
		LimitCost:      {Limits{Cost: 1.5}, "sleep 1000", "the run cost $2.00, more than $1.50"},
	} {
		o := shell(t, c.script)
		o.Limits, o.Interval = c.limits, 20*time.Millisecond
		used := map[string]Tokens{LimitTokens: {Output: 11}, LimitCost: {Cost: 2}}[name]
		o.Review = func(bool) Reviewed { return Reviewed{Usage: used} }
		r := started(t, o)
		held := r.Tree().Ways()
		if name == LimitProcesses && held.Processes != "measured" {
			// The kernel refuses the ninth, which ends the inner shell. The outer one waits, since the count goes with the run.
			await.Until(t, "a process is refused", r.Tree().OutOfProcesses)
			r.Stop("")
			r.Wait()
			continue
		}
		got := r.Wait()
		if got.Result != ResultLimit || got.Limit != name || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s (%+v): %+v", name, held, got)
		}
	}
}

// Limits of single processes hold from the start.
func TestProcessLimits(t *testing.T) {
	o := shell(t, `ulimit -n; ulimit -c; dd if=/dev/zero of=big bs=1M count=8 2>/dev/null; echo $?`)
	o.Limits = Limits{OpenFiles: 64, FileSize: 1 << 20}
	var lines []string
	o.Lines = func(line []byte) { lines = append(lines, string(line)) }
	started(t, o).Wait()
	if len(lines) != 3 || lines[0] != "64" || lines[1] != "0" || lines[2] == "0" {
		t.Errorf("%q", lines)
	}
}

// Output passes through as it is, and its lines are read on the way: none is kept.
func TestOutput(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	o := shell(t, `printf '{"a":1}\n'; head -c 50000000 /dev/zero | tr '\0' 'x'; printf '\n{"b":2}'; echo error >&2`)
	o.Stdout, o.Stderr = out, out
	var lines []string
	o.Lines = func(line []byte) { lines = append(lines, string(line[:min(len(line), 10)])) }
	if got := started(t, o).Wait(); got.Exit != 0 {
		t.Fatalf("%+v", got)
	}
	info, err := out.Stat()
	if err != nil || info.Size() != 8+50000000+1+7+6 {
		t.Errorf("%d bytes (%v)", info.Size(), err)
	}
	if !slices.Equal(lines, []string{`{"a":1}`, `{"b":2}`}) {
		t.Errorf("%q", lines)
	}
}

// A command whose output nobody takes is informed, as without a supervisor.
func TestBrokenOutput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	o := shell(t, `yes`)
	o.Stdout, o.Lines = w, func([]byte) {}
	if got := started(t, o).Wait(); got.Exit != 128+int(syscall.SIGPIPE) {
		t.Errorf("%+v", got)
	}
}

// Events tell what happened, and those of the review come with them; its reason ends the run.
func TestReviewStops(t *testing.T) {
	o := shell(t, "sleep 1000")
	asked := 0
	o.Review = func(last bool) Reviewed {
		asked++
		if last {
			return Reviewed{Events: []Event{{Kind: "seen", Text: "at the end"}}}
		}
		return Reviewed{Stop: "a call was not reviewed"}
	}
	r := started(t, o)
	got := r.Wait()
	var kinds []string
	for e := range r.Events() {
		kinds = append(kinds, e.Kind)
	}
	if got.Result != ResultStopped || got.Reason != "a call was not reviewed" || !slices.Equal(kinds, []string{"started", "stopping", "seen", "ended"}) {
		t.Errorf("%+v, %q, asked %d times", got, kinds, asked)
	}
}

// A command that has a protocol for it is asked to stop by its standard input first, between two lines that others
// write, and then has time to end by itself; one that does not listen is ended anyway.
func TestInterrupt(t *testing.T) {
	for script, want := range map[string]struct {
		exit  int
		lines []string
	}{
		`while read line; do echo "{$line"; case $line in *interrupt*) exit 3;; esac; done`: {3, []string{"{first", "{interrupt"}},
		`read line; echo "{$line"; sleep 1000`:                                              {128 + int(syscall.SIGTERM), []string{"{first"}},
	} {
		from, to, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.WriteString("first\nsecond, and not complete"); err != nil {
			t.Fatal(err)
		}
		o := shell(t, script)
		o.Stdin, o.Interrupt = from, []byte("interrupt")
		first := make(chan struct{})
		var lines []string
		o.Lines = func(line []byte) {
			if lines = append(lines, string(line)); len(lines) == 1 {
				close(first)
			}
		}
		r := started(t, o)
		<-first
		r.Stop("enough")
		if got := r.Wait(); got.Exit != want.exit || got.Result != ResultStopped || !slices.Equal(lines, want.lines) {
			t.Errorf("%s: %+v, %q", script, got, lines)
		}
		to.Close()
		from.Close()
	}
}

// Input passes through as it is, with its end.
func TestInput(t *testing.T) {
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	o := shell(t, "cat; echo; echo '{end'")
	o.Stdin, o.Interrupt = from, []byte("interrupt")
	var lines []string
	o.Lines = func(line []byte) { lines = append(lines, string(line)) }
	r := started(t, o)
	if _, err := to.WriteString("{one\n{two\n{three"); err != nil {
		t.Fatal(err)
	}
	to.Close()
	if got := r.Wait(); got.Exit != 0 || !slices.Equal(lines, []string{"{one", "{two", "{three", "{end"}) {
		t.Errorf("%+v, %q", got, lines)
	}
}

// The end of the context stops the run.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Start(ctx, shell(t, "sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := r.Wait(); got.Result != ResultStopped {
		t.Errorf("%+v", got)
	}
}

// The helper does nothing for people.
func TestHelperAlone(t *testing.T) {
	out, err := exec.Command(os.Args[0], "helper").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not by people") {
		t.Errorf("%v: %s", err, out)
	}
}

// Where reasons to end a run are only reported, one of them does not hide another.
func TestReport(t *testing.T) {
	r, err := Start(t.Context(), Options{Command: []string{"sleep", "1"}, Report: true, Interval: 10 * time.Millisecond, Limits: Limits{Tokens: 5},
		Review: func(bool) Reviewed { return Reviewed{Stop: "the session was stopped", Usage: Tokens{Output: 6}} }})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]int{}
	for e := range r.Events() {
		told[e.Kind]++
	}
	if out := r.Wait(); out.Result != ResultEnded || told[EventStopping] != 1 || told[EventLimit] != 1 {
		t.Errorf("%+v, %v", out, told)
	}
}

// Complete lines are passed on, however they are read, and long ones are left out.
func TestEachLine(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", MaxLine) + `"}`
	text := `{"n":1}` + "\n" + long + "\n" + `{"n":2}` + "\n" + `{"n":`
	var got []string
	n := EachLine(iotest.OneByteReader(strings.NewReader(text[:8])), func(line []byte) { got = append(got, string(line)) })
	n += EachLine(strings.NewReader(text[n:]), func(line []byte) { got = append(got, string(line)) })
	if want := strings.LastIndexByte(text, '\n') + 1; int(n) != want || !slices.Equal(got, []string{`{"n":1}`, `{"n":2}`}) {
		t.Errorf("%d bytes, want %d; %q", n, want, got)
	}
}

// What is said to the command arrives between the lines of its input, never inside one.
func TestSay(t *testing.T) {
	o := shell(t, `while read -r line; do echo "$line" >> got; test "$line" = end && exit 0; done`)
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	o.Stdin, o.Talk = from, true
	r := started(t, o)
	fmt.Fprint(to, "one\nha")
	await.Until(t, "the first line is there, and the second one has begun", func() bool {
		raw, _ := os.ReadFile(filepath.Join(o.Dir, "got"))
		return string(raw) == "one\n"
	})
	for err := r.Say([]byte("said")); err != nil; err = r.Say([]byte("said")) {
		if !errors.Is(err, ErrBusy) {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{"two\nlines", strings.Repeat("x", MaxSaid)} {
		if r.Say([]byte(bad)) == nil {
			t.Errorf("%.10q was accepted", bad)
		}
	}
	fmt.Fprint(to, "lf\nend\n")
	r.Wait()
	if raw, _ := os.ReadFile(filepath.Join(o.Dir, "got")); string(raw) != "one\nsaid\nhalf\nend\n" {
		t.Errorf("the command read %q", raw)
	}
	if err := r.Say([]byte("late")); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// A command that does not read is not waited for.
func TestSayBusy(t *testing.T) {
	o := shell(t, "sleep 60")
	o.Talk = true
	r := started(t, o)
	line := []byte(strings.Repeat("x", MaxSaid-1))
	var err error
	for n := 0; err == nil && n < 1000; n++ {
		err = r.Say(line)
	}
	if !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	r.Stop("enough")
	r.Wait()
}

// A limit that is near is reported once, before it is reached.
func TestNear(t *testing.T) {
	o := shell(t, "exec sleep 60")
	o.Limits.Time, o.NearShare, o.Interval = time.Minute, 0.001, 20*time.Millisecond
	var told []string
	o.Near = func(limit, used, of string) { told = append(told, limit+" "+of) }
	o.Review = func(bool) Reviewed { return Reviewed{Stop: strings.Join(told, "")} } // what was told ends the run
	r := started(t, o)
	if out := r.Wait(); out.Result != ResultStopped || !slices.Equal(told, []string{LimitTime + " 1m0s"}) {
		t.Errorf("%s, %q", out.Result, told)
	}
}
