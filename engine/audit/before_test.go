package audit

import (
	"context"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/google/go-cmp/cmp"
)

// TestBefore: the state before a record is the one that the chain had then, wherever keyframes
// are and however many files there are.
func TestBefore(t *testing.T) {
	s := testStore(t)
	s.KeyframeEvery, s.RotateBytes = 7, 6000
	key := named("s")
	was := map[int64]string{1: encoded(t, history.New())}
	for _, call := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
		mustAdd(t, s, key, pre(call))
		tail(t, s, key, func(tail history.Tail) { was[tail.History.N+1] = encoded(t, tail.History) })
	}
	for _, reader := range []*Store{s, {Dir: s.Dir, Env: testEnv, Now: s.Now}} {
		tail(t, reader, key, func(tail history.Tail) {
			for n, want := range was {
				if n > tail.History.N {
					continue
				}
				got, err := tail.Before(n)
				if err != nil {
					t.Fatalf("before %d: %v", n, err)
				}
				if d := cmp.Diff(want, encoded(t, got)); d != "" {
					t.Errorf("before %d: %s", n, d)
				}
			}
			for _, n := range []int64{-1, 0, tail.History.N + 1} {
				if _, err := tail.Before(n); err == nil {
					t.Errorf("before %d there is a state", n)
				}
			}
		})
	}
}

func tail(t *testing.T, s *Store, key engine.SessionKey, fn func(history.Tail)) {
	t.Helper()
	if err := s.Update(context.Background(), key, func(tail history.Tail) error { fn(tail); return nil }); err != nil {
		t.Fatal(err)
	}
}

func encoded(t *testing.T, h *history.State) string {
	t.Helper()
	raw, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
