package checkpoint

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

const createOnly = os.O_WRONLY | os.O_CREATE | os.O_TRUNC

// FormatVersion is the version of the store's files.
const FormatVersion = 1

// Checkpoint is one state of the workspace: a line of the journal, which begins with the
// hash of its JSON.
type Checkpoint struct {
	V    int    `json:"v"`
	Prev string `json:"prev"` // hash of the previous line; for the first: of the store's id
	N    int64  `json:"n"`    // number, from 1
	ID   string `json:"id"`   // first 8 digits of the store's id, and the number
	T    int64  `json:"t"`    // Unix milliseconds

	When    When   `json:"when"`
	By      By     `json:"by"`                // who made the changes since the checkpoint before
	Session string `json:"session,omitempty"` // the session whose call it was taken for
	Call    string `json:"call,omitempty"`

	List    string `json:"list,omitempty"` // digest of the list of changed paths
	Changed int    `json:"changed"`        // paths in the list
	Files   int    `json:"files"`          // files and links in the workspace
	Bytes   int64  `json:"bytes"`          // of these
	Stored  int64  `json:"stored"`         // number of bytes by which the store grew

	Left    []Left `json:"left,omitempty"`     // paths that are not stored, at most maxLeft
	LeftAll int    `json:"left_all,omitempty"` // total number of such paths
	Git     []Git  `json:"git,omitempty"`      // state of the repositories
	Save    *Saved `json:"save,omitempty"`     // what of it is kept for a call that destroys files; nil: nothing

	hash Digest
}

// When is the occasion of a checkpoint.
type When string

// The occasions.
const (
	BeforeCall    When = "before_call"
	AfterCall     When = "after_call"
	BeforeRestore When = "before_restore"
	AfterRestore  When = "after_restore"
	ByHand        When = "by_hand"
)

// By is who made the changes since the previous checkpoint.
type By string

// Who changes files.
const (
	BySession  By = "session"  // the call that the checkpoint was taken after
	ByOthers   By = "others"   // a person, another program, another session
	ByReviewer By = "reviewer" // files were restored
)

// maxLeft limits the paths that a line names as not stored.
const maxLeft = 20

func (s *Store) journalFile() string { return filepath.Join(s.dir, "journal") }

func (s *Store) seed() Digest { return sha256.Sum256([]byte("reviewer checkpoints v1\n" + s.id)) }

// head returns the newest checkpoint, or nil. A line that was cut off while it was
// written is removed: nothing refers to it yet. The lock must be held.
func (s *Store) head() (*Checkpoint, error) {
	f, err := osfile.OpenFile(s.journalFile(), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	line, end, err := lastLine(f, info.Size())
	if err != nil {
		return nil, err
	}
	if end < info.Size() {
		if err := osfile.Truncate(f, end); err != nil {
			return nil, err
		}
	}
	if line == nil {
		return nil, nil
	}
	return decodeCheckpoint(line)
}

// lastLine returns the last whole line of a file, and where it ends.
func lastLine(f io.ReaderAt, size int64) (line []byte, end int64, err error) {
	for n := int64(1 << 14); ; n *= 4 {
		n = min(n, size)
		b := make([]byte, n)
		if _, err := f.ReadAt(b, size-n); err != nil && err != io.EOF {
			return nil, 0, err
		}
		last := bytes.LastIndexByte(b, '\n')
		if last >= 0 {
			if before := bytes.LastIndexByte(b[:last], '\n'); before >= 0 || n == size {
				return b[before+1 : last+1], size - n + int64(last) + 1, nil
			}
		}
		if n == size {
			return nil, 0, nil
		}
	}
}

func decodeCheckpoint(line []byte) (*Checkpoint, error) {
	var c Checkpoint
	sum, text, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	if c.hash = sha256.Sum256(text); string(sum) != c.hash.String() {
		return nil, fmt.Errorf("%w: the hash of a line of the journal does not match", ErrDamaged)
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("%w: line of the journal: %w", ErrDamaged, err)
	}
	if c.V > FormatVersion {
		return nil, fmt.Errorf("checkpoint %s was written by a newer reviewer (format %d, this one reads up to %d); install that version again",
			c.ID, c.V, FormatVersion)
	}
	if c.V != FormatVersion {
		return nil, fmt.Errorf("checkpoint %s has format version %d; this reviewer reads %d", c.ID, c.V, FormatVersion)
	}
	return &c, nil
}

// append adds a checkpoint to the journal.
func (s *Store) append(c *Checkpoint, head *Checkpoint) error {
	c.V, c.N, c.Prev = FormatVersion, 1, s.seed().String()
	if head != nil {
		c.N, c.Prev = head.N+1, head.hash.String()
	}
	c.ID = s.id[:8] + "-" + strconv.FormatInt(c.N, 10)
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	c.hash = sha256.Sum256(text)
	line := fmt.Appendf(nil, "%s %s\n", c.hash, text)
	f, err := osfile.OpenFile(s.journalFile(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// journal calls fn for each checkpoint from the first on, and checks that each
// line has the hash of the line before.
func (s *Store) journal(fn func(*Checkpoint) error) error {
	f, err := osfile.Open(s.journalFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, 1<<16)
	prev := s.seed()
	for n := int64(1); ; n++ {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			if len(line) > 0 && (isWhole(line) || isWhole(line[:len(line)-1])) {
				return fmt.Errorf("%w: line %d of the journal has no end", ErrDamaged, n)
			}
			return nil // the line was cut off while it was written
		}
		if err != nil {
			return err
		}
		c, err := decodeCheckpoint(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if c.Prev != prev.String() || c.N != n {
			return fmt.Errorf("%w: line %d of the journal does not follow the line before", ErrDamaged, n)
		}
		prev = c.hash
		if err := fn(c); err != nil {
			return err
		}
	}
}

func isWhole(line []byte) bool {
	_, err := decodeCheckpoint(line)
	return err == nil
}

// List returns all checkpoints, the oldest first.
func (s *Store) List() ([]Checkpoint, error) {
	var list []Checkpoint
	err := s.journal(func(c *Checkpoint) error {
		list = append(list, *c)
		return nil
	})
	return list, err
}

// Find returns the checkpoint that an id names: its id, its number, or "latest".
func (s *Store) Find(id string) (Checkpoint, error) {
	list, err := s.List()
	if err != nil {
		return Checkpoint{}, err
	}
	for i := range list {
		if c := &list[i]; c.ID == id || strconv.FormatInt(c.N, 10) == id || id == "latest" && i == len(list)-1 {
			return *c, nil
		}
	}
	return Checkpoint{}, &NoCheckpoint{ID: id}
}

// NoCheckpoint means that no checkpoint has an id.
type NoCheckpoint struct{ ID string }

func (e *NoCheckpoint) Error() string { return "there is no checkpoint " + strings.TrimSpace(e.ID) }

// Expired means that the contents of a checkpoint are no longer kept.
type Expired struct{ ID string }

func (e *Expired) Error() string {
	return "checkpoint " + e.ID + " has expired: its contents are no longer stored"
}

// base is the oldest state that is kept: the lists of earlier checkpoints were removed.
type base struct {
	N    int64  `json:"n"`
	List string `json:"list"` // digest of the list of all paths
}

func (s *Store) baseFile() string { return filepath.Join(s.dir, "base") }

func (s *Store) base() (b base, err error) {
	raw, err := osfile.ReadFile(s.baseFile())
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &b)
	}
	return b, err
}

// Oldest returns the number of the oldest checkpoint that can be restored; 0: there is none.
func (s *Store) Oldest() (int64, error) {
	b, err := s.base()
	if err != nil || !s.Exists() {
		return 0, err
	}
	return max(b.N, 1), nil
}

// state returns the files of the workspace as they were at a checkpoint.
func (s *Store) state(c *Checkpoint) (tree, error) {
	from, err := s.base()
	if err != nil {
		return nil, err
	}
	if c.N < from.N {
		return nil, &Expired{ID: c.ID}
	}
	t := tree{}
	if from.N > 0 {
		if err := s.apply(t, c.ID, from.List); err != nil {
			return nil, err
		}
	}
	err = s.journal(func(line *Checkpoint) error {
		if line.N <= from.N || line.N > c.N {
			return nil
		}
		return s.apply(t, line.ID, line.List)
	})
	return t, err
}

// apply applies a list of changes to a state.
func (s *Store) apply(t tree, id, list string) error {
	return s.entries(id, list, func(p string, e *Entry) {
		if e == nil {
			t.set(p, nil)
			return
		}
		_, name := split(p)
		t.set(p, &item{Entry: *e, name: name, has: e.Kind == File})
	})
}

// entries calls fn for each path in the list of a checkpoint.
func (s *Store) entries(id, list string, fn func(path string, e *Entry)) error {
	if list == "" {
		return nil
	}
	b, err := hex.DecodeString(list)
	if err != nil || len(b) != len(Digest{}) {
		return fmt.Errorf("%w: list of checkpoint %s", ErrDamaged, id)
	}
	contents, err := s.objects.get(Digest(b))
	if err != nil {
		return fmt.Errorf("checkpoint %s: %w", id, err)
	}
	return decodeEntries(contents, fn)
}
