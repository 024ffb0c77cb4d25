package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// says is a prompt that names a file.
func says(name string) *engine.Record {
	return &engine.Record{Kind: engine.KindPrompt, Phase: engine.PhasePrompt, T: 1, Event: &engine.EventFacts{Goal: &engine.Goal{Names: []string{name}}}}
}

// names lists what people named in the session, as far as it counts.
func names(t *testing.T, s *Store) []string { return stateOfSession(t, s, testKey).Goals.Names }

// Words count only on lines that a hook is known to have written, as far as a process lasts that knows it.
func TestUnheardLines(t *testing.T) {
	lasting := func(s *Store) *Store { return &Store{Dir: s.Dir, Now: s.Now, Memory: &Memory{}} }
	forged := func(t *testing.T, s *Store) {
		forge(t, s, testKey, func(_, r *engine.Record) { p := says("forged"); r.Kind, r.Phase, r.Event = p.Kind, p.Phase, p.Event })
	}
	t.Run("those of the process itself", func(t *testing.T) {
		s, _ := withKey(t)
		mustAdd(t, lasting(s), testKey, says("true"), pre("a"), pre("b"))
		if got := names(t, s); len(got) != 1 {
			t.Errorf("%v counts", got)
		}
	})
	t.Run("appended by another program", func(t *testing.T) {
		s, _ := withKey(t)
		process := lasting(s)
		mustAdd(t, process, testKey, says("true"), pre("a"))
		forged(t, s)
		if got := names(t, s); len(got) != 2 {
			t.Fatalf("the forged line is none: %v", got)
		}
		mustAdd(t, process, testKey, pre("b"))
		if got := names(t, s); len(got) != 0 {
			t.Errorf("%v counts", got)
		}
		mustAdd(t, process, testKey, says("again"))
		if got := names(t, s); len(got) != 1 || got[0] != "again" {
			t.Errorf("%v counts", got)
		}
	})
	t.Run("appended for another store of the process", func(t *testing.T) {
		s, _ := withKey(t)
		process := lasting(s)
		mustAdd(t, process, testKey, says("true"))
		forged(t, s)
		other := &Store{Dir: s.Dir, Now: s.Now, Memory: process.Memory}
		mustAdd(t, other, testKey, pre("b"))
		if got := names(t, s); len(got) != 0 {
			t.Errorf("%v counts", got)
		}
	})
	t.Run("before a snapshot", func(t *testing.T) {
		s, _ := withKey(t)
		process := lasting(s)
		mustAdd(t, process, testKey, says("true"))
		forged(t, s)
		snapshotOf(t, s, func(*history.State) {})
		other := &Store{Dir: s.Dir, Now: s.Now, Memory: process.Memory}
		mustAdd(t, other, testKey, pre("b"))
		if got := names(t, s); len(got) != 0 {
			t.Errorf("%v counts", got)
		}
	})
	t.Run("a result", func(t *testing.T) {
		s, _ := withKey(t)
		process := lasting(s)
		mustAdd(t, process, testKey, pre("a"))
		forge(t, s, testKey, func(_, r *engine.Record) { r.Kind, r.Phase, r.Call = engine.KindPost, engine.PhasePost, "x" })
		mustAdd(t, process, testKey, pre("b"))
		if expired(t, s) != engine.ExpireAll {
			t.Error("the result counts")
		}
	})
	t.Run("before the process began", func(t *testing.T) {
		s, _ := withKey(t)
		mustAdd(t, s, testKey, says("true"), pre("a"))
		mustAdd(t, lasting(s), testKey, says("later"), pre("b"))
		if got := names(t, s); len(got) != 1 || got[0] != "later" || expired(t, s) != engine.ExpireWords {
			t.Errorf("%v counts, %q expired", got, expired(t, s))
		}
	})
	t.Run("nothing to end", func(t *testing.T) {
		s, _ := withKey(t)
		mustAdd(t, s, testKey, pre("a"))
		mustAdd(t, lasting(s), testKey, pre("b"))
		if mode := expired(t, s); mode != "" {
			t.Errorf("%q expired", mode)
		}
	})
	t.Run("by a hook that says so", func(t *testing.T) {
		s, _ := withKey(t)
		process := lasting(s)
		mustAdd(t, process, testKey, pre("a"))
		tell(t, process, hook(t, s, says("true"), pre("b")))
		mustAdd(t, process, testKey, pre("c"))
		if got := names(t, s); len(got) != 1 {
			t.Errorf("%v counts", got)
		}
	})
	t.Run("by hooks that say so in another order", func(t *testing.T) {
		s, _ := withKey(t)
		process := lasting(s)
		mustAdd(t, process, testKey, pre("a"))
		first, second := hook(t, s, says("true")), hook(t, s, pre("b"))
		tell(t, process, second)
		tell(t, process, first)
		mustAdd(t, process, testKey, pre("c"))
		if got := names(t, s); len(got) != 1 {
			t.Errorf("%v counts", got)
		}
	})
	t.Run("by the hook that began the session", func(t *testing.T) {
		s, _ := withKey(t)
		process := lasting(s)
		tell(t, process, hook(t, s, says("true")))
		mustAdd(t, process, testKey, pre("c"))
		if got := names(t, s); len(got) != 1 {
			t.Errorf("%v counts", got)
		}
	})
	t.Run("after a line that a person's program wrote", func(t *testing.T) {
		s, person := withKey(t)
		process := lasting(s)
		mustAdd(t, process, testKey, pre("a"))
		if err := s.Control(context.Background(), testKey, engine.Control{Do: engine.ControlScope, Path: "~/other"}, person); err != nil {
			t.Fatal(err)
		}
		tell(t, process, hook(t, s, says("true")))
		mustAdd(t, process, testKey, pre("c"))
		if got := names(t, s); len(got) != 1 || len(stateOfSession(t, s, testKey).Goals.Scope) != 1 {
			t.Errorf("%v counts", got)
		}
	})
	t.Run("replaced after a hook said so", func(t *testing.T) {
		s, _ := withKey(t)
		process := lasting(s)
		mustAdd(t, process, testKey, pre("a"))
		wrote := hook(t, s, pre("b"))
		rewrite(t, s, s.sessionDir(testKey), func(l []string) []string { return l[:len(l)-2] })
		forged(t, s)
		tell(t, process, wrote)
		mustAdd(t, process, testKey, pre("c"))
		if got := names(t, s); len(got) != 0 {
			t.Errorf("%v counts", got)
		}
	})
	t.Run("cut after a hook said so", func(t *testing.T) {
		s, _ := withKey(t)
		process := lasting(s)
		mustAdd(t, process, testKey, pre("a"))
		tell(t, process, hook(t, s, pre("b")))
		rewrite(t, s, s.sessionDir(testKey), func(l []string) []string { return l[:len(l)-2] })
		refused(t, add(process, testKey, pre("c")), "lines were removed")
	})
	t.Run("before a hook that says so", func(t *testing.T) {
		s, _ := withKey(t)
		process := lasting(s)
		mustAdd(t, process, testKey, pre("a"))
		forged(t, s)
		tell(t, process, hook(t, s, pre("b")))
		mustAdd(t, process, testKey, pre("c"))
		if got := names(t, s); len(got) != 0 {
			t.Errorf("%v counts", got)
		}
	})
	t.Run("after a hook that says so", func(t *testing.T) {
		s, _ := withKey(t)
		process := lasting(s)
		tell(t, process, hook(t, s, says("true")))
		forged(t, s)
		mustAdd(t, process, testKey, pre("c"))
		if got := names(t, s); len(got) != 0 {
			t.Errorf("%v counts", got)
		}
	})
	t.Run("of a hook that finds no process", func(t *testing.T) {
		s, _ := withKey(t)
		mustAdd(t, s, testKey, says("before"), pre("a"))
		alone := &Store{Dir: s.Dir, Now: s.Now, Visit: &Visit{Alone: true}}
		var wrote []Wrote
		alone.Visit.Tell = func(w Wrote) { wrote = append(wrote, w) }
		mustAdd(t, alone, testKey, says("now"))
		mustAdd(t, alone, testKey, pre("b"))
		if got := names(t, s); len(got) != 1 || got[0] != "now" {
			t.Errorf("%v counts", got)
		}
		process := lasting(s)
		tell(t, process, wrote)
		mustAdd(t, process, testKey, pre("c"))
		if got := names(t, s); len(got) != 1 {
			t.Errorf("then %v counts", got)
		}
	})
	t.Run("handed over", func(t *testing.T) {
		s, _ := withKey(t)
		process, next := lasting(s), lasting(s)
		mustAdd(t, process, testKey, says("true"), pre("a"))
		var b bytes.Buffer
		if err := errors.Join(process.Memory.Write(&b), next.Memory.Read(&b)); err != nil {
			t.Fatal(err)
		}
		mustAdd(t, next, testKey, pre("b"))
		if got := names(t, s); len(got) != 1 {
			t.Errorf("%v counts", got)
		}
	})
}

// hook adds records as a process for one event does, and returns what it tells.
func hook(t *testing.T, s *Store, records ...*engine.Record) (wrote []Wrote) {
	t.Helper()
	one := &Store{Dir: s.Dir, Now: s.Now, Visit: &Visit{Tell: func(w Wrote) { wrote = append(wrote, w) }}}
	mustAdd(t, one, testKey, records...)
	return wrote
}

func tell(t *testing.T, process *Store, parts []Wrote) {
	t.Helper()
	for _, w := range parts {
		b, err := json.Marshal(w)
		if err := errors.Join(err, process.Memory.Hear(process.Dir, bytes.NewReader(b))); err != nil {
			t.Fatal(err)
		}
	}
}

// expired returns the mode of the session's latest expiry.
func expired(t *testing.T, s *Store) (mode string) {
	t.Helper()
	for r, err := range s.Verified(Session{Key: testKey, Dir: s.sessionDir(testKey)}) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Control != nil && r.Control.Do == engine.ControlExpire {
			mode = r.Control.Mode
		}
	}
	return mode
}
