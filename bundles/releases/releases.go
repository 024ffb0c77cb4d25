// Package releases keeps the policy bundles that were activated: their bytes by
// digest, which of them is active in each layer, what was active before, and the
// highest sequence that was seen of each release.
//
// An activation is atomic: files are written atomically, the file with the active
// releases is replaced last, and every file contains its own digest. If something in
// the store is missing or changed, the error describes what to do; it is never treated as
// an empty store.
//
// Out of scope: whether a bundle may be activated (bundles/trust, and who calls
// Change), what is in it, the clock, the log, and the location of layers that are
// folders. Anyone who can write the folder can write its files: only signatures
// protect against that.
package releases

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Release is an activated bundle. Without an archive it means that the layer
// has no bundle.
type Release struct {
	Archive  string `json:"archive,omitempty"`  // SHA-256 of the archive's bytes, hex
	Envelope string `json:"envelope,omitempty"` // SHA-256 of the envelope's bytes, hex; empty: none
	Digest   string `json:"digest,omitempty"`   // of the policy's files, as computed by package bundles

	Name     string `json:"name,omitempty"`
	Version  string `json:"version,omitempty"`
	Channel  string `json:"channel,omitempty"` // empty: not in a statement
	Sequence int64  `json:"sequence,omitempty"`

	Signers  []string `json:"signers,omitempty"`  // ids of the keys that counted
	Unsigned bool     `json:"unsigned,omitempty"` // there was no trust file to check it
	Expires  int64    `json:"expires,omitempty"`  // Unix ms; 0: never
	Checked  string   `json:"checked,omitempty"`  // digest of the environment that checked its settings
}

// None reports whether a release is not a bundle.
func (r Release) None() bool { return r.Archive == "" }

// String returns the name of a release for messages.
func (r Release) String() string {
	if r.None() {
		return "no bundle"
	}
	text := strings.TrimSpace(r.Name+" "+r.Version) + fmt.Sprintf(", sequence %d", r.Sequence)
	return fmt.Sprintf("%s (%.12s)", strings.TrimPrefix(text, ", "), r.Archive)
}

// Activation is one change of the active bundle.
type Activation struct {
	Generation int64  `json:"generation"` // counts the changes of a store, from 1
	Layer      string `json:"layer"`
	Release    `json:"release"`
	At         int64  `json:"at"` // Unix ms
	By         string `json:"by,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Rollback   bool   `json:"rollback,omitempty"`
	Before     int64  `json:"before,omitempty"` // generation to which a rollback returns; 0: none
}

// Highest is the highest sequence of a release that was seen.
type Highest struct {
	Sequence int64  `json:"sequence"`
	Archive  string `json:"archive"` // its SHA-256, hex
	At       int64  `json:"at"`      // Unix ms of when it was seen first
}

// Active is the active activation of each layer. A missing layer never had one.
type Active struct {
	Generation int64                 `json:"generation"`
	Layers     map[string]Activation `json:"layers"`
}

// Limits of what is read and stored.
const (
	maxActive   = 64 << 10  // bytes of the file that every hook reads
	maxFile     = 4 << 20   // bytes of the other files
	maxObject   = 128 << 20 // bytes of an archive
	maxEnvelope = 1 << 20   // bytes
	maxHistory  = 32        // activations that can be rolled back to
	maxSeen     = 4096      // releases whose highest sequence is remembered
)

// The names of a store's files.
const (
	activeName  = "active.json"
	historyName = "history.json"
	seenName    = "seen.json"
	lockName    = "lock"
	objectsName = "objects"
)

// ErrDamaged is wrapped by every error about a missing or changed file of the store.
var ErrDamaged = errors.New("the store of bundles is damaged")

// Store is a folder of activated bundles.
type Store struct {
	Dir  string // absolute
	disk disk
}

// Open returns the store in a folder, which need not exist yet.
func Open(dir string) *Store { return &Store{Dir: dir, disk: realDisk{dir}} }

// Active reads the state of the active bundles, which is one small file. An unused store has none; a
// lost file is an error.
func (d *Store) Active() (*Active, error) {
	a := &Active{Layers: map[string]Activation{}}
	err := d.read(activeName, maxActive, a)
	if errors.Is(err, fs.ErrNotExist) {
		err = d.unused()
	} else if errors.Is(err, ErrDamaged) {
		err = d.withLast(err)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// unused returns an error if something was ever activated: the file exists since
// before the first activation.
func (d *Store) unused() error {
	_, err := d.disk.Size(historyName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look for activated policies: %w", err)
	}
	return d.withLast(fmt.Errorf("%w: %s is missing", ErrDamaged, activeName))
}

// withLast adds to an error about active.json the last known activations, and how to
// repair it.
func (d *Store) withLast(err error) error {
	h, other := d.history()
	if other != nil || len(h.Activations) == 0 {
		return fmt.Errorf("%w; activate a policy again with `reviewer policy activate ARCHIVE`", err)
	}
	last := h.Activations[len(h.Activations)-1]
	return fmt.Errorf("%w; the last good one is %s of the %s layer: "+
		"`reviewer policy rollback --to %.12s --layer %s --reason TEXT` restores it", err, last.Release, last.Layer, last.target(), last.Layer)
}

// target returns the name of an activation's release for a rollback.
func (a Activation) target() string {
	if a.None() {
		return NoBundle
	}
	return a.Archive
}

// NoBundle names the absence of a bundle.
const NoBundle = "none"

// Archive returns the bytes of an activated archive, if they are still those
// that were activated.
func (d *Store) Archive(r Release) ([]byte, error) { return d.object(r.Archive, maxObject) }

// Envelope returns the bytes of the envelope that an archive came with; nil if there
// was none.
func (d *Store) Envelope(r Release) ([]byte, error) {
	if r.Envelope == "" {
		return nil, nil
	}
	return d.object(r.Envelope, maxEnvelope)
}

// Path returns the path of the archive of a release.
func (d *Store) Path(r Release) string { return d.path(objectName(r.Archive)) }

// History lists the activations that can be rolled back to, the oldest first, of all
// layers. Activations that were not completed are left out.
func (d *Store) History() ([]Activation, error) {
	a, err := d.Active()
	if err != nil {
		return nil, err
	}
	h, err := d.history()
	if err != nil {
		return nil, err
	}
	return h.upTo(a.Generation), nil
}

// Recorded lists all activations of the history, the oldest first, whether or not they were completed.
func (d *Store) Recorded() ([]Activation, error) {
	h, err := d.history()
	if err != nil && !errors.Is(err, ErrDamaged) {
		return nil, err
	}
	return h.Activations, nil
}

// Seen returns the highest sequence that was seen of each release.
func (d *Store) Seen() (Seen, error) {
	s := Seen{}
	err := d.read(seenName, maxFile, &s)
	if errors.Is(err, fs.ErrNotExist) {
		return Seen{}, d.neverSeen()
	}
	return s, err
}

// neverSeen returns an error if a bundle was ever activated: without the sequences
// seen, an older policy would be accepted as new.
func (d *Store) neverSeen() error {
	if _, err := d.disk.Size(activeName); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%w: %s is missing, and without it an older policy could be taken for a newer one; "+
		"activate a policy with --allow-rollback and a reason, which creates the file again", ErrDamaged, seenName)
}

// Seen is the highest sequence of each release, by its name and channel.
type Seen map[string]Highest

// Of returns the highest of a release; the zero value if none was seen.
func (s Seen) Of(name, channel string) Highest { return s[seenKey(name, channel)] }

// seenKey identifies a release: neither part has a line break.
func seenKey(name, channel string) string { return name + "\n" + channel }

// raise records a release that was seen.
func (s Seen) raise(r Release, at int64) {
	key := seenKey(r.Name, r.Channel)
	if !r.None() && r.Sequence > s[key].Sequence {
		s[key] = Highest{r.Sequence, r.Archive, at}
	}
}

// history is the activations by generation; the last one may be incomplete.
type history struct {
	Activations []Activation `json:"activations"`
}

// upTo returns the completed activations.
func (h history) upTo(generation int64) []Activation {
	return slices.DeleteFunc(slices.Clone(h.Activations), func(a Activation) bool { return a.Generation > generation })
}

// last derives the active activations from the history.
func (h history) last() *Active {
	a := &Active{Layers: map[string]Activation{}}
	for _, one := range h.Activations {
		a.Layers[one.Layer] = one
		a.Generation = one.Generation
	}
	return a
}

func (d *Store) history() (history, error) {
	var h history
	err := d.read(historyName, maxFile, &h)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	return h, err
}
