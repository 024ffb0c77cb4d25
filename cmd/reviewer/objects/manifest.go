package objects

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Manifest lists the inputs of a run, with their sizes and versions, so that every
// task reads the same. A task refuses an object that has changed since it was listed.
type Manifest struct {
	V       int      `json:"v"`
	Kind    string   `json:"kind"`    // "manifest"
	Sources []string `json:"sources"` // buckets, with their options
	Objects []Entry  `json:"objects"` // by name
}

// Entry is an object of a manifest.
type Entry struct {
	Source  int    `json:"source"` // index in sources
	Key     string `json:"key"`
	Size    int64  `json:"size"`
	Version string `json:"version"`         // such as etag:…, generation:… or sha256:…
	Group   int    `json:"group"`           // objects that share sessions are read by one task
	Named   bool   `json:"named,omitempty"` // it was named itself, and is not just under a prefix
}

// Input is an object to read, and its group.
type Input struct {
	Object
	Group int
	Named bool
}

const (
	manifestVersion = 1
	manifestKind    = "manifest"
	// MaxManifest bounds a manifest in bytes: some millions of objects.
	MaxManifest = 1 << 30
)

// NewManifest makes a manifest. Files are read for their digests.
func (a *Access) NewManifest(ctx context.Context, inputs []Input) (*Manifest, error) {
	m := &Manifest{V: manifestVersion, Kind: manifestKind, Sources: []string{}, Objects: []Entry{}}
	inputs = slices.Clone(inputs)
	slices.SortFunc(inputs, func(x, y Input) int { return cmp.Compare(x.URL(), y.URL()) })
	for _, in := range inputs {
		if err := a.pin(ctx, &in.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", in.Location, err)
		}
		m.Objects = append(m.Objects, Entry{Source: m.source(in.Location.BucketURL()), Key: in.Key, Size: in.Size,
			Version: in.Version, Group: in.Group, Named: in.Named})
	}
	return m, nil
}

func (m *Manifest) source(url string) int {
	if i := slices.Index(m.Sources, url); i >= 0 {
		return i
	}
	m.Sources = append(m.Sources, url)
	return len(m.Sources) - 1
}

// pin replaces a file's time by its digest: a copy has another time.
func (a *Access) pin(ctx context.Context, o *Object) error {
	if o.Scheme != fileScheme || strings.HasPrefix(o.Version, digestPrefix) {
		return nil
	}
	r, err := a.Open(ctx, *o, 0, -1)
	if err != nil {
		return err
	}
	defer r.Close()
	digest, err := digestOf(r)
	o.Version = digestPrefix + digest
	return err
}

// Bytes is the manifest as a file has it: the same manifest has the same bytes.
func (m *Manifest) Bytes() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"v\":%d,\"kind\":%q,\"sources\":", m.V, m.Kind)
	b.Write(compact(m.Sources))
	b.WriteString(",\"objects\":[")
	for i, o := range m.Objects {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(compact(o))
	}
	b.WriteString("\n]}\n")
	return b.Bytes()
}

func compact(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil // unreachable: numbers and texts
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Digest identifies a manifest.
func (m *Manifest) Digest() string {
	sum := sha256.Sum256(m.Bytes())
	return hex.EncodeToString(sum[:])
}

// ReadManifest reads a manifest.
func ReadManifest(r io.Reader) (*Manifest, error) {
	var m Manifest
	d := json.NewDecoder(io.LimitReader(r, MaxManifest))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("is not a manifest; `policy simulate manifest` writes one: %w", err)
	}
	if m.Kind != manifestKind || m.V != manifestVersion {
		return nil, fmt.Errorf("is not a manifest of version %d; `policy simulate manifest` writes one", manifestVersion)
	}
	for _, o := range m.Objects {
		if o.Source < 0 || o.Source >= len(m.Sources) || o.Key == "" || o.Size < 0 || o.Version == "" || o.Group < 0 {
			return nil, fmt.Errorf("the entry of %q is not complete; write the manifest again", o.Key)
		}
	}
	return &m, nil
}

// Inputs lists the objects of a manifest.
func (m *Manifest) Inputs() ([]Input, error) {
	var buckets []Location
	for _, text := range m.Sources {
		if text == fileScheme+"://" {
			text += "/"
		}
		l, err := Parse(text)
		if err != nil {
			return nil, err
		}
		buckets = append(buckets, l)
	}
	list := make([]Input, len(m.Objects))
	for i, e := range m.Objects {
		list[i] = Input{Object{buckets[e.Source].At(e.Key), e.Size, e.Version}, e.Group, e.Named}
	}
	return list, nil
}

// Share returns the inputs of the i-th of n tasks, from 1: whole groups, the largest
// first, each to the task that has the fewest bytes so far.
func Share(inputs []Input, i, n int) []Input {
	sizes := map[int]int64{}
	for _, in := range inputs {
		sizes[in.Group] += max(in.Size, 1)
	}
	groups := make([]int, 0, len(sizes))
	for g := range sizes {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b int) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b)) })
	tasks := newLoads(n)
	mine := map[int]bool{}
	for _, g := range groups {
		if tasks.lightest(sizes[g]) == i-1 {
			mine[g] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(inputs), func(in Input) bool { return !mine[in.Group] })
}
