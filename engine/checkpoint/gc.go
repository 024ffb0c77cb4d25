package checkpoint

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Collected is the result of a collection.
type Collected struct {
	Expired int   // checkpoints that can no longer be restored
	Freed   int64 // bytes
	Left    int64 // bytes of contents that are still stored
}

// Collect removes contents that are needed only by checkpoints before the given one. The lines of
// these checkpoints stay in the journal.
func (s *Store) Collect(ctx context.Context, oldest Checkpoint) (*Collected, error) {
	r := &Collected{}
	err := s.locked(ctx, func() error {
		from, err := s.base()
		if err != nil {
			return err
		}
		if oldest.N > max(from.N, 1) {
			if err := s.rebase(&oldest); err != nil {
				return err
			}
			r.Expired = int(oldest.N - max(from.N, 1))
		}
		wanted, err := s.wanted()
		if err != nil {
			return err
		}
		return s.sweep(ctx, wanted, r)
	})
	return r, err
}

// rebase stores the whole state at a checkpoint, so that those before it are not needed.
func (s *Store) rebase(c *Checkpoint) error {
	t, err := s.state(c)
	if err != nil {
		return err
	}
	id, _, err := s.addList(compare(nil, t))
	if err != nil {
		return err
	}
	b, err := json.Marshal(base{N: c.N, List: id.String()})
	if err != nil {
		return err
	}
	return writeFile(s.baseFile(), b)
}

// wanted returns the digests of all contents that the kept checkpoints need.
func (s *Store) wanted() (map[Digest]bool, error) {
	from, err := s.base()
	if err != nil {
		return nil, err
	}
	wanted := map[Digest]bool{}
	mark := func(id, list string) error {
		if b, err := hex.DecodeString(list); err == nil && len(b) == len(Digest{}) {
			wanted[Digest(b)] = true
		}
		return s.entries(id, list, func(_ string, e *Entry) {
			if e != nil && e.Kind == File {
				wanted[e.Digest] = true
			}
		})
	}
	if err := mark("base", from.List); err != nil {
		return nil, err
	}
	err = s.journal(func(c *Checkpoint) error {
		if c.N <= from.N {
			return nil
		}
		return mark(c.ID, c.List)
	})
	return wanted, err
}

// sweep removes contents that are not needed. A pack is rewritten if half of it is not
// needed.
func (s *Store) sweep(ctx context.Context, wanted map[Digest]bool, r *Collected) error {
	type content struct {
		id   Digest
		size int64
	}
	packs := map[string][]content{}
	err := s.objects.each(func(id Digest, where string, frame []byte, err error) error {
		if err != nil {
			return err
		}
		size := int64(len(frame))
		switch {
		case strings.HasSuffix(where, ".pack"):
			packs[where] = append(packs[where], content{id, size})
		case wanted[id]:
			r.Left += size
		default:
			r.Freed += size
			if err := os.Remove(where); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	for name, list := range packs {
		var keep []Digest
		var kept, all int64
		for _, c := range list {
			all += c.size
			if wanted[c.id] {
				keep, kept = append(keep, c.id), kept+c.size
			}
		}
		if kept > all/2 {
			r.Left += all
			continue
		}
		if err := s.repack(name, keep); err != nil {
			return err
		}
		r.Left, r.Freed = r.Left+kept, r.Freed+all-kept
	}
	return s.removeLeftovers()
}

// repack writes the contents of a pack that are kept to another, and removes the pack.
func (s *Store) repack(name string, keep []Digest) error {
	if len(keep) > 0 {
		w, err := newPack(filepath.Dir(name))
		if err != nil {
			return err
		}
		for _, id := range keep {
			frame, err := s.objects.frame(id)
			if err == nil {
				err = w.put(id, frame)
			}
			if err != nil {
				w.abort()
				return err
			}
		}
		if err := w.finish(); err != nil {
			return err
		}
	}
	if err := s.objects.close(); err != nil { // Windows removes no open file
		return err
	}
	return os.Remove(name)
}

// removeAside removes generated output whose checkpoint has expired.
func (s *Store) removeAside() error {
	from, err := s.base()
	if err != nil {
		return err
	}
	dirs, err := filepath.Glob(filepath.Join(s.dir, "removed", "*"))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		_, number, _ := strings.Cut(filepath.Base(dir), "-")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && n < from.N {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeLeftovers removes files that a killed process wrote incompletely.
func (s *Store) removeLeftovers() error {
	if err := s.removeAside(); err != nil {
		return err
	}
	for _, pattern := range []string{"packs/new-*", "objects/*/new-*", "new-*"} {
		names, err := filepath.Glob(filepath.Join(s.dir, filepath.FromSlash(pattern)))
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}
