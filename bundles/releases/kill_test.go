package releases

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

// storeOfChild is where the process that is killed activates without end.
const storeOfChild = "REVIEWER_TEST_STORE"

// TestMain is the process that is killed, where the tests started it as such.
func TestMain(m *testing.M) {
	dir := os.Getenv(storeOfChild)
	if dir == "" {
		os.Exit(m.Run())
	}
	d := Open(dir)
	for {
		if _, err := d.Change(context.Background(), func(s *State) (*Next, error) {
			return nextOf(s, "base", s.Active.Layers["base"].Sequence+1, nil), nil
		}); err != nil {
			os.Stdout.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Stdout.WriteString("one more\n")
	}
}

// A process that is killed while it activates, at any time, leaves a store with a
// whole policy, of which the next activation is made.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	last := int64(0)
	for round := range 12 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), storeOfChild+"="+dir)
		out, err := child.StdoutPipe()
		must(t, err)
		must(t, child.Start())
		lines := bufio.NewScanner(out)
		if !lines.Scan() || lines.Text() != "one more" {
			t.Errorf("the child says %q", lines.Text())
		}
		time.Sleep(time.Duration(round*713%2900) * time.Microsecond)
		must(t, child.Process.Kill())
		_ = child.Wait() // it was killed
		got := holds(t, Open(dir), "base")
		if got <= last {
			t.Errorf("round %d: %d is active, and %d was", round, got, last)
		}
		last = got
		s, err := Open(dir).State()
		if err != nil || len(s.Lost) > 0 || s.Seen.Of("acme/agents", "stable").Sequence < got {
			t.Errorf("round %d: %v, lost %v, seen %+v", round, err, s.Lost, s.Seen)
		}
	}
}
