package bundles

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// Release is the data that building a policy adds to its manifest. Empty fields are
// taken from the manifest.
type Release struct {
	Name         string
	Version      string // semver
	Sequence     int64  // from 1; later releases have higher ones
	Revision     string
	Created      string // RFC 3339, UTC; the files of the archive are of this time
	Capabilities string // SHA-256 of the Rego capabilities that it was checked with, in hex
	Engine       int    // minimum version, if the manifest has none
	TestsSkipped bool
}

// Packed is an archive that was made.
type Packed struct {
	Bytes    []byte
	Sum      ArchiveSum
	Manifest Manifest // as in the archive
	Files    int
}

// Pack makes an archive of a layer: an OPA bundle, from which OpenArchive and
// Load make a bundle with the same digest. The same files and the same release
// give the same bytes, on every machine and at any time (with this program:
// another release may compress differently).
//
// The digest covers the original manifest. The additions of a release are not policy:
// two releases of the same rules have the same digest, a decision can be found under
// either, and the archive's own SHA-256, which is what gets signed, covers all of it.
// So the manifest in the archive contains the one that was written.
//
// Next to the files that count, the archive has the rows of rules, access lists
// and detectors as data, where only OPA reads them: without them it would run
// the Rego over an empty catalogue, and no rule would fire.
func Pack(b *Bundle, r Release) (*Packed, error) {
	m, err := b.Released(r)
	if err != nil {
		return nil, err
	}
	files, err := b.packed(m)
	if err != nil {
		return nil, err
	}
	raw, err := compress(files, m.created())
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return &Packed{Bytes: raw, Sum: sumOf(raw), Manifest: m, Files: len(files)}, readsBack(raw, b)
}

// Released returns the manifest as it will be in the archive. The error lists
// everything that it lacks.
func (b *Bundle) Released(r Release) (Manifest, error) {
	written, there := b.Files[manifestFile]
	if !there {
		return Manifest{}, noManifest(b.Root(), "")
	}
	m, err := decodeManifest(written) // b's own has a name if none is written
	if err != nil {
		return m, err
	}
	m.Roots = b.Manifest.Roots
	m = m.released(r, written)
	return m, m.releasable()
}

// packed lists the files of a layer's archive.
func (b *Bundle) packed(m Manifest) (map[string][]byte, error) {
	files := maps.Clone(b.Files)
	derived, err := b.derived()
	if err != nil {
		return nil, err
	}
	maps.Copy(files, derived)
	if files[manifestFile], err = indented(m); err != nil {
		return nil, err
	}
	return files, distinctNames(files)
}

// distinctNames rejects names that are equal on machines that ignore case: unpacking
// the archive there would lose a file.
func distinctNames(files map[string][]byte) error {
	folded := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		low := strings.ToLower(name)
		if other, taken := folded[low]; taken {
			return inFile(name).wrong("differs from %s only in case; give it another name", other)
		}
		folded[low] = name
	}
	return nil
}

// compress makes an archive that does not depend on the machine, the user or the date.
func compress(files map[string][]byte, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(files[name])), Mode: 0o644, ModTime: when}
		if err := t.WriteHeader(h); err != nil {
			return nil, inFile(name).wrong("%w", err)
		}
		if _, err := t.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err = errors.Join(t.Close(), z.Close())
	return b.Bytes(), err
}

// readsBack verifies that reading an archive gives the original policy, and that it is
// within the limits.
func readsBack(raw []byte, b *Bundle) error {
	a, err := OpenArchive(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	again, err := Load(a, b.Layer)
	if err != nil {
		return fmt.Errorf("the packed archive cannot be read: %w", err)
	}
	if again.Digest != b.Digest {
		return fmt.Errorf("the packed archive contains another policy, %s instead of %s", again.Digest, b.Digest)
	}
	return again.CheckRepeated()
}

// derivedKeys returns the keys under a layer's root that are generated from other files.
func derivedKeys() []string { return []string{CatalogueKey, AccessKey, DetectorsKey} }

// derivedNames lists the files of an archive that contain them as data.
func (b *Bundle) derivedNames() []string {
	var names []string
	for _, key := range derivedKeys() {
		names = append(names, path.Join(b.Root(), key, "data.json"))
	}
	return names
}

// sizeLimit bounds a file by its name, in bytes. All rows of all files are in
// one where OPA reads them.
func sizeLimit(name string) int64 {
	if path.Base(name) != "data.json" {
		return maxFile
	}
	for _, layer := range Layers() {
		if slices.Contains((&Bundle{Layer: layer}).derivedNames(), name) {
			return maxInflated
		}
	}
	return maxFile
}

// derived makes these files. A key without rows has none.
func (b *Bundle) derived() (map[string][]byte, error) {
	data, err := b.rows()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for i, name := range b.derivedNames() {
		rows, there := data[derivedKeys()[i]]
		if !there {
			continue
		}
		if files[name], err = engine.CanonicalOf(rows); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// rows returns the form of a layer's rows that Rego sees.
func (b *Bundle) rows() (map[string]any, error) {
	catalogue, data := map[string]any{}, map[string]any{}
	for _, r := range b.Rules {
		catalogue[r.ID] = b.row(r)
	}
	data[CatalogueKey] = catalogue
	return data, errors.Join(b.joinAccess(data, map[string]string{}), b.joinDetectors(data, map[string]string{}))
}

// CheckRepeated checks that an archive has the same rows of rules, access lists and
// detectors for OPA as for reviewer. A bundle that is not an archive's has nothing to
// compare.
func (b *Bundle) CheckRepeated() error {
	if !b.Manifest.Built() {
		return nil
	}
	want, err := b.derived()
	if err != nil {
		return err
	}
	for _, name := range b.derivedNames() {
		if !bytes.Equal(want[name], b.repeated[name]) {
			return inFile(name).wrong("differs from the rows from which it was made: build the archive again")
		}
	}
	return nil
}

func sumOf(archive []byte) ArchiveSum {
	sum := sha256.Sum256(archive)
	return ArchiveSum{hex.EncodeToString(sum[:]), len(archive)}
}
