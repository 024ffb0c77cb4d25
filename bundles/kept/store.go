// Package kept stores policies that were effective, by digest, so that a decision can be recomputed under the policy that made it.
// Signed releases, and which policy is active, are not its business.
package kept

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Store keeps effective policies by digest. A policy is one immutable file. Another file lists which
// policies were used and when, including those that were removed to save space.
type Store struct {
	Dir    string
	Budget int64        // bytes of policies above which the least recently used are removed; 0: no limit
	Now    func() int64 // Unix ms; nil: no times are recorded
}

// stored is the file format: the layers with the files that their digests cover, and
// the result of the settings of several layers. A later version may have other
// settings, and merge them differently.
type stored struct {
	Digest   string         `json:"digest"`
	Layers   []storedLayer  `json:"layers"`
	Settings map[string]any `json:"settings,omitempty"`
}

type storedLayer struct {
	Layer string            `json:"layer"`
	Files map[string][]byte `json:"files"`
}

// ErrNoPolicy means that a policy is not in the store.
var ErrNoPolicy = errors.New("policy is not in the store")

func (s Store) path(digest string) string { return filepath.Join(s.Dir, digest+".json") }

// Put stores a policy. If it is already stored, this only reads the directory.
func (s Store) Put(e *bundles.Effective) error {
	if info, err := os.Stat(s.path(e.Digest)); err == nil {
		s.used(e.Digest, info.ModTime())
		return nil
	}
	doc := stored{Digest: e.Digest}
	for _, l := range e.Layers {
		doc.Layers = append(doc.Layers, storedLayer{l.Layer, l.Files})
	}
	if len(e.Layers) > 1 {
		doc.Settings = e.Document
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("encode policy: %w", err)
	}
	if err := s.write(s.path(e.Digest), raw); err != nil {
		return fmt.Errorf("store policy %.12s: %w", e.Digest, err)
	}
	if err := s.remember(e); err != nil {
		return fmt.Errorf("record policy %.12s in the history of policies: %w", e.Digest, err)
	}
	s.makeRoom(e.Digest)
	return nil
}

func (s Store) at() int64 {
	if s.Now == nil {
		return 0
	}
	return s.Now()
}

// usedEach is the precision of the time of last use.
const usedEach = time.Hour

// used records the use of a policy in the time of its file. A failure, for example for
// another user's file, is ignored: the policy then counts as used earlier.
func (s Store) used(digest string, before time.Time) {
	if now := time.UnixMilli(s.at()); now.Sub(before) >= usedEach {
		_ = os.Chtimes(s.path(digest), now, now)
	}
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

// write writes a file atomically.
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
		err = osfile.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Get returns a policy, reassembled and checked against its digest.
func (s Store) Get(digest string) (*bundles.Effective, error) {
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
		return nil, fmt.Errorf("policy %.12s was tampered with in the store: its files have the digest %.12s", digest, e.Digest)
	}
	return e, nil
}

// assemble assembles a stored policy. Its settings are not checked again.
func (s stored) assemble() (*bundles.Effective, error) {
	var layers []*bundles.Bundle
	for _, l := range s.Layers {
		b, err := bundles.FromFiles(l.Files, l.Layer)
		if err != nil {
			return nil, err
		}
		layers = append(layers, b)
	}
	return bundles.Reassemble(layers, s.Settings)
}

// Policy is a policy that was effective on this machine.
type Policy struct {
	Digest string            `json:"digest"`
	First  int64             `json:"first"`          // Unix ms of its first use
	Last   int64             `json:"last,omitempty"` // Unix ms of its last use, to the hour; 0: unknown
	Layers map[string]string `json:"layers"`         // layer -> digest; empty if that is unknown
	Bytes  int64             `json:"bytes"`
	Lost   bool              `json:"lost"` // its files are no longer kept
}

// historyName is the file that lists the policies; a line for each.
const historyName = "history.jsonl"

// maxHistory bounds that file, in bytes: above it, the older half is removed.
const maxHistory = 1 << 20

// remember adds a policy to the history. A line is short enough to be written
// atomically.
func (s Store) remember(e *bundles.Effective) error {
	k := Policy{Digest: e.Digest, First: s.at(), Layers: map[string]string{}}
	for _, l := range e.Layers {
		k.Layers[l.Layer] = l.Digest
	}
	line, err := json.Marshal(k)
	if err != nil {
		return err
	}
	name := filepath.Join(s.Dir, historyName)
	if info, err := os.Stat(name); err == nil && info.Size() > maxHistory {
		if err := s.halve(name); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// halve keeps the newer half of the history.
func (s Store) halve(name string) error {
	raw, err := osfile.ReadFile(name)
	if err != nil {
		return err
	}
	_, half, _ := bytes.Cut(raw[len(raw)/2:], []byte("\n"))
	return s.write(name, half)
}

// makeRoom removes the least recently used policies, but never the one in use.
// Failures are ignored: the next call tries again.
func (s Store) makeRoom(now string) {
	if s.Budget <= 0 {
		return
	}
	list, err := s.History()
	if err != nil {
		return
	}
	var total int64
	for _, k := range list {
		total += k.Bytes
	}
	slices.SortStableFunc(list, func(a, b Policy) int { return cmp.Compare(a.Last, b.Last) })
	for _, k := range list {
		if total <= s.Budget {
			return
		}
		if !k.Lost && k.Digest != now && os.Remove(s.path(k.Digest)) == nil {
			total -= k.Bytes
		}
	}
}

// History lists the policies that were effective here, the newest first, including those that are
// no longer kept.
func (s Store) History() ([]Policy, error) {
	known, err := s.remembered()
	if err != nil {
		return nil, err
	}
	digests, err := s.Digests()
	if err != nil {
		return nil, err
	}
	for _, d := range digests {
		info, err := os.Stat(s.path(d))
		if err != nil {
			continue // removed in the meantime
		}
		k, ok := known[d]
		if !ok { // stored before there was a history
			k = Policy{Digest: d, First: info.ModTime().UnixMilli(), Layers: map[string]string{}}
		}
		k.Last, k.Bytes, k.Lost = max(info.ModTime().UnixMilli(), k.First), info.Size(), false
		known[d] = k
	}
	list := make([]Policy, 0, len(known))
	for _, k := range known {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b Policy) int {
		return cmp.Or(cmp.Compare(b.First, a.First), cmp.Compare(a.Digest, b.Digest))
	})
	return list, nil
}

// remembered reads the history's file, with the first entry of each policy. A
// truncated line is left out.
func (s Store) remembered() (map[string]Policy, error) {
	known := map[string]Policy{}
	raw, err := osfile.ReadFile(filepath.Join(s.Dir, historyName))
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the history of policies: %w", err)
	}
	for line := range bytes.Lines(raw) {
		k := Policy{Layers: map[string]string{}}
		if json.Unmarshal(line, &k) != nil || k.Digest == "" {
			continue
		}
		if _, twice := known[k.Digest]; !twice {
			k.Lost = true
			known[k.Digest] = k
		}
	}
	return known, nil
}
