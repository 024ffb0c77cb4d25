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
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// lockedChain is a chain whose lock is held.
type lockedChain struct {
	s      *Store
	c      *chain
	lock   *os.File
	key    engine.SessionKey          // of a session's chain; zero in the ledger
	onOpen func(*engine.Record) error // called when a session's chain was started
	note   *engine.Record             // waits until the chain is open
	wrote  bool                       // a line was written
	must   bool                       // the line has to reach the disk
	made   bool                       // a file was created: its folder has to reach the disk too
	resave bool                       // the snapshot is wrong
	before newest                     // of what is written
	signer Signer                     // of a person's choices; nil: none is signed
}

// refresh updates the state from the disk, and repairs a torn end.
func (h *lockedChain) refresh() error {
	c := h.c
	c.write = true
	mac, err := h.s.mac()
	if err != nil {
		return err
	}
	lost := lastLength{c.state.Chain, c.state.N}
	folded := true
	if h.s.Memory != nil {
		known := false
		c.seen, known, folded = h.s.Memory.last(c.dir)
		c.unheard(known)
	}
	if c.state.Empty() || !c.matchesDisk() {
		c.whole, c.loaded = h.s.Memory != nil && (!folded || c.loaded), true
		c.ends = ""
		found, err := c.load(mac)
		if err == nil && c.watched && !c.whole && c.state.N > c.seen.n { // what a snapshot or a keyframe covers was not seen
			c.whole = true
			found, err = c.load(mac)
		}
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
	h.before = newest{c.state.N, c.end.Head}
	return h.recover(torn, lost)
}

// newest is the number and the hash of a chain's newest line.
type newest struct {
	N    int64
	Head string
}

// forget makes the next user of the chain load it from scratch.
func (c *chain) forget(err error) error {
	c.close()
	c.state, c.end, c.saved = history.New(), end{File: 1}, 0
	return err
}

// recover repairs the traces of a kill or a full disk, and records that in the
// chain.
func (h *lockedChain) recover(torn int64, lost lastLength) error {
	c := h.c
	var what string
	if torn > 0 {
		half := make([]byte, torn)
		if _, err := c.file.ReadAt(half, c.end.Offset); err != nil {
			return fmt.Errorf("read incomplete line: %w", err)
		}
		if err := osfile.Truncate(c.file, c.end.Offset); err != nil {
			return fmt.Errorf("truncate incomplete line: %w", err)
		}
		sum := sha256.Sum256(half)
		what = fmt.Sprintf("an incomplete line of %d bytes, sha256 %s, was removed", torn, hex.EncodeToString(sum[:]))
	}
	if known := c.seen.end(); known > c.state.N && (!c.state.Empty() || c.dir == h.s.ledgerDir()) { // a session's missing chain: checkNew
		return c.forget(c.damage("the log ends at line %d, and line %d was read or reported: lines were removed", c.state.N, known))
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

// checkOwner rejects a folder that was put in the place of this session's.
func (h *lockedChain) checkOwner() error {
	state := h.c.state
	if state.Empty() || state.Session == h.key.Session && state.Harness == h.key.Harness {
		return nil
	}
	return &Damage{File: h.c.path(1), Line: 1, What: "the folder contains the chain of another session"}
}

// append is history.Tail.Append.
func (h *lockedChain) append(r *engine.Record) error {
	c := h.c
	if c.state.Empty() {
		return h.begin(r)
	}
	if r.Kind == engine.KindOpen && r.Open != nil && r.Open.Of == "" {
		return errors.New("append to audit log: the chain is already open")
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
	return h.appendRecord(r)
}

// putState writes a keyframe.
func (h *lockedChain) putState(t int64) error {
	state, err := h.c.state.Encode()
	if err != nil {
		return fmt.Errorf("append to audit log: %w", err)
	}
	return h.appendRecord(&engine.Record{Kind: engine.KindKeyframe, T: t, State: state})
}

// begin writes a chain's first line.
func (h *lockedChain) begin(r *engine.Record) error {
	if err := h.checkNew(); err != nil {
		return err
	}
	if r.Kind != engine.KindOpen {
		return fmt.Errorf("append to audit log: a chain starts with an open record, not with %s", r.Kind)
	}
	id := make([]byte, 16)
	if _, err := io.ReadFull(h.s.random(), id); err != nil {
		return fmt.Errorf("create chain id: %w", err)
	}
	r.Chain = hex.EncodeToString(id)
	h.c.end.Head = engine.ChainSeed(r.Chain)
	if err := h.appendRecord(r); err != nil {
		return err
	}
	if h.onOpen != nil {
		if err := h.onOpen(r); err != nil {
			return err
		}
	}
	if err := h.followLedger(); err != nil {
		return err
	}
	if h.note == nil {
		return nil
	}
	note := h.note
	h.note = nil
	return h.appendRecord(note)
}

// rotate syncs the current file and switches to the next.
func (h *lockedChain) rotate() error {
	c := h.c
	if err := h.syncFile(); err != nil {
		return err
	}
	return h.create(c.end.File + 1)
}

func (h *lockedChain) create(n int) error {
	f, err := osfile.OpenFile(h.c.path(n), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("create audit file: %w", err)
	}
	h.made = true
	return h.c.use(f, n)
}

// appendRecord completes a record, writes its line and folds it.
func (h *lockedChain) appendRecord(r *engine.Record) error {
	c := h.c
	h.complete(r)
	if err := h.sign(r); err != nil {
		return fmt.Errorf("append to audit log: %w", err)
	}
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
	if h.wrote = true; mustSync(r) {
		h.must = true
	}
	c.fold(asRead(r, line), line)
	return nil
}

// complete fills in the fields that only the chain has.
func (h *lockedChain) complete(r *engine.Record) {
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

// mustSync reports whether a record has to reach the disk before anyone relies
// on it.
func mustSync(r *engine.Record) bool {
	return r.Kind == engine.KindSeal || r.Kind == engine.KindStop || r.Kind == engine.KindControl ||
		r.Act != nil && r.Act.Kind == engine.EmergencyStop
}

// asRead returns the record as a reader of the line would see it. Only text
// that is not UTF-8 comes back differently, as an escape that is written for
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

// writeLine writes a line with one write(2). A partial write is undone, so that
// no incomplete line remains.
func (h *lockedChain) writeLine(line []byte) error {
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
	if cut := osfile.Truncate(h.c.file, h.c.end.Offset); cut != nil {
		err = errors.Join(err, cut)
	}
	return fmt.Errorf("append to audit log (is the disk full or read-only?): %w", err)
}

// settle ends a hold: the lock is released before the slow part.
func (h *lockedChain) settle() error {
	h.s.Memory.keep(h.c)
	h.s.Visit.tell(h)
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
func (h *lockedChain) release() {
	h.lock.Close()
	h.c.close()
}

// due reports whether this hold has to sync, and if so claims the sync of this
// second.
func (h *lockedChain) due() (bool, error) {
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

func (h *lockedChain) syncFile() error {
	flush := h.s.flush
	if flush == nil {
		flush = osfile.Sync
	}
	if err := flush(h.c.file); err != nil {
		return fmt.Errorf("sync audit file: %w", err)
	}
	return nil
}

// sync makes the hold's lines, and the name of a new file, reach the disk.
func (h *lockedChain) sync() error {
	if err := h.syncFile(); err != nil {
		return err
	}
	if !h.made {
		return nil
	}
	if err := osfile.SyncDir(filepath.Dir(h.c.file.Name())); err != nil {
		return fmt.Errorf("sync audit folder: %w", err)
	}
	return nil
}

// ledger appends records to the machine's chain. A session's lock may be held:
// the order is session, then ledger, and never a second session.
func (s *Store) ledger(ctx context.Context, records ...*engine.Record) error {
	return s.ledgerSigned(ctx, nil, records...)
}

// ledgerSigned is ledger with the person's signature for choices that need one.
func (s *Store) ledgerSigned(ctx context.Context, signer Signer, records ...*engine.Record) error {
	err := s.updateSigned(ctx, s.ledgerDir(), signer, func(h *lockedChain) error {
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
