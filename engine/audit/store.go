package audit

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Defaults of a Store's limits.
const (
	DefaultKeyframeEvery = 256     // records, from the record format: replay costs at most 255 folds
	DefaultRotateBytes   = 4 << 20 // a file is read in about 3 ms when no snapshot is left
	DefaultBudgetBytes   = 1 << 30
	DefaultRetainDays    = 30 // audit.retain_days of the settings
	DefaultIncidentDays  = 30 // interventions.preserve_incident_data_days of the settings
)

// SyncAlways as Store.Sync makes each Update reach the disk before it returns.
const SyncAlways = "always"

const (
	snapshotEvery = 16 // records: what a cold process folds at most when snapshots are kept
	maxChains     = 64 // chains whose state one process keeps in memory
	syncEvery     = time.Second
)

// Store is the log under one state directory. Zero limits mean the defaults. It is
// safe for concurrent use by goroutines and by processes.
type Store struct {
	Dir           string                        // state directory; created with mode 0700
	Env           engine.Env                    // spelled out in the ledger's open record
	KeyframeEvery int64                         // records from one keyframe to the next; 0: DefaultKeyframeEvery
	RotateBytes   int64                         // size at which a file is followed by another; 0: DefaultRotateBytes
	BudgetBytes   int64                         // total size above which the oldest files are deleted; 0: DefaultBudgetBytes
	RetainDays    int                           // days after which a file is deleted; 0: DefaultRetainDays
	IncidentDays  int                           // days after a stop by policy for which all files of the session are kept; 0: DefaultIncidentDays
	Keep          bool                          // nothing is deleted: the retention time is unknown
	Sync          string                        // SyncAlways, or anything else: at seals, at stops, and every second
	SealKey       string                        // file with an ed25519 private key (PKCS #8, PEM) that signs seals; empty: no signatures
	Fingerprint   string                        // of the person's key, as the hook has it: only keys that follow from it count; empty: the first
	Memory        *Memory                       // of a process that lasts; nil: it reads a chain for one event
	Visit         *Visit                        // of a process that answers one event; nil: nobody learns what it writes
	Policy        func(workspace string) string // digest of the active policy, for signatures; nil: it is left out
	Random        io.Reader                     // of chain ids and the MAC key; nil: crypto/rand
	Now           func() int64                  // Unix milliseconds of the store's own records; nil: the clock

	write  func(*os.File, []byte) (int, error) // tests let it fail; nil: one write(2)
	flush  func(*os.File) error                // tests count it; nil: osfile.Sync
	clock  func() time.Time                    // tests stop it; nil: time.Now
	mu     sync.Mutex
	chains map[string]*chain
	person *choices // as last read
	spoken *spoken  // as last read
	key    []byte
}

// ErrNoSession means that there is no record of a session with the given name.
var ErrNoSession = errors.New("no such session is recorded")

// Damage is the error for a broken chain. Only that chain's session is denied.
type Damage struct {
	File  string // path
	Line  int64  // in the file, from 1; 0: the file as a whole
	What  string
	Newer bool // the file is not damaged: a newer version wrote it
}

// damaged is the error about a line that cannot be read.
func damaged(file string, line int64, err error) *Damage {
	var newer engine.NewerFormat
	return &Damage{File: file, Line: line, What: err.Error(), Newer: errors.As(err, &newer)}
}

// Error states the place, and what a person can do.
func (d *Damage) Error() string {
	place := d.File
	if d.Line > 0 {
		place += fmt.Sprintf(" line %d", d.Line)
	}
	if d.Newer {
		return fmt.Sprintf("audit log %s: %s", place, d.What)
	}
	return fmt.Sprintf("audit log %s: %s (`reviewer audit verify` shows details; "+
		"restore the file, or begin a new session)", place, d.What)
}

// Update calls fn under the session's lock with the chain's end. The wait for
// the lock ends with ctx. Where the session has no chain, the first record that
// fn appends must be its open record.
func (s *Store) Update(ctx context.Context, key engine.SessionKey, fn func(history.Tail) error) error {
	var opened bool
	err := s.update(ctx, s.sessionDir(key), func(h *lockedChain) error {
		h.key, h.onOpen = key, func(r *engine.Record) error {
			opened = true
			return s.noteOpened(ctx, r)
		}
		if err := errors.Join(h.checkOwner(), s.repairOpen(ctx, h.c), h.followLedger()); err != nil {
			return err
		}
		return fn(history.Tail{History: h.c.state, Read: h.c.read, Before: h.c.before, Append: func(r *engine.Record) error {
			once := h.c.state.Once()
			err := errors.Join(h.append(r), s.noteUsed(ctx, h, once), s.notePrompts(ctx, r))
			if err != nil || r.Act == nil || r.Act.Kind != engine.EmergencyStop || r.Act.Of == "" {
				return err
			}
			return s.noteStopped(ctx, r)
		}})
	})
	if opened {
		s.retain(ctx, key)
	}
	return err
}

// Workspace reads one line: the chain's first on disk, without the lock.
func (s *Store) Workspace(key engine.SessionKey) (workspace string, began int64, err error) {
	rec, err := firstRecord(s.sessionDir(key))
	switch {
	case errors.Is(err, os.ErrNotExist) || errors.Is(err, io.EOF):
		return "", 0, nil
	case err != nil:
		return "", 0, err
	}
	workspace, began = openingOf(rec)
	return workspace, began, nil
}

func openingOf(r *engine.Record) (workspace string, began int64) {
	if r.Open != nil {
		return r.Open.Workspace, r.T
	}
	if state := stateOf(r); state != nil {
		return state.Workspace, state.Started
	}
	return "", 0
}

// update runs fn while this goroutine has exclusive use of the chain among all
// processes.
func (s *Store) update(ctx context.Context, dir string, fn func(*lockedChain) error) error {
	return s.updateSigned(ctx, dir, nil, fn)
}

// updateSigned is update with the person's signature for choices that need one.
func (s *Store) updateSigned(ctx context.Context, dir string, signer Signer, fn func(*lockedChain) error) error {
	if err := s.prepare(); err != nil {
		return err
	}
	c := s.chain(dir)
	select {
	case c.busy <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("wait for the audit log: %w", context.Cause(ctx))
	}
	defer func() { <-c.busy }()
	lock, err := lockDir(ctx, dir)
	if err != nil {
		return err
	}
	h := &lockedChain{s: s, c: c, lock: lock, signer: signer}
	defer h.release()
	if err = h.refresh(); err == nil {
		err = fn(h)
	}
	return errors.Join(err, h.settle())
}

// chain returns the process's view of the chain in a folder.
func (s *Store) chain(dir string) *chain {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.chains[dir]; c != nil {
		return c
	}
	if s.chains == nil || len(s.chains) >= maxChains {
		s.chains = map[string]*chain{} // those in use go on under their file's lock
	}
	c := newChain(dir)
	s.chains[dir] = c
	return c
}

func (s *Store) sessionDir(key engine.SessionKey) string {
	return filepath.Join(s.sessionsDir(), dirName(key))
}

// dirName returns the name of a session's folder: short, and safe for any ids.
func dirName(key engine.SessionKey) string {
	sum := sha256.Sum256([]byte(key.Harness + "\n" + key.Session))
	return hex.EncodeToString(sum[:16])
}

func (s *Store) sessionsDir() string { return filepath.Join(s.Dir, "sessions") }
func (s *Store) ledgerDir() string   { return filepath.Join(s.Dir, "ledger") }

func (s *Store) random() io.Reader {
	if s.Random == nil {
		return rand.Reader
	}
	return s.Random
}

func (s *Store) now() int64 {
	if s.Now == nil {
		return time.Now().UnixMilli()
	}
	return s.Now()
}

func orDefault[T int | int64](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}
