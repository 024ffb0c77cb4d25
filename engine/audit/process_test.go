package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// The test binary is its own child: with childVar set it appends records to the
// home of that name, and prints the number of each once it is answered.
const (
	childVar = "AUDIT_TEST_HOME"
	nameVar  = "AUDIT_TEST_NAME"
	countVar = "AUDIT_TEST_COUNT"
	limitVar = "AUDIT_TEST_LIMIT" // bytes that a file may hold, 0: any
)

func TestMain(m *testing.M) {
	if home := os.Getenv(childVar); home != "" {
		os.Exit(child(home))
	}
	os.Exit(m.Run())
}

func child(home string) int {
	count, _ := strconv.Atoi(os.Getenv(countVar))
	if limit, _ := strconv.ParseUint(os.Getenv(limitVar), 10, 64); limit > 0 {
		if err := limitFiles(limit); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	for i := range count {
		s := &Store{Dir: home, Env: testEnv, KeyframeEvery: 16, RotateBytes: 60_000}
		r := pre(fmt.Sprintf("%s-%d", os.Getenv(nameVar), i))
		if err := add(s, testKey, r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(r.Call) // answered: from now on it must not be lost
	}
	return 0
}

func startChild(t *testing.T, out io.Writer, home, name string, count, limit int) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &errs
	cmd.Env = append(os.Environ(), childVar+"="+home, nameVar+"="+name, countVar+"="+strconv.Itoa(count), limitVar+"="+strconv.Itoa(limit))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, &errs
}

// calls counts how often each call is recorded.
func calls(t *testing.T, s *Store) map[string]int {
	t.Helper()
	m := map[string]int{}
	for _, r := range all(t, s, testKey) {
		if r.Kind == engine.KindPre {
			m[r.Call]++
		}
	}
	return m
}

func mustVerify(t *testing.T, s *Store) Report {
	t.Helper()
	report, err := s.Verify(context.Background(), Check{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		t.Errorf("verify: %s", p)
	}
	return report
}

func TestGoroutinesLoseNothing(t *testing.T) {
	s := testStore(t)
	s.KeyframeEvery, s.RotateBytes = 16, 60_000
	other := &Store{Dir: s.Dir, Env: testEnv, Now: s.Now, KeyframeEvery: 16, RotateBytes: 60_000}
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 25 {
				if err := add([]*Store{s, other}[g%2], testKey, pre(fmt.Sprintf("%d-%d", g, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	checkCalls(t, s, 8, 25)
}

func checkCalls(t *testing.T, s *Store, writers, each int) {
	t.Helper()
	m := calls(t, s)
	for g := range writers {
		for i := range each {
			if call := fmt.Sprintf("%d-%d", g, i); m[call] != 1 {
				t.Errorf("call %s is recorded %d times", call, m[call])
			}
		}
	}
	mustVerify(t, s)
	fresh := history.New()
	for _, r := range all(t, s, testKey) {
		fresh.Append(r)
	}
	if got, want := state(t, s, testKey), marshal(t, fresh); got != want {
		t.Errorf("state differs from the refold:\n%s\n%s", got, want)
	}
}

func TestProcessesLoseNothing(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	var cmds []*exec.Cmd
	var errs []*bytes.Buffer
	for g := range 8 {
		cmd, e := startChild(t, io.Discard, home, strconv.Itoa(g), 25, 0)
		cmds, errs = append(cmds, cmd), append(errs, e)
	}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("child %d: %v: %s", i, err, errs[i])
		}
	}
	checkCalls(t, &Store{Dir: home}, 8, 25)
}

// TestKilledProcessesLoseNoAnswer kills writers at any point after their first answer, 20 times.
func TestKilledProcessesLoseNoAnswer(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	s := &Store{Dir: home, Env: testEnv}
	answered := map[string]bool{}
	for round := range 20 {
		from, to, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd, errs := startChild(t, to, home, fmt.Sprint("round", round), 100_000, 0)
		to.Close()
		lines := bufio.NewScanner(from)
		if lines.Scan() {
			answered[lines.Text()] = true
		}
		time.Sleep(time.Duration(round*7) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			answered[lines.Text()] = true
		}
		from.Close()
		cmd.Wait() // an error says only that it was killed
		if errs.Len() > 0 {
			t.Fatalf("round %d: %s", round, errs)
		}
	}
	mustAdd(t, s, testKey, pre("after")) // fixes what the last kill left
	m := calls(t, s)
	for call := range answered {
		if call = strings.TrimSpace(call); strings.HasPrefix(call, "round") && m[call] != 1 {
			t.Errorf("call %s was answered and is recorded %d times", call, m[call])
		}
	}
	if len(answered) < 20 {
		t.Errorf("only %d calls were answered: the test did not reach the appends", len(answered))
	}
	mustVerify(t, s)
}

// TestTornLinesAreRepaired leaves each beginning of a line, as a kill within
// write(2) would.
func TestTornLinesAreRepaired(t *testing.T) {
	for _, fileHeld := range []int{0, 3} {
		for _, keep := range []int{1, 20, 100, 300} {
			s := testStore(t)
			fill(t, s, testKey, fileHeld)
			path := filepath.Join(s.sessionDir(testKey), fileName(1))
			if fileHeld == 0 {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			half := strings.Repeat("h", keep)
			f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			f.WriteString(half)
			f.Close()
			torn, err := s.Verify(context.Background(), Check{})
			if err != nil || len(torn.Problems) == 0 || !strings.Contains(torn.Problems[0].What, "an incomplete line") {
				t.Errorf("verify does not see the torn line: %v, %v", torn.Problems, err)
			}
			mustAdd(t, &Store{Dir: s.Dir, Now: s.Now}, testKey, pre("after"))
			mustVerify(t, s)
			var note *engine.Note
			for _, r := range all(t, s, testKey) {
				if r.Note != nil {
					note = r.Note
				}
			}
			want := fmt.Sprintf("an incomplete line of %d bytes, sha256 %s, was removed", keep, engine.LineHash([]byte(half)))
			if note == nil || note.What != "recovered" || note.Detail != want {
				t.Errorf("note is %+v, want %q", note, want)
			}
		}
	}
}

// TestEndlessLinesAreDamage: nothing that reviewer writes leaves such a line.
func TestEndlessLinesAreDamage(t *testing.T) {
	for _, end := range []string{"", "\n"} {
		s := testStore(t)
		fill(t, s, testKey, 3)
		f, err := os.OpenFile(filepath.Join(s.sessionDir(testKey), fileName(1)), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(strings.Repeat("x", 10*engine.MaxKeyframe) + end)
		f.Close()
		for _, store := range []*Store{s, {Dir: s.Dir, Env: testEnv}} {
			if err := add(store, testKey, pre("x")); err == nil || !strings.Contains(err.Error(), "line 5: line of more than") {
				t.Errorf("error is %v", err)
			}
		}
	}
}

// TestFullDiskLeavesNoHalfLine: the file's size limit stands for the full disk.
func TestFullDiskLeavesNoHalfLine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no limit for the size of files there")
	}
	home := filepath.Join(t.TempDir(), "home")
	var out bytes.Buffer
	cmd, errs := startChild(t, &out, home, "x", 10_000, 10_000)
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(errs.String(), "is the disk full") {
		t.Fatalf("child ended with %v: %s", err, errs)
	}
	s := &Store{Dir: home, Env: testEnv}
	raw, err := os.ReadFile(filepath.Join(s.sessionDir(testKey), fileName(1)))
	if err != nil || !bytes.HasSuffix(raw, []byte("}\n")) {
		t.Fatalf("the file ends in %q (%v)", raw[max(0, len(raw)-20):], err)
	}
	if got, want := len(calls(t, s)), strings.Count(out.String(), "\n"); got != want || want == 0 {
		t.Errorf("%d calls are recorded, %d were answered", got, want)
	}
	mustAdd(t, s, testKey, pre("after"))
	mustVerify(t, s)
}

// TestShortWritesAreUndone lets each write of a long session fail once, at
// several lengths.
func TestShortWritesAreUndone(t *testing.T) {
	s := testStore(t)
	s.KeyframeEvery, s.RotateBytes = 8, 12_000
	var written, failAt int
	failed := false
	s.write = func(f *os.File, b []byte) (int, error) {
		if written++; written == failAt {
			failed = true
			n, _ := f.Write(b[:len(b)*(failAt%5)/5])
			return n, syscall.ENOSPC
		}
		return f.Write(b)
	}
	for i := range 80 {
		written, failAt, failed = 0, i%4, false
		err := add(s, testKey, pre(fmt.Sprint("call", i)))
		if failed != (err != nil) || failed && !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("round %d: a write failed: %v, error %v", i, failed, err)
		}
		if i%3 == 0 {
			s = &Store{Dir: s.Dir, Env: testEnv, Now: s.Now, KeyframeEvery: 8, RotateBytes: 12_000, write: s.write}
		}
	}
	mustVerify(t, s)
}

func TestReadOnlyHomeIsAnError(t *testing.T) {
	s := testStore(t)
	fill(t, s, testKey, 1)
	s.write = func(*os.File, []byte) (int, error) { return 0, syscall.EROFS }
	if err := add(s, testKey, pre("x")); !errors.Is(err, syscall.EROFS) {
		t.Errorf("error is %v", err)
	}
}

func TestTheWaitForTheLockEnds(t *testing.T) {
	s := testStore(t)
	fill(t, s, testKey, 1)
	lock, err := lockDir(context.Background(), s.sessionDir(testKey))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	err = s.Update(ctx, testKey, func(history.Tail) error { t.Error("the lock did not hold"); return nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
	lock.Close()
	mustAdd(t, s, testKey, pre("after")) // the wait that was given up keeps nobody out
}

func TestOneGoroutineWaitsForAnother(t *testing.T) {
	s := testStore(t)
	ctx, cancel := context.WithCancel(context.Background())
	err := s.Update(context.Background(), testKey, func(history.Tail) error {
		cancel()
		return s.Update(ctx, testKey, func(history.Tail) error { return nil })
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
