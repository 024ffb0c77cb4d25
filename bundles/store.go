package bundles

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Store keeps effective policies by digest, so that a decision can be computed
// again under the policy that made it. A policy is one file; what is there is
// never changed.
type Store struct{ Dir string }

// stored is the file's form: the layers with the files that their digests
// cover, and what the settings of several layers came to. A later version may
// know other settings, and merge them in another way.
type stored struct {
	Digest   string         `json:"digest"`
	Layers   []storedLayer  `json:"layers"`
	Settings map[string]any `json:"settings,omitempty"`
}

type storedLayer struct {
	Layer string            `json:"layer"`
	Files map[string][]byte `json:"files"`
}

// ErrNoPolicy says that a policy was not kept.
var ErrNoPolicy = errors.New("policy is not in the store")

func (s Store) path(digest string) string { return filepath.Join(s.Dir, digest+".json") }

// Put keeps a policy. It costs one look at the directory where it is there.
func (s Store) Put(e *Effective) error {
	if _, err := os.Stat(s.path(e.Digest)); err == nil {
		return nil
	}
	doc := stored{Digest: e.Digest}
	for _, l := range e.Layers {
		doc.Layers = append(doc.Layers, storedLayer{l.Layer, l.Files})
	}
	if len(e.Layers) > 1 {
		doc.Settings = e.Settings
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("encode policy: %w", err)
	}
	if err := s.write(s.path(e.Digest), raw); err != nil {
		return fmt.Errorf("keep policy %.12s: %w", e.Digest, err)
	}
	return nil
}

// Digests lists the policies that are kept, sorted.
func (s Store) Digests() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list policies: %w", err)
	}
	var list []string
	for _, e := range entries {
		if digest, ok := strings.CutSuffix(e.Name(), ".json"); ok && !strings.HasPrefix(digest, ".") {
			list = append(list, digest)
		}
	}
	return list, nil
}

// write makes a file appear whole or not at all.
func (s Store) write(path string, raw []byte) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.Dir, ".policy-*")
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Get returns a policy, after it has been put together again and its digest
// found to be the one that was asked for.
func (s Store) Get(digest string) (*Effective, error) {
	raw, err := os.ReadFile(s.path(filepath.Base(digest)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoPolicy, digest)
	}
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	var doc stored
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("read policy %.12s: %w", digest, err)
	}
	e, err := doc.assemble()
	if err != nil {
		return nil, fmt.Errorf("read policy %.12s: %w", digest, err)
	}
	if e.Digest != digest {
		return nil, fmt.Errorf("policy %.12s was changed in the store: its files make %.12s", digest, e.Digest)
	}
	return e, nil
}

// assemble puts a policy together again. Its settings are taken as they are:
// they were checked before it was kept, perhaps by an older version.
func (s stored) assemble() (*Effective, error) {
	var layers []*Bundle
	for _, l := range s.Layers {
		b, err := FromFiles(l.Files, l.Layer)
		if err != nil {
			return nil, err
		}
		b.checked = true
		layers = append(layers, b)
	}
	if s.Settings == nil {
		return Assemble(layers...)
	}
	if err := checkOrder(layers); err != nil {
		return nil, err
	}
	return assemble(layers, s.Settings, nil)
}
