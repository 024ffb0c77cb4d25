package ship

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
)

// maxIndex bounds how much a layout may list.
const maxIndex = 1000

const (
	layoutMark  = `{"imageLayoutVersion":"1.0.0"}`
	layoutBlobs = "blobs/sha256"
)

// layout is an OCI image layout in a folder. It may come from a USB stick and is not
// trusted: names cannot lead elsewhere, and sizes are bounded. Its files are written
// atomically, the index last.
type layout struct {
	root  *os.Root
	index ocispec.Index
}

// openLayout opens the layout in a folder. For writing, it is created if it does not
// exist.
func openLayout(dir string, write bool) (*layout, error) {
	if write {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: no such folder", dir)
	}
	l := &layout{root: root}
	if write {
		err = l.prepare()
	}
	if err == nil {
		err = l.read()
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return l, nil
}

// Close closes the folder.
func (l *layout) Close() error { return l.root.Close() }

// prepare creates a layout in an empty folder; an existing one is unchanged.
func (l *layout) prepare() error {
	if _, err := l.root.Stat(ocispec.ImageLayoutFile); err == nil {
		return nil
	}
	entries, err := fs.ReadDir(l.root.FS(), ".")
	switch {
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("the folder has files but is not an OCI layout (no %s); name an empty or new one", ocispec.ImageLayoutFile)
	}
	if err := l.root.MkdirAll(layoutBlobs, 0o755); err != nil {
		return err
	}
	l.index = ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex,
		Manifests: []ocispec.Descriptor{}}
	return errors.Join(l.save(), writeIn(l.root, ocispec.ImageLayoutFile, []byte(layoutMark)))
}

func (l *layout) read() error {
	mark, err := readFile(l.root, ocispec.ImageLayoutFile, maxManifest)
	if err != nil {
		return fmt.Errorf("is not an OCI layout: %w", err)
	}
	var version ocispec.ImageLayout
	if err := json.Unmarshal(mark, &version); err != nil || version.Version != ocispec.ImageLayoutVersion {
		return fmt.Errorf("is an OCI layout of version %.20q; expected %q", version.Version, ocispec.ImageLayoutVersion)
	}
	raw, err := readFile(l.root, ocispec.ImageIndexFile, maxManifest)
	if err != nil {
		return fmt.Errorf("is not an OCI layout: %w", err)
	}
	if err := json.Unmarshal(raw, &l.index); err != nil {
		return fmt.Errorf("%s is not valid: %w", ocispec.ImageIndexFile, err)
	}
	if n := len(l.index.Manifests); n > maxIndex {
		return fmt.Errorf("%s lists %d manifests, at most %d", ocispec.ImageIndexFile, n, maxIndex)
	}
	return nil
}

func (l *layout) save() error {
	raw, err := json.MarshalIndent(l.index, "", "  ")
	if err != nil {
		return err
	}
	return writeIn(l.root, ocispec.ImageIndexFile, append(raw, '\n'))
}

// Resolve finds a manifest by its tag or its digest; without either, the only release.
func (l *layout) Resolve(_ context.Context, reference string) (ocispec.Descriptor, error) {
	if reference == "" {
		return l.onlyRelease()
	}
	i := slices.IndexFunc(l.index.Manifests, func(d ocispec.Descriptor) bool {
		return d.Annotations[ocispec.AnnotationRefName] == reference || string(d.Digest) == reference
	})
	if i < 0 {
		return ocispec.Descriptor{}, fmt.Errorf("%s: %w", reference, errdef.ErrNotFound)
	}
	return l.index.Manifests[i], nil
}

func (l *layout) onlyRelease() (ocispec.Descriptor, error) {
	var tags []string
	var one ocispec.Descriptor
	for _, d := range l.index.Manifests {
		if tag := d.Annotations[ocispec.AnnotationRefName]; tag != "" {
			tags, one = append(tags, tag), d
		}
	}
	if len(tags) == 1 {
		return one, nil
	}
	slices.Sort(tags)
	return one, &explained{fmt.Sprintf("there are %d releases; name the tag of one: %s", len(tags),
		strings.Join(tags[:min(len(tags), 10)], ", ")), errdef.ErrMissingReference}
}

// blob is the file of content.
func blob(d ocispec.Descriptor) (string, error) {
	if err := d.Digest.Validate(); err != nil || d.Digest.Algorithm() != "sha256" {
		return "", fmt.Errorf("the digest %.100q is not a SHA-256 digest", d.Digest)
	}
	return path.Join(layoutBlobs, d.Digest.Encoded()), nil
}

// Fetch implements content.Fetcher.
func (l *layout) Fetch(_ context.Context, d ocispec.Descriptor) (io.ReadCloser, error) {
	name, err := blob(d)
	if err != nil {
		return nil, err
	}
	raw, err := readFile(l.root, name, d.Size)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the layout lacks %s; copy it again completely: %w", d.Digest, err)
	}
	return io.NopCloser(bytes.NewReader(raw)), err
}

// Exists implements content.Storage: the file exists, and has the digest in its name.
func (l *layout) Exists(ctx context.Context, d ocispec.Descriptor) (bool, error) {
	if d.MediaType == ocispec.MediaTypeImageManifest &&
		!slices.ContainsFunc(l.index.Manifests, func(o ocispec.Descriptor) bool { return o.Digest == d.Digest }) {
		return false, nil
	}
	_, err := content.FetchAll(ctx, l, d)
	return err == nil, nil // an unreadable file is rewritten
}

// Push implements content.Pusher.
func (l *layout) Push(_ context.Context, d ocispec.Descriptor, r io.Reader) error {
	name, err := blob(d)
	if err != nil {
		return err
	}
	raw, err := content.ReadAll(r, d)
	if err != nil {
		return err
	}
	if err := errors.Join(l.root.MkdirAll(layoutBlobs, 0o755), writeIn(l.root, name, raw)); err != nil {
		return err
	}
	if d.MediaType != ocispec.MediaTypeImageManifest {
		return nil
	}
	l.index.Manifests = append(l.index.Manifests, d)
	return l.save()
}

// Tag sets the tag of a manifest. The previous one can still be found by its digest.
func (l *layout) Tag(_ context.Context, d ocispec.Descriptor, tag string) error {
	named := plain(d)
	named.ArtifactType = d.ArtifactType
	named.Annotations = map[string]string{ocispec.AnnotationRefName: tag}
	list := []ocispec.Descriptor{named}
	for _, o := range l.index.Manifests {
		if o.Annotations[ocispec.AnnotationRefName] == tag {
			o.Annotations = nil
		}
		listed := slices.ContainsFunc(list, func(k ocispec.Descriptor) bool { return k.Digest == o.Digest })
		if !listed || o.Annotations[ocispec.AnnotationRefName] != "" {
			list = append(list, o)
		}
	}
	l.index.Manifests = list
	return l.save()
}

// Predecessors lists the manifests whose subject is d.
func (l *layout) Predecessors(ctx context.Context, d ocispec.Descriptor) ([]ocispec.Descriptor, error) {
	var found []ocispec.Descriptor
	for _, o := range l.index.Manifests {
		if o.MediaType != ocispec.MediaTypeImageManifest || o.Digest == d.Digest {
			continue
		}
		m, err := fetchManifest(ctx, l, o)
		if err != nil {
			return nil, err
		}
		if m.Subject != nil && m.Subject.Digest == d.Digest {
			o.ArtifactType = m.ArtifactType
			found = append(found, o)
		}
	}
	return found, nil
}
