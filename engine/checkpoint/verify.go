package checkpoint

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Verified is the result of checking a store.
type Verified struct {
	Checkpoints int
	Contents    int   // files and lists of files
	Bytes       int64 // as stored
	Damage      []Damage
}

// Damage is a part of the store that differs from what was written.
type Damage struct {
	Where string // file of the store, or id of a checkpoint
	What  string
}

// Verify checks each byte of the store, and that each checkpoint that is kept can be
// restored.
func (s *Store) Verify(ctx context.Context) (*Verified, error) {
	v := &Verified{}
	err := s.locked(ctx, func() error {
		stored := map[Digest]bool{}
		err := s.objects.each(func(id Digest, where string, frame []byte, err error) error {
			v.Contents++
			v.Bytes += int64(len(frame))
			if err == nil {
				var found Digest
				if found, _, err = s.objects.keys.open(frame); err == nil && found != id {
					err = errors.New("it is stored under another digest")
				}
			}
			if err != nil {
				v.damage(where, err)
			} else {
				stored[id] = true
			}
			return ctx.Err()
		})
		if errors.Is(err, ErrDamaged) {
			v.damage("packs", err)
			err = nil
		}
		if err != nil {
			return err
		}
		s.verifyRoot(v)
		s.verifyJournal(v, stored)
		return s.verifyIndex(v)
	})
	return v, err
}

func (v *Verified) damage(where string, err error) {
	v.Damage = append(v.Damage, Damage{Where: where, What: err.Error()})
}

// verifyRoot checks that the store belongs to the workspace that it names.
func (s *Store) verifyRoot(v *Verified) {
	name := filepath.Join(s.dir, "root")
	root, err := osfile.ReadFile(name)
	if err == nil && storeID(string(root))[:16] != filepath.Base(s.dir) {
		err = errors.New("it names a workspace other than that of this store")
	}
	if err != nil {
		v.damage(name, err)
	}
}

// verifyJournal checks the lines, and that everything that a checkpoint needs is stored.
func (s *Store) verifyJournal(v *Verified, stored map[Digest]bool) {
	oldest, err := s.base()
	if err != nil {
		v.damage(s.baseFile(), err)
		return
	}
	check := func(id, list string) {
		err := s.entries(id, list, func(p string, e *Entry) {
			if e != nil && e.Kind == File && !stored[e.Digest] {
				v.damage(id, errors.New("the contents of "+p+" are missing or damaged"))
			}
		})
		if err != nil {
			v.damage(id, err)
		}
	}
	check("base", oldest.List)
	err = s.journal(func(c *Checkpoint) error {
		v.Checkpoints++
		if c.N > oldest.N {
			check(c.ID, c.List)
		}
		return nil
	})
	if err != nil {
		v.damage(s.journalFile(), err)
	}
}

// verifyIndex checks the cache: a modified cache could hide changes of files.
func (s *Store) verifyIndex(v *Verified) error {
	b, err := osfile.ReadFile(s.indexFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if end := len(b) - 4; end < 36 || crc32.Checksum(b[:end], castagnoli) != binary.BigEndian.Uint32(b[end:]) {
		v.damage(s.indexFile(), errors.New("its checksum differs; delete it: it is only a cache"))
		return nil
	}
	found := false
	err = s.journal(func(c *Checkpoint) error {
		found = found || c.hash == Digest(b[4:36])
		return nil
	})
	if err == nil && !found {
		v.damage(s.journalFile(), errors.New("the newest lines are missing: the index belongs to a checkpoint that the journal does not have"))
	}
	return nil // other errors of the journal are noted already
}
