package ship

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// pushFolder writes an archive and its envelope to an existing folder.
func pushFolder(dir string, p Parcel, o Options) (Receipt, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Receipt{}, errors.New("no such folder; create it first")
	}
	defer root.Close()
	r := Receipt{Place: filepath.Join(dir, p.Name), SHA256: sha(p.Archive), Signed: p.Envelope != nil}
	archive, envelope, err := readPair(root, p.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return Receipt{}, err
	case bytes.Equal(archive, p.Archive) && bytes.Equal(envelope, p.Envelope):
		r.Unchanged = true
		return r, nil
	case !bytes.Equal(archive, p.Archive) && !o.Force:
		return Receipt{}, fmt.Errorf("%s already exists with different contents (SHA-256 %.12s); "+
			"build under another name, or replace it with --force",
			p.Name, sha(archive))
	case !bytes.Equal(archive, p.Archive):
		r.Replaced = "sha256:" + sha(archive)
	}
	return r, writePair(root, p)
}

func sha(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// readPair reads an archive and the envelope next to it, nil if there is none.
func readPair(root *os.Root, name string) (archive, envelope []byte, err error) {
	if archive, err = readFile(root, name, MaxArchive); err != nil {
		return nil, nil, err
	}
	envelope, err = readFile(root, name+EnvelopeSuffix, MaxEnvelope)
	if errors.Is(err, fs.ErrNotExist) {
		return archive, nil, nil
	}
	return archive, envelope, err
}

// writePair writes an archive and its envelope. A reader in between finds an envelope
// for another archive, and refuses both.
func writePair(root *os.Root, p Parcel) error {
	if p.Envelope == nil {
		err := root.Remove(p.Name + EnvelopeSuffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	} else if err := writeIn(root, p.Name+EnvelopeSuffix, p.Envelope); err != nil {
		return err
	}
	return writeIn(root, p.Name, p.Archive)
}

// WritePair writes the files of a release to a folder: both or neither. Existing files
// are replaced.
func WritePair(dir string, p Parcel) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("%s: no such folder; create it first", dir)
	}
	defer root.Close()
	if err := writePair(root, p); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, p.Name), plainPath(err))
	}
	return nil
}

// writeIn writes a file atomically and syncs it to disk.
func writeIn(root *os.Root, name string, raw []byte) error {
	temporary := filepath.Join(filepath.Dir(name), ".reviewer-"+rand.Text())
	f, err := root.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return plainPath(err)
	}
	_, err = f.Write(raw)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	return nil
}

// pullFolder reads an archive, or the only one in a folder.
func pullFolder(name string, accept Accept) (Parcel, error) {
	dir, file := filepath.Split(name)
	if info, err := os.Stat(name); err != nil {
		return Parcel{}, errors.New("no such folder or archive")
	} else if info.IsDir() {
		dir, file = name, ""
	}
	root, err := os.OpenRoot(filepath.Clean(dir))
	if err != nil {
		return Parcel{}, plainPath(err)
	}
	defer root.Close()
	if file == "" {
		if file, err = onlyArchive(root); err != nil {
			return Parcel{}, err
		}
	}
	if err := CheckName(file); err != nil {
		return Parcel{}, err
	}
	archive, envelope, err := readPair(root, file)
	if err != nil {
		return Parcel{}, err
	}
	p := Parcel{Name: file, Archive: archive, Envelope: envelope, Place: filepath.Join(dir, file)}
	return p, accept(Offer{Place: p.Place, Name: p.Name, SHA256: sha(archive), Envelope: envelope})
}

func onlyArchive(root *os.Root) (string, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return "", err
	}
	var found []string
	for _, e := range entries {
		if CheckName(e.Name()) == nil && !e.IsDir() {
			found = append(found, e.Name())
		}
	}
	switch len(found) {
	case 0:
		return "", errors.New("this folder contains no archive (.tar.gz)")
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("this folder contains %d archives; name one: %s", len(found), strings.Join(found[:min(len(found), 10)], ", "))
}
