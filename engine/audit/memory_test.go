package audit

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// rewrite replaces the lines of a session's newest file.
func rewrite(t *testing.T, s *Store, dir string, change func(lines []string) []string) {
	t.Helper()
	file := newChain(dir).path(1)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list := change(strings.SplitAfter(strings.TrimSuffix(string(raw), "\n")+"\n", "\n"))
	if err := os.WriteFile(file, []byte(strings.Join(list, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(snapshotPath(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

// keyframe makes a keyframe of a state at the end of a session's chain, or before it a snapshot with a right MAC: a program of
// the same user can read its key.
func keyframe(t *testing.T, s *Store, change func(*history.State)) {
	t.Helper()
	forge(t, s, testKey, func(last, r *engine.Record) {
		h, err := (&Store{Dir: s.Dir}).peek(s.sessionDir(testKey))
		if err != nil {
			t.Fatal(err)
		}
		change(h)
		state, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		r.Kind, r.State = engine.KindKeyframe, state
	})
}

func snapshotOf(t *testing.T, s *Store, change func(*history.State)) {
	t.Helper()
	c := newChain(s.sessionDir(testKey))
	if _, err := c.load(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.follow(); err != nil {
		t.Fatal(err)
	}
	defer c.close()
	change(c.state)
	mac, err := s.mac()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.save(mac); err != nil {
		t.Fatal(err)
	}
}

// broken expects that verifying finds the forgery.
func broken(t *testing.T, s *Store) {
	t.Helper()
	report, err := s.Verify(context.Background(), Check{})
	if err != nil || len(report.Problems) == 0 {
		t.Errorf("verifying finds nothing: %+v, %v", report, err)
	}
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if damage := (*Damage)(nil); !errors.As(err, &damage) || !strings.Contains(damage.What, want) {
		t.Errorf("the error is %v, want damage: %s", err, want)
	}
}

// permitting gives a state a permission that nobody signed.
func permitting(t *testing.T, do string) func(*history.State) {
	return func(h *history.State) {
		h.Lenient = true
		h.Append(&engine.Record{Kind: engine.KindControl, N: h.N, T: h.T, Control: &engine.Control{Do: do, Print: "0123456789abcdef", CWD: "/home/dev/shop", Path: "~/other"}})
		h.Lenient = false
	}
}

func TestForgedCaches(t *testing.T) {
	for _, do := range []string{engine.ControlAllowOnce, engine.ControlAllowSession, engine.ControlScope} {
		for place, put := range map[string]func(*testing.T, *Store, func(*history.State)){"keyframe": keyframe, "snapshot": snapshotOf} {
			t.Run(do+" in a "+place, func(t *testing.T) {
				s, _ := withKey(t)
				mustAdd(t, s, testKey, pre("a"))
				put(t, s, permitting(t, do))
				if place == "keyframe" {
					broken(t, s)
				}
				refused(t, add(&Store{Dir: s.Dir, Now: s.Now}, testKey, pre("b")), "that no person signed")
			})
		}
	}
	t.Run("a stop", func(t *testing.T) {
		s, _ := withKey(t)
		mustAdd(t, s, testKey, pre("a"))
		if err := s.Control(context.Background(), testKey, engine.Control{Do: engine.ControlStop, Reason: "enough"}, nil); err != nil {
			t.Fatal(err)
		}
		snapshotOf(t, s, func(h *history.State) { h.Stop = nil })
		if h := stateOfSession(t, s, testKey); h.Stop == nil {
			t.Error("a snapshot ends a stop")
		}
	})
	t.Run("supervision", func(t *testing.T) {
		s, person := withKey(t)
		mustAdd(t, s, testKey, pre("a"))
		stop, resume := engine.Control{Do: engine.ControlStop, Reason: "enough"}, engine.Control{Do: engine.ControlResume, Mode: engine.ResumeSupervise}
		if err := errors.Join(s.Control(context.Background(), testKey, stop, nil), s.Control(context.Background(), testKey, resume, person)); err != nil {
			t.Fatal(err)
		}
		snapshotOf(t, s, func(h *history.State) { h.Resumed = "" })
		refused(t, add(&Store{Dir: s.Dir, Now: s.Now}, testKey, pre("b")), "lost the conditions")
	})
}

// A process that lasts notices what a process for one event cannot know.
func TestMemory(t *testing.T) {
	lasting := func(s *Store) *Store { return &Store{Dir: s.Dir, Now: s.Now, Memory: &Memory{}} }
	t.Run("a keyframe that forgets a denial", func(t *testing.T) {
		s, _ := withKey(t)
		denied := pre("a")
		denied.Decision.Enforced, denied.Answer.Effect = engine.Block, engine.Block
		mustAdd(t, s, testKey, denied)
		keyframe(t, s, func(h *history.State) { h.Denied, h.DeniedRow = 0, 0 })
		broken(t, s)
		refused(t, add(lasting(s), testKey, pre("b")), "the keyframe is not what follows")
	})
	t.Run("a true keyframe", func(t *testing.T) {
		s, _ := withKey(t)
		fill(t, s, testKey, 3*DefaultKeyframeEvery)
		if report, err := s.Verify(context.Background(), Check{}); err != nil || len(report.Problems) > 0 {
			t.Errorf("verifying a true log: %+v, %v", report, err)
		}
		if err := add(lasting(s), testKey, pre("b")); err != nil {
			t.Error(err)
		}
	})
	t.Run("lines that are cut", func(t *testing.T) {
		s, _ := withKey(t)
		reader := lasting(s)
		mustAdd(t, reader, testKey, pre("a"), pre("b"))
		rewrite(t, s, s.sessionDir(testKey), func(l []string) []string { return l[:len(l)-2] })
		for range 2 {
			refused(t, add(reader, testKey, pre("c")), "lines were removed")
		}
	})
	t.Run("a line that is changed, and those after it", func(t *testing.T) {
		s, _ := withKey(t)
		reader := lasting(s)
		mustAdd(t, reader, testKey, pre("a"), pre("b"))
		rewrite(t, s, s.sessionDir(testKey), func(l []string) []string { return l[:len(l)-2] })
		mustAdd(t, &Store{Dir: s.Dir, Now: s.Now}, testKey, pre("x"), pre("y"), pre("z"))
		for range 2 {
			refused(t, add(reader, testKey, pre("c")), "the log was rewritten")
		}
	})
	t.Run("the ledger moved away", func(t *testing.T) {
		s, _ := withKey(t)
		reader := lasting(s)
		mustAdd(t, reader, testKey, pre("a"))
		if err := os.Rename(s.ledgerDir(), filepath.Join(t.TempDir(), "away")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := add(reader, engine.SessionKey{Harness: "claude-code", Session: "another"}, pre("c")); err == nil {
				t.Error("a session begins although the ledger is gone")
			}
		}
	})
	t.Run("the state folder moved away", func(t *testing.T) {
		s, _ := withKey(t)
		reader := lasting(s)
		mustAdd(t, reader, testKey, pre("a"))
		if err := os.Rename(s.Dir, filepath.Join(t.TempDir(), "away")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := add(reader, testKey, pre("c")); err == nil {
				t.Error("the call is reviewed although the log is gone")
			}
		}
	})
}

// The process that continues knows what the one before it read.
func TestMemoryHandedOver(t *testing.T) {
	s, _ := withKey(t)
	before := &Store{Dir: s.Dir, Now: s.Now, Memory: &Memory{}}
	mustAdd(t, before, testKey, pre("a"), pre("b"))
	var b bytes.Buffer
	after := &Store{Dir: s.Dir, Now: s.Now, Memory: &Memory{}}
	if err := errors.Join(before.Memory.Write(&b), after.Memory.Read(&b)); err != nil {
		t.Fatal(err)
	}
	rewrite(t, s, s.sessionDir(testKey), func(l []string) []string { return l[:len(l)-2] })
	for range 2 {
		refused(t, add(after, testKey, pre("c")), "lines were removed")
	}
}

// A permission for one call is used once, whatever becomes of the log.
func TestUsedOnce(t *testing.T) {
	s, person := withKey(t)
	mustAdd(t, s, testKey, pre("a"))
	key, _ := pre("a").CallKey()
	allow := engine.Control{Do: engine.ControlAllowOnce, Print: key.Print, CWD: key.CWD, By: "anna"}
	if err := s.Control(context.Background(), testKey, allow, person); err != nil {
		t.Fatal(err)
	}
	if h := stateOfSession(t, s, testKey); len(h.Once()) != 1 {
		t.Fatalf("the permission is not there: %+v", h.Allowed)
	}
	mustAdd(t, s, testKey, pre("b"))
	if h := stateOfSession(t, s, testKey); len(h.Once()) != 0 {
		t.Fatalf("the call does not use the permission: %+v", h.Allowed)
	}
	rewrite(t, s, s.sessionDir(testKey), func(l []string) []string { return l[:len(l)-2] })
	if h := stateOfSession(t, s, testKey); len(h.Once()) != 0 {
		t.Errorf("cutting the log brings the permission back: %+v", h.Allowed)
	}
}
