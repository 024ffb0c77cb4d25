package code

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// NoteWrong is the note of the ledger about a code that was refused; detail: why.
const NoteWrong = "approval_code_wrong"

// Tries is the number of wrong codes from programs that are tolerated within Pause; then all codes from programs
// are refused until Pause has passed since the last one. A person at a terminal is never locked out.
const (
	Tries = 5
	Pause = 15 * time.Minute
)

// The reasons why a code is refused.
var (
	ErrNone  = errors.New("no approval code is set")
	ErrWrong = errors.New("this is not the approval code")
	ErrSeen  = errors.New("this approval code was in a text that an agent may know, so it signs nothing any more: " +
		"make a new one with `reviewer approvals code`, in a terminal of your own")
)

// LockedError means that there were too many wrong codes.
type LockedError struct{ For time.Duration }

// Error says how long codes are refused.
func (e *LockedError) Error() string {
	return fmt.Sprintf("too many wrong approval codes: all codes are refused for another %s", e.For.Round(time.Second))
}

// Store is the approval code of a state directory.
type Store struct {
	Log *audit.Store
	Now func() int64 // Unix milliseconds; nil: the clock

	// Cheap makes keys that cost nothing to compute: for tests.
	Cheap bool
	mu    sync.Mutex
}

// Set makes a code, and records its key. The code is not stored. old is the key of the code before; nil: there was none.
func (s *Store) Set(ctx context.Context, by string, old *Key) (string, error) {
	code, err := New()
	if err != nil {
		return "", err
	}
	costs := engine.PersonKey{Passes: passes, Memory: memory}
	if s.Cheap {
		costs = engine.PersonKey{Passes: 1, Memory: 8 * threads}
	}
	k, err := fresh(code, costs.Passes, costs.Memory)
	if err != nil {
		return "", err
	}
	defer k.Wipe()
	var signer audit.Signer
	if old != nil {
		signer = old
	}
	if err := s.Log.SetPersonKey(ctx, k.Key(), by, signer); err != nil {
		return "", err
	}
	now, _, err := s.Log.PersonKey()
	if err == nil && (now == nil || *now != k.Key()) {
		err = errors.New("another approval code was made at the same time, and that one counts: run the command again and give it")
	}
	if err != nil {
		return "", err
	}
	return code, nil
}

// Exists reports whether a code is set.
func (s *Store) Exists() (bool, error) {
	k, _, err := s.Log.PersonKey()
	return k != nil, err
}

// Unlock returns the key that a code yields, for a person at a terminal.
func (s *Store) Unlock(ctx context.Context, code string) (*Key, error) {
	seen, err := s.Log.CodeSeen()
	switch {
	case err != nil:
		return nil, err
	case seen:
		return nil, ErrSeen
	}
	return s.UnlockToReplace(ctx, code)
}

// UnlockToReplace is Unlock for signing the key of the next code, which is all that a code that was seen can do.
func (s *Store) UnlockToReplace(ctx context.Context, code string) (*Key, error) {
	k, err := s.key(code)
	if errors.Is(err, ErrWrong) {
		return nil, s.refused(ctx, err)
	}
	return k, err
}

// key returns the key that a code yields.
func (s *Store) key(code string) (*Key, error) {
	known, _, err := s.Log.PersonKey()
	switch {
	case err != nil:
		return nil, err
	case known == nil:
		if err := s.Log.CheckFingerprint(); err != nil {
			return nil, err
		}
		return nil, ErrNone
	}
	return of(code, known)
}

// Verify reports whether a code is the person's, and records nothing.
func (s *Store) Verify(code string) error {
	k, err := s.key(code)
	if err == nil {
		k.Wipe()
	}
	return err
}

// Expose tries a text that an agent may know. If it is the code, the ledger says so from then on, and the code signs
// nothing but its successor.
func (s *Store) Expose(ctx context.Context, text string) (seen bool, err error) {
	k, err := s.key(text)
	if err != nil {
		if errors.Is(err, ErrWrong) || errors.Is(err, ErrNone) || errors.Is(err, audit.ErrOtherKey) {
			err = nil
		}
		return false, err
	}
	defer k.Wipe()
	return true, s.Log.Note(ctx, engine.Note{What: audit.NoteCodeSeen, Detail: k.person.Fingerprint()})
}

// UnlockFor is Unlock for a program: codes are tried one at a time, and no more than Tries.
func (s *Store) UnlockFor(ctx context.Context, code string) (*Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	wrong, err := s.wrong()
	if err != nil {
		return nil, err
	}
	if left := locked(wrong, s.now()); left > 0 {
		return nil, &LockedError{left}
	}
	return s.Unlock(ctx, code)
}

// Announced is the number of sessions at whose start the person is told that a first code was made.
const Announced = 10

// Past is what the ledger has about codes. No other file counts anything, since an agent could write it.
type Past struct {
	First    int64   // when the first code was made, in Unix milliseconds; 0: none was
	By       string  // who made it
	Sessions int     // that began since
	Wrong    []int64 // times of the latest refused codes, oldest first, at most Tries
}

// Past reads the ledger.
func (s *Store) Past() (p Past, err error) {
	for r, err := range s.Log.Ledger() {
		switch {
		case err != nil:
			return p, fmt.Errorf("read the past of approval codes: %w", err)
		case p.First == 0 && r.Control != nil && r.Control.Do == engine.ControlKey && r.Control.Key != nil:
			p.First, p.By = r.T, r.Control.By
		case p.First > 0 && r.Kind == engine.KindOpen && r.Open != nil && r.Open.Of != "":
			p.Sessions++
		case r.Note != nil && r.Note.What == NoteWrong:
			p.Wrong = append(p.Wrong[max(0, len(p.Wrong)-Tries+1):], r.T)
		}
	}
	return p, nil
}

// Guessed reports whether the latest refused codes locked codes from programs during the last day.
func (p Past) Guessed(now int64) bool {
	if len(p.Wrong) < Tries {
		return false
	}
	first, last := p.Wrong[0], p.Wrong[Tries-1]
	return last-first <= Pause.Milliseconds() && now-last < 24*time.Hour.Milliseconds()
}

// AtStart returns what the person is told about codes at the start of a session; empty: nothing. What cannot be read is
// for doctor to report.
func (s *Store) AtStart() string {
	known, _, err := s.Log.PersonKey()
	if err != nil || known == nil {
		return s.AtPrompt()
	}
	p, err := s.Past()
	if err != nil {
		return ""
	}
	var list []string
	if p.Sessions <= Announced {
		list = append(list, fmt.Sprintf("reviewer: the approval code, which signs what you allow, was first made on %s by %s. "+
			"If that was not you, run `reviewer approvals code --lost`. (Shown in %s.)",
			Clock(p.First), p.By, engine.Counted(Announced, "session", "sessions")))
	}
	if p.Guessed(s.now()) {
		list = append(list, fmt.Sprintf("reviewer: %d wrong approval codes were given, the last on %s. "+
			"If that was not you, a program of yours guesses codes.", Tries, Clock(p.Wrong[Tries-1])))
	}
	if seen := s.AtPrompt(); seen != "" {
		list = append(list, seen)
	}
	return strings.Join(list, "\n")
}

// AtPrompt returns what the person is told whenever they write to an agent; empty: nothing.
func (s *Store) AtPrompt() string {
	known, _, err := s.Log.PersonKey()
	if err == nil && known == nil && s.Log.Fingerprint != "" {
		return "reviewer: the ledger does not have the key of the approval code that this hook was given. It was replaced or removed, or the " +
			"settings are those of another machine: run `reviewer doctor code`. Calls are reviewed; nothing that was allowed counts."
	}
	if seen, err := s.Log.CodeSeen(); err != nil || !seen {
		return ""
	}
	return "reviewer: " + ErrSeen.Error()
}

// Clock writes a time for people.
func Clock(t int64) string { return time.UnixMilli(t).Format("2006-01-02 15:04") }

// refused records a refusal, without which the code could be tried without a limit.
func (s *Store) refused(ctx context.Context, why error) error {
	if err := s.Log.Note(context.WithoutCancel(ctx), engine.Note{What: NoteWrong, Detail: why.Error()}); err != nil {
		return err
	}
	return why
}

// wrong returns the times of the last wrong codes, oldest first. It compares the ledger's hashes: a note without
// its chain proves nothing.
func (s *Store) wrong() ([]int64, error) {
	var list []int64
	for r, err := range s.Log.VerifiedLedger() {
		if err != nil {
			return nil, fmt.Errorf("the ledger cannot be read, so no approval code is accepted: %w", err)
		}
		if r.Note != nil && r.Note.What == NoteWrong {
			list = append(list[max(0, len(list)-Tries+1):], r.T)
		}
	}
	return list, nil
}

// locked returns how much longer codes are refused. Setting the clock back does not end it.
func locked(wrong []int64, now int64) time.Duration {
	if len(wrong) < Tries {
		return 0
	}
	first, last := wrong[0], wrong[len(wrong)-1]
	if last-first > Pause.Milliseconds() {
		return 0
	}
	return max(0, Pause-time.Duration(now-last)*time.Millisecond)
}

func (s *Store) now() int64 {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now().UnixMilli()
}
