package checkpoint

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// objects keeps contents by digest: each in a file of its own, or many in a
// pack.
type objects struct {
	dir   string
	keys  keys
	packs []*pack // opened when needed
	known bool    // packs is complete
}

func (o *objects) file(id Digest) string {
	name := id.String()
	return filepath.Join(o.dir, "objects", name[:2], name[2:])
}

// has reports whether contents are stored.
func (o *objects) has(id Digest) (bool, error) {
	if info, err := os.Lstat(o.file(id)); err == nil && info.Size() > frameHeader {
		return true, nil
	}
	if err := o.openPacks(); err != nil {
		return false, err
	}
	for _, p := range o.packs {
		if _, ok, err := p.find(id); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// frame returns the frame of contents.
func (o *objects) frame(id Digest) ([]byte, error) {
	b, err := osfile.ReadFile(o.file(id))
	if !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	if err := o.openPacks(); err != nil {
		return nil, err
	}
	for _, p := range o.packs {
		at, ok, err := p.find(id)
		if err != nil {
			return nil, err
		}
		if ok {
			return p.frame(at)
		}
	}
	return nil, fmt.Errorf("%w: the contents of %.12s are missing", ErrDamaged, id)
}

// get returns contents, after checking that they are what was stored.
func (o *objects) get(id Digest) ([]byte, error) {
	frame, err := o.frame(id)
	if err != nil {
		return nil, err
	}
	found, contents, err := o.keys.open(frame)
	if err == nil && found != id {
		err = fmt.Errorf("%w: %.12s is where %.12s belongs", ErrDamaged, found, id)
	}
	return contents, err
}

// put stores a frame in a file of its own.
func (o *objects) put(id Digest, frame []byte) error {
	name := o.file(id)
	if err := osfile.MkdirPrivate(filepath.Dir(name)); err != nil {
		return err
	}
	return writeFile(name, frame)
}

// writeFile replaces a file, or leaves it as it was.
func writeFile(name string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = osfile.Sync(f)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = osfile.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error says more
	}
	return err
}

func (o *objects) openPacks() error {
	if o.known {
		return nil
	}
	names, err := filepath.Glob(filepath.Join(o.dir, "packs", "*.pack"))
	if err != nil {
		return err
	}
	for _, name := range names {
		p, err := openPack(name)
		if err != nil {
			return err
		}
		o.packs = append(o.packs, p)
	}
	o.known = true
	return nil
}

func (o *objects) close() error {
	var err error
	for _, p := range o.packs {
		err = errors.Join(err, p.file.Close())
	}
	o.packs, o.known = nil, false
	return err
}

// each calls fn for the digest and the frame of everything that is stored, with
// the error of reading it.
func (o *objects) each(fn func(id Digest, where string, frame []byte, err error) error) error {
	err := filepath.WalkDir(filepath.Join(o.dir, "objects"), func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "new-") {
			return err
		}
		b, hexErr := hex.DecodeString(filepath.Base(filepath.Dir(name)) + d.Name())
		if hexErr != nil || len(b) != len(Digest{}) {
			return fn(Digest{}, name, nil, fmt.Errorf("%w: %s does not belong here", ErrDamaged, d.Name()))
		}
		frame, err := osfile.ReadFile(name)
		return fn(Digest(b), name, frame, err)
	})
	if err != nil {
		return err
	}
	if err := o.openPacks(); err != nil {
		return err
	}
	for _, p := range o.packs {
		if err := p.each(fn); err != nil {
			return err
		}
	}
	return nil
}
