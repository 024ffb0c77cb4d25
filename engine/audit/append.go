package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// hold is a chain while its lock is held.
type hold struct {
	s      *Store
	c      *chain
	lock   *os.File
	key    engine.SessionKey          // of a session's chain; zero in the ledger
	onOpen func(*engine.Record) error // a session's chain was begun
	note   *engine.Record             // waits until the chain is open
	wrote  bool                       // this hold wrote a line
	must   bool                       // which has to reach the disk
	made   bool                       // a file was made: its folder has to reach the disk too
	resave bool                       // the snapshot is wrong
}

// refresh brings the state up to what is on disk, and mends a torn end.
func (h *hold) refresh() error {
	c := h.c
	c.write = true
	mac, err := h.s.mac()
	if err != nil {
		return err
	}
	lost := seen{c.state.Chain, c.state.N}
	if c.state.Empty() || !c.stands() {
		found, err := c.load(mac)
		if err != nil {
			return c.forget(err)
		}
		if found.n > lost.n {
			lost = found
		}
	}
	torn, err := c.follow()
	if err != nil {
		return c.forget(err)
	}
	return h.recover(torn, lost)
}

// forget makes the next user of the chain begin from scratch.
func (c *chain) forget(err error) error {
	c.close()
	c.state, c.end, c.saved = history.New(), end{File: 1}, 0
	return err
}

// recover mends what a kill or a full disk left, and says so in the chain.
func (h *hold) recover(torn int64, lost seen) error {
	c := h.c
	var what string
	if torn > 0 {
		half := make([]byte, torn)
		if _, err := c.file.ReadAt(half, c.end.Offset); err != nil {
			return fmt.Errorf("read torn line: %w", err)
		}
		if err := c.file.Truncate(c.end.Offset); err != nil {
			return fmt.Errorf("cut torn line off: %w", err)
		}
		sum := sha256.Sum256(half)
		what = fmt.Sprintf("half a line of %d bytes, sha256 %s, was cut off", torn, hex.EncodeToString(sum[:]))
	}
	if lost.n > c.state.N && lost.chain == c.state.Chain {
		h.resave = true
		what = fmt.Sprintf("the chain ends at line %d; line %d was seen before", c.state.N, lost.n)
	}
	if what == "" {
		return nil
	}
	note := &engine.Record{Kind: engine.KindNote, T: h.s.now(), Note: &engine.Note{What: "recovered", Detail: what}}
	if c.state.Empty() {
		h.note = note
		return nil
	}
	return h.append(note)
}

// own refuses a folder that was put in the place of this session's.
func (h *hold) own() error {
	state := h.c.state
	if state.Empty() || state.Session == h.key.Session && state.Harness == h.key.Harness {
		return nil
	}
	return &Damage{File: h.c.path(1), Line: 1, What: "the folder holds the chain of another session"}
}

// append is history.Tail.Append.
func (h *hold) append(r *engine.Record) error {
	c := h.c
	if c.state.Empty() {
		return h.begin(r)
	}
	if r.Kind == engine.KindOpen && r.Open != nil && r.Open.Of == "" {
		return errors.New("append to audit log: the chain is open already")
	}
	if c.end.Offset >= orDefault(h.s.RotateBytes, DefaultRotateBytes) {
		if err := h.rotate(); err != nil {
			return err
		}
	}
	if c.end.Offset == 0 || c.state.N+1-c.end.Keyframe >= orDefault(h.s.KeyframeEvery, DefaultKeyframeEvery) {
		if err := h.putState(max(r.T, c.state.T)); err != nil {
			return err
		}
	}
	return h.put(r)
}

// putState writes a keyframe.
func (h *hold) putState(t int64) error {
	state, err := h.c.state.Encode()
	if err != nil {
		return fmt.Errorf("append to audit log: %w", err)
	}
	return h.put(&engine.Record{Kind: engine.KindKeyframe, T: t, State: state})
}

// begin writes a chain's first line.
func (h *hold) begin(r *engine.Record) error {
	if r.Kind != engine.KindOpen {
		return fmt.Errorf("append to audit log: a chain begins with an open record, not with %s", r.Kind)
	}
	id := make([]byte, 16)
	if _, err := io.ReadFull(h.s.random(), id); err != nil {
		return fmt.Errorf("make chain id: %w", err)
	}
	r.Chain = hex.EncodeToString(id)
	h.c.end.Head = engine.ChainSeed(r.Chain)
	if err := h.put(r); err != nil {
		return err
	}
	if h.onOpen != nil {
		if err := h.onOpen(r); err != nil {
			return err
		}
	}
	if h.note == nil {
		return nil
	}
	note := h.note
	h.note = nil
	return h.put(note)
}

// rotate leaves the current file, synced, for the next.
func (h *hold) rotate() error {
	c := h.c
	if err := h.syncFile(); err != nil {
		return err
	}
	return h.create(c.end.File + 1)
}

func (h *hold) create(n int) error {
	f, err := os.OpenFile(h.c.path(n), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("make audit file: %w", err)
	}
	h.made = true
	return h.c.use(f, n)
}

// put completes a record, writes its line and folds it.
func (h *hold) put(r *engine.Record) error {
	c := h.c
	h.complete(r)
	line, err := engine.EncodeLine(r)
	if err != nil {
		return fmt.Errorf("append to audit log: %w", err)
	}
	if c.file == nil {
		if err := h.create(c.end.File); err != nil {
			return err
		}
	}
	if err := h.writeLine(line); err != nil {
		return err
	}
	if h.wrote = true; lasting(r) {
		h.must = true
	}
	c.fold(asRead(r, line), line)
	return nil
}

// complete fills in what only the chain knows.
func (h *hold) complete(r *engine.Record) {
	state := h.c.state
	r.V, r.Prev, r.N = engine.FormatVersion, h.c.end.Head, state.N+1
	if state.Chain != "" {
		r.Chain = state.Chain
	}
	if r.Session == "" {
		r.Session = h.key.Session
	}
	if r.Harness == "" {
		r.Harness = h.key.Harness
	}
	if r.T < state.T {
		r.Skew, r.T = r.Skew+state.T-r.T, state.T
	}
}

// lasting says that a record has to reach the disk before anybody relies on it.
func lasting(r *engine.Record) bool {
	return r.Kind == engine.KindSeal || r.Kind == engine.KindStop || r.Kind == engine.KindControl ||
		r.Act != nil && r.Act.Kind == engine.EmergencyStop
}

// asRead returns the record as a reader of the line would see it. Only text
// that is no UTF-8 comes back otherwise, as an escape that is written for
// nothing else.
func asRead(r *engine.Record, line []byte) *engine.Record {
	if !bytes.Contains(line, []byte(`\ufffd`)) {
		return r
	}
	if read, err := engine.DecodeLine(line); err == nil {
		return read
	}
	return r
}

// writeLine writes a line with one write(2). What could not be written whole is
// taken back, so that no half line stays.
func (h *hold) writeLine(line []byte) error {
	write := h.s.write
	if write == nil {
		write = (*os.File).Write
	}
	n, err := write(h.c.file, line)
	if err == nil && n == len(line) {
		return nil
	}
	if err == nil {
		err = io.ErrShortWrite
	}
	if cut := h.c.file.Truncate(h.c.end.Offset); cut != nil {
		err = errors.Join(err, cut)
	}
	return fmt.Errorf("append to audit log (is the disk full or read-only?): %w", err)
}

// settle ends a hold: the lock is given back before the slow part.
func (h *hold) settle() error {
	due, err := h.due()
	h.lock.Close()
	if due {
		err = errors.Join(err, h.sync())
	}
	if c := h.c; err == nil && c.end.Offset > 0 && (h.resave || c.state.N-c.saved >= snapshotEvery) {
		if mac, merr := h.s.mac(); merr == nil {
			_ = c.save(mac) // a cache: its absence costs time only
		}
	}
	return err
}

// release is safe to call at any time.
func (h *hold) release() {
	h.lock.Close()
	h.c.close()
}

// due says whether this hold has to sync, and claims the second's sync for it.
func (h *hold) due() (bool, error) {
	if !h.wrote {
		return false, nil
	}
	last, err := lastSync(h.lock)
	if err != nil {
		return false, err
	}
	now := time.Now()
	if h.s.clock != nil {
		now = h.s.clock()
	}
	if age := now.Sub(last); !h.must && h.s.Sync != SyncAlways && age.Abs() < syncEvery {
		return false, nil
	}
	return true, setLastSync(h.lock, now)
}

func (h *hold) syncFile() error {
	flush := h.s.flush
	if flush == nil {
		flush = syncData
	}
	if err := flush(h.c.file); err != nil {
		return fmt.Errorf("sync audit file: %w", err)
	}
	return nil
}

// sync makes the hold's lines, and the name of a new file, reach the disk.
func (h *hold) sync() error {
	if err := h.syncFile(); err != nil {
		return err
	}
	if !h.made {
		return nil
	}
	dir, err := os.Open(filepath.Dir(h.c.file.Name()))
	if err != nil {
		return fmt.Errorf("sync audit folder: %w", err)
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("sync audit folder: %w", err)
	}
	return nil
}

// ledger appends records to the machine's chain. A session's lock may be held:
// the order is session, then ledger, and never a second session.
func (s *Store) ledger(ctx context.Context, records ...*engine.Record) error {
	err := s.update(ctx, s.ledgerDir(), func(h *hold) error {
		if h.c.state.Empty() {
			env := s.Env
			if err := h.append(&engine.Record{Kind: engine.KindOpen, T: s.now(), Open: &engine.Open{Env: &env}}); err != nil {
				return err
			}
		}
		for _, r := range records {
			if err := h.append(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}
