package releases

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// file is the format of the store's own files: contents with a digest, so that a
// flipped bit is detected.
type file struct {
	Version int             `json:"v"`
	Sum     string          `json:"sha256"` // of what says
	Says    json.RawMessage `json:"says"`
}

const fileVersion = 1

// Sum returns the digest under which bytes are stored: SHA-256, hex.
func Sum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (d *Store) path(name string) string { return filepath.Join(d.Dir, filepath.FromSlash(name)) }

// read reads one of the store's files. The error is fs.ErrNotExist if there is no
// such file, and ErrDamaged if its contents were changed.
func (d *Store) read(name string, max int64, into any) error {
	raw, err := d.disk.Read(name, max)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %s cannot be read: %w", ErrDamaged, name, pathless(err))
	}
	var f file
	if err := json.Unmarshal(raw, &f); err != nil {
		return fmt.Errorf("%w: %s is not valid JSON: %w", ErrDamaged, name, err)
	}
	switch {
	case f.Version > fileVersion:
		return fmt.Errorf("%s was written by a newer reviewer (format %d, this one knows %d); install that version again", name, f.Version,
			fileVersion)
	case f.Version != fileVersion || f.Sum != Sum(f.Says):
		return fmt.Errorf("%w: %s does not match its checksum", ErrDamaged, name)
	}
	if err := json.Unmarshal(f.Says, into); err != nil {
		return fmt.Errorf("%w: %s has unexpected contents: %w", ErrDamaged, name, err)
	}
	return nil
}

// write replaces one of the store's files.
func (d *Store) write(name string, says any) error {
	inner, err := json.Marshal(says)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(file{fileVersion, Sum(inner), inner})
	if err != nil {
		return err
	}
	return d.replace(name, append(raw, '\n'))
}

// newPrefix begins the names of incomplete files.
const newPrefix = ".new-"

// replace replaces a file atomically and durably, or leaves it unchanged. An
// incomplete file is removed.
func (d *Store) replace(name string, content []byte) error {
	dir, base := path.Split(name)
	dir = path.Clean(dir)
	unfinished := path.Join(dir, newPrefix+base)
	err := d.disk.Remove(unfinished)
	if err == nil {
		err = d.disk.Write(unfinished, content)
	}
	if err == nil {
		err = d.disk.Rename(unfinished, name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", d.path(name), err), d.disk.Remove(unfinished))
	}
	if err := d.disk.SyncDir(dir); err != nil {
		return fmt.Errorf("write %s: %w", d.path(dir), err)
	}
	return nil
}

func objectName(sum string) string { return path.Join(objectsName, sum) }

// object returns bytes by their digest.
func (d *Store) object(sum string, max int64) ([]byte, error) {
	if len(sum) != 2*sha256.Size || strings.Trim(sum, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("%w: %q is not a digest", ErrDamaged, sum)
	}
	b, err := d.disk.Read(objectName(sum), max)
	if err != nil {
		return nil, fmt.Errorf("%w: the bytes stored as %.12s… cannot be read: %w", ErrDamaged, sum, pathless(err))
	}
	if got := Sum(b); got != sum {
		return nil, fmt.Errorf("%w: the bytes stored as %.12s… were changed, and are now %.12s…", ErrDamaged, sum, got)
	}
	return b, nil
}

// pathless removes the path from an error, to keep the denial of a hook short.
func pathless(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// put stores bytes by their digest, unless they are stored already.
func (d *Store) put(b []byte) error {
	sum := Sum(b)
	if kept, err := d.disk.Read(objectName(sum), int64(len(b))); err == nil && Sum(kept) == sum {
		return nil
	}
	return d.replace(objectName(sum), b)
}
