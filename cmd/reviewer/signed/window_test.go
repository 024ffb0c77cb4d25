package signed

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// newAct returns an act with a key of its own.
func newAct(t *testing.T) *Act {
	t.Helper()
	codes := &code.Store{Log: &audit.Store{Dir: t.TempDir()}, Cheap: true}
	secret, err := codes.Set(context.Background(), "kim", nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := codes.Unlock(context.Background(), secret)
	if err != nil {
		t.Fatal(err)
	}
	return &Act{Signer: key, By: "kim", Channel: Terminal}
}

func TestWindow(t *testing.T) {
	const hour = time.Hour
	for _, c := range []struct {
		name       string
		limit      time.Duration
		awake, all time.Duration // that pass
		kept       bool
	}{
		{"at once", hour, 0, 0, true},
		{"a minute before the end", hour, 59 * time.Minute, 59 * time.Minute, true},
		{"at the end", hour, hour, hour, false},
		{"clocks that drift", hour, 30 * time.Minute, 30*time.Minute + time.Second, true},
		{"the machine slept", hour, time.Minute, time.Minute + 10*time.Second, false},
		{"the machine slept until it was over", hour, time.Minute, 2 * hour, false},
		{"the clock was set back", hour, 20 * time.Minute, time.Minute, false},
		{"the code is asked for each time", 0, 0, 0, false},
	} {
		now := Moment{Awake: 5 * hour, All: 9 * hour} // it slept before, too
		w := Window{Limit: c.limit, Clock: func() Moment { return now }}
		act := newAct(t)
		memory := act.Signer.Memory()
		w.Open(act)
		now.Awake, now.All = now.Awake+c.awake, now.All+c.all
		got, why := w.Act()
		if (got == act) != c.kept || (got == nil) == c.kept || c.limit > 0 && (why == "") != c.kept {
			t.Errorf("%s: %v, %q", c.name, got, why)
		}
		wiped := bytes.Equal(memory, make([]byte, len(memory)))
		if c.limit > 0 && wiped == c.kept {
			t.Errorf("%s: wiped is %t", c.name, wiped)
		}
		if w.Wipe(); c.limit > 0 && !bytes.Equal(memory, make([]byte, len(memory))) {
			t.Errorf("%s: the key is still in memory", c.name)
		}
		if got, why := w.Act(); got != nil || why != "" {
			t.Errorf("%s, afterwards: %v, %q", c.name, got, why)
		}
	}
}

// The machine's own clocks agree with each other while it is awake.
func TestNow(t *testing.T) {
	w := Window{Limit: time.Hour, Clock: Now}
	w.Open(newAct(t))
	if act, why := w.Act(); act == nil {
		t.Errorf("the key was wiped: %s", why)
	}
}
