package releases

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// State is the contents of a locked store.
type State struct {
	Active  *Active
	History []Activation // possible targets of a rollback, the oldest first
	Seen    Seen
	Lost    []error // damaged files, reconstructed from the rest; the change rewrites them
	// SeenLost reports whether Seen was lost: it is reconstructed from the history, so
	// an older policy may be accepted as new.
	SeenLost bool
}

// Next is a change to make.
type Next struct {
	Layer    string
	Release  Release
	Archive  []byte // nil: the archive is stored already
	Envelope []byte // nil: stored already, or there is none
	At       int64  // Unix ms
	By       string
	Reason   string
	Rollback bool
	Before   int64 // target of a later rollback: the generation that was active, or its Before for a rollback

	// Record is called before the change is made, which is not made if it fails.
	Record func(Activation) error
}

// Change activates the result of decide; nil changes nothing. The store is locked in the meantime.
// After an error the previous activation stays active, unless a folder could not be written: then
// it is one of the two.
func (d *Store) Change(ctx context.Context, decide func(*State) (*Next, error)) (*Activation, error) {
	release, err := d.lock(ctx)
	if err != nil {
		return nil, err
	}
	made, err := d.change(decide)
	return made, errors.Join(err, release())
}

func (d *Store) change(decide func(*State) (*Next, error)) (*Activation, error) {
	s, err := d.State()
	if err != nil {
		return nil, err
	}
	next, err := decide(s)
	if err != nil || next == nil {
		return nil, err
	}
	if err := next.check(s); err != nil {
		return nil, err
	}
	if err := d.begin(s); err != nil {
		return nil, err
	}
	if err := d.keep(next); err != nil {
		return nil, err
	}
	return d.carryOut(s, next)
}

// check refuses changes that could not be rolled back or found later.
func (n *Next) check(s *State) error {
	r := n.Release
	switch {
	case n.Layer == "":
		return errors.New("activate: no layer is named")
	case n.Archive != nil && r.Archive != Sum(n.Archive), n.Envelope != nil && r.Envelope != Sum(n.Envelope):
		return errors.New("activate: the bytes are not those of the release")
	case len(n.Archive) > maxObject || len(n.Envelope) > maxEnvelope:
		return fmt.Errorf("activate: an archive has at most %d bytes, an envelope %d", maxObject, maxEnvelope)
	case len(s.Seen) >= maxSeen && s.Seen.Of(r.Name, r.Channel) == (Highest{}):
		return fmt.Errorf("activate: %d releases of other names were seen already, which is the maximum", maxSeen)
	}
	return nil
}

// State reads all of a store. Files of its own that are missing or damaged are
// reconstructed from the others and reported; archives are not examined.
func (d *Store) State() (*State, error) {
	s := &State{}
	h, err := d.history()
	if err = s.lost(err); err != nil {
		return nil, err
	}
	s.Active, err = d.Active()
	if err = s.lost(err); err != nil {
		return nil, err
	}
	if s.Active == nil {
		s.Active = h.last()
	}
	s.History = h.upTo(s.Active.Generation)
	s.remember()
	s.Seen, err = d.Seen()
	s.SeenLost = errors.Is(err, ErrDamaged)
	if err = s.lost(err); err != nil {
		return nil, err
	}
	if s.SeenLost {
		s.Seen = Seen{}
	}
	for _, a := range s.History {
		s.Seen.raise(a.Release, a.At)
	}
	return s, nil
}

// lost records an error from which the rest of the store allows recovery.
func (s *State) lost(err error) error {
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	s.Lost = append(s.Lost, err)
	return nil
}

// remember adds the active activations to the history, in case they were lost.
func (s *State) remember() {
	for layer, a := range s.Active.Layers {
		if !slices.ContainsFunc(s.History, func(h Activation) bool { return h.Generation == a.Generation }) {
			s.Lost = append(s.Lost, fmt.Errorf("%w: its history lacks generation %d, which is active in the %s layer", ErrDamaged,
				a.Generation, layer))
			s.History = append(s.History, a)
		}
	}
	slices.SortFunc(s.History, func(a, b Activation) int { return int(a.Generation - b.Generation) })
}

// Find returns the newest activation of a layer whose archive or policy digest
// begins with a string, or whose sequence it is.
func (s *State) Find(layer, what string) (Activation, error) {
	var found []Activation
	for _, a := range slices.Backward(s.History) {
		same := func(f Activation) bool { return f.Archive == a.Archive }
		if a.Layer == layer && a.names(what) && !slices.ContainsFunc(found, same) {
			found = append(found, a)
		}
	}
	switch len(found) {
	case 0:
		return Activation{}, fmt.Errorf("%s is not a stored bundle of the %s layer; `reviewer policy list` shows them", what, layer)
	case 1:
		return found[0], nil
	}
	return Activation{}, fmt.Errorf("%s may mean %s or %s; give more digits of the archive's digest", what, found[0].Release, found[1].Release)
}

// names reports whether a string identifies this activation's release.
func (a Activation) names(what string) bool {
	const least = 6 // digits of a digest
	switch {
	case a.None() || what == "":
		return false
	case what == fmt.Sprint(a.Sequence):
		return true
	}
	return len(what) >= least && (strings.HasPrefix(a.Archive, what) ||
		strings.HasPrefix(strings.TrimPrefix(a.Digest, "h1:"), strings.TrimPrefix(what, "h1:")))
}

// Previous returns the release to which a layer rolls back; the zero value means none.
// It returns an error if the layer has no bundle.
func (s *State) Previous(layer string) (Activation, error) {
	now, ok := s.Active.Layers[layer]
	if !ok || now.None() {
		return Activation{}, fmt.Errorf("no bundle is active in the %s layer, so there is nothing to roll back", layer)
	}
	if now.Before == 0 {
		return Activation{Layer: layer}, nil
	}
	for _, a := range s.History {
		if a.Generation == now.Before {
			return a, nil
		}
	}
	return Activation{}, fmt.Errorf("what was active before %s is no longer kept; name another with --to: `reviewer policy list` shows them",
		now.Release)
}

// begin creates the folders and the initial files, so that a store that lost them does
// not look new.
func (d *Store) begin(s *State) error {
	if err := d.disk.Mkdir(objectsName); err != nil {
		return fmt.Errorf("create the folder of activated policies: %w", err)
	}
	if err := d.disk.SyncDir("."); err != nil {
		return fmt.Errorf("write %s: %w", d.Dir, err)
	}
	if _, err := d.disk.Size(activeName); s.Active.Generation > 0 || err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for %s: %w", d.path(activeName), err)
	}
	if err := d.write(seenName, s.Seen); err != nil {
		return err
	}
	return d.write(activeName, s.Active)
}

// keep stores the bytes of a release, or checks that they are stored.
func (d *Store) keep(n *Next) error {
	if n.Release.None() {
		return nil
	}
	if n.Archive == nil {
		_, err := d.Archive(n.Release)
		_, other := d.Envelope(n.Release)
		return errors.Join(err, other)
	}
	if err := d.put(n.Archive); err != nil {
		return err
	}
	if n.Envelope == nil {
		return nil
	}
	return d.put(n.Envelope)
}

// carryOut writes the change: first the highest sequences, so that after a crash no
// older policy is accepted as new, then the history, and last the active releases.
func (d *Store) carryOut(s *State, n *Next) (*Activation, error) {
	made := Activation{
		Generation: s.Active.Generation + 1, Layer: n.Layer, Release: n.Release,
		At: n.At, By: n.By, Reason: n.Reason, Rollback: n.Rollback, Before: n.Before,
	}
	s.Seen.raise(n.Release, n.At)
	s.Active.Layers[n.Layer], s.Active.Generation = made, made.Generation
	s.History = s.trimmed(append(s.History, made))
	if err := d.write(seenName, s.Seen); err != nil {
		return nil, err
	}
	if err := d.write(historyName, history{s.History}); err != nil {
		return nil, err
	}
	if n.Record != nil {
		if err := n.Record(made); err != nil {
			return nil, err
		}
	}
	if err := d.write(activeName, s.Active); err != nil {
		return nil, err
	}
	if len(s.Lost) == 0 { // else bytes that seem unreferenced may be all that is left
		d.tidy(s)
	}
	return &made, nil
}

// trimmed drops the oldest activations above the limit: first those that no layer can
// reach by rollbacks, and never an active one.
func (s *State) trimmed(list []Activation) []Activation {
	within := s.reachable(list)
	for _, keep := range []func(Activation) bool{
		func(a Activation) bool { return within[a.Generation] },
		func(a Activation) bool { return s.Active.Layers[a.Layer].Generation == a.Generation },
	} {
		spare := len(list) - maxHistory
		list = slices.DeleteFunc(list, func(a Activation) bool {
			if spare <= 0 || keep(a) {
				return false
			}
			spare--
			return true
		})
	}
	return list
}

// reachable returns the generations that layers can reach by rollbacks, and the active
// ones.
func (s *State) reachable(list []Activation) map[int64]bool {
	before, found := map[int64]int64{}, map[int64]bool{}
	for _, a := range list {
		before[a.Generation] = a.Before
	}
	for _, a := range s.Active.Layers {
		for g := a.Generation; g > 0 && !found[g]; g = before[g] {
			found[g] = true
		}
	}
	return found
}

// tidy removes unreferenced bytes. Failures are ignored: the next activation tries
// again.
func (d *Store) tidy(s *State) {
	used := map[string]bool{}
	for _, a := range s.History {
		used[a.Archive], used[a.Envelope] = true, true
	}
	names, err := d.disk.List(objectsName)
	if err != nil {
		return
	}
	for _, name := range names {
		if !used[name] {
			_ = d.disk.Remove(path.Join(objectsName, name))
		}
	}
}
