package code

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// The notes of the ledger.
const (
	NoteSet     = "approval_code"         // detail: the digest of the file
	NoteRemoved = "approval_code_removed" // there is no code
	NoteWrong   = "approval_code_wrong"   // detail: why it was refused
)

// Tries is the number of wrong codes that are tolerated within Pause; then all codes are
// refused until Pause has passed since the last one.
const (
	Tries = 5
	Pause = 15 * time.Minute
)

// The reasons why a code is refused.
var (
	ErrNone     = errors.New("no approval code is set")
	ErrWrong    = errors.New("this is not the approval code")
	ErrReplaced = errors.New("the file of the approval code is not the one recorded in the ledger: it was replaced, or the ledger was changed")
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

	passes, memory uint32 // tests use less; 0: those of this package
	mu             sync.Mutex
}

// Set replaces the code with a new one and returns it. It is not stored.
func (s *Store) Set(ctx context.Context) (string, error) {
	code, err := random()
	if err != nil {
		return "", err
	}
	b, err := newFile(code, orElse(s.passes, passes), orElse(s.memory, memory))
	if err != nil {
		return "", err
	}
	// If this process ends in between, the file is not the one that the ledger names, and is refused.
	if err := s.Log.Note(ctx, engine.Note{What: NoteSet, Detail: engine.HexSum(b)}); err != nil {
		return "", err
	}
	return code, s.write(b)
}

// Remove removes the code: answers that need one are refused.
func (s *Store) Remove(ctx context.Context) error {
	if err := os.Remove(s.path()); errors.Is(err, fs.ErrNotExist) {
		return ErrNone
	} else if err != nil {
		return err
	}
	return s.Log.Note(ctx, engine.Note{What: NoteRemoved})
}

// Exists reports whether a code is set. Check also verifies that its file is the right one.
func (s *Store) Exists() (bool, error) {
	_, _, err := s.read()
	if errors.Is(err, ErrNone) {
		return false, nil
	}
	return err == nil, err
}

// Check returns why a code is refused; nil: it is the person's. Codes are checked one at a
// time, so that no more than Tries can be tried.
func (s *Store) Check(ctx context.Context, code string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	known, err := s.ledger()
	if err != nil {
		return err
	}
	if left := known.locked(s.now()); left > 0 {
		return &LockedError{left}
	}
	f, digest, err := s.read()
	if err != nil {
		return err
	}
	if digest != known.digest {
		return s.refused(ctx, ErrReplaced)
	}
	switch same, err := f.matches(code); {
	case err != nil:
		return err
	case !same:
		return s.refused(ctx, ErrWrong)
	}
	return nil
}

// refused records a refusal, without which the code could be tried without a limit.
func (s *Store) refused(ctx context.Context, why error) error {
	if err := s.Log.Note(context.WithoutCancel(ctx), engine.Note{What: NoteWrong, Detail: why.Error()}); err != nil {
		return err
	}
	return why
}

// known contains what the ledger says about the code.
type known struct {
	digest string
	wrong  []int64 // times of the last wrong codes, oldest first
}

// ledger reads the ledger and compares its hashes: a note without its chain proves nothing.
func (s *Store) ledger() (known, error) {
	var k known
	for r, err := range s.Log.VerifiedLedger() {
		if err != nil {
			return k, fmt.Errorf("the ledger cannot be read, so no approval code is accepted: %w", err)
		}
		if r.Note != nil {
			k.add(r)
		}
	}
	return k, nil
}

func (k *known) add(r *engine.Record) {
	switch r.Note.What {
	case NoteSet:
		*k = known{digest: r.Note.Detail}
	case NoteRemoved:
		*k = known{}
	case NoteWrong:
		k.wrong = append(k.wrong[max(0, len(k.wrong)-Tries+1):], r.T)
	}
}

// locked returns how much longer codes are refused. Setting the clock back does not end it.
func (k *known) locked(now int64) time.Duration {
	if len(k.wrong) < Tries {
		return 0
	}
	first, last := k.wrong[0], k.wrong[len(k.wrong)-1]
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

func orElse(v, other uint32) uint32 {
	if v == 0 {
		return other
	}
	return v
}
