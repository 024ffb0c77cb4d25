package active

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/releases"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// The state folder belongs to the user, so an agent can write there too. Where the person has a key, its
// files count only as far as the ledger has an act that the person signed, or a trusted key signed the bundle.

// SignedActivation is what a person signs when they activate a bundle.
type SignedActivation struct {
	Act      string           `json:"act"`
	Layer    string           `json:"layer"`
	Release  releases.Release `json:"release"` // without the program that checked it
	Rollback bool             `json:"rollback"`
	Reason   string           `json:"reason"`
}

// ActivationAct returns what a person signs when they activate a bundle.
func ActivationAct(a releases.Activation) SignedActivation {
	a.Checked = ""
	return SignedActivation{"activate", a.Layer, a.Release, a.Rollback, a.Reason}
}

// SignedTrust is what a person signs when they accept a trust file.
type SignedTrust struct {
	Act     string `json:"act"`
	Path    string `json:"path"`
	Version int64  `json:"version"`
	SHA256  string `json:"sha256"` // of the file, which contains the keys
}

// TrustAct returns what a person signs when they accept a trust file at a path.
func TrustAct(path string, t *trust.Trust) SignedTrust {
	return SignedTrust{"trust", path, t.Version, t.SHA256}
}

func digestOfAct(act any) string {
	b, err := engine.CanonicalOf(act)
	if err != nil {
		return "" // not reached: these have a canonical form
	}
	return engine.HexSum(b)
}

// ledger returns the log whose ledger says what the person signed.
func (m Machine) ledger() *audit.Store {
	if m.Log != nil {
		return m.Log
	}
	return &audit.Store{Dir: m.Home}
}

// noted is a note of the ledger about an activation.
var noted = engine.Regexp(`^generation (\d+), (\w+) layer: (?:no bundle|(.*), sequence (\d+)(?:, channel ([^,]+))?, ` +
	`policy \S+, archive sha256:([0-9a-f]{64}), )`)

// claim is a record of the ledger that says what is active in a layer.
type claim struct {
	record     *engine.Record
	act        bool   // a person signed it
	free       bool   // it came before the first key, and counts without a signature
	generation int64  // of a note
	name       string // of a note: name and version
	channel    string
	sequence   int64
	archive    string // of a note; empty: no bundle
}

// claims returns the claims about a layer, oldest first; after an act, none from before it.
func claims(list []*engine.Record, keyed int64, layer string) []claim {
	var found []claim
	for _, r := range list {
		if c := r.Control; c != nil {
			if c.Do == engine.ControlActivate && c.Mode == layer {
				found = []claim{{record: r, act: true}}
			}
			continue
		}
		m := noted().FindStringSubmatch(r.Note.Detail)
		if r.Note.What != audit.NoteActivated || m == nil || m[2] != layer {
			continue
		}
		c := claim{record: r, free: r.N < keyed, name: m[3], channel: m[5], archive: m[6]}
		c.generation, _ = strconv.ParseInt(m[1], 10, 64)
		c.sequence, _ = strconv.ParseInt(m[4], 10, 64)
		found = append(found, c)
	}
	return found
}

// is reports whether a claim is about an activation.
func (c *claim) is(a releases.Activation) bool {
	if c.act {
		digest := digestOfAct(ActivationAct(a))
		return digest != "" && digest == c.record.Control.Digest
	}
	return a.Archive == c.archive && (a.Generation == c.generation || c.archive != "")
}

// errGone means that the ledger has an activation whose bundle is not in the store.
var errGone = errors.New("the ledger has an activation that the store of bundles lacks: it was changed or removed. " +
	"Restore the state directory from a complete copy, or activate the policy again: `reviewer policy activate ARCHIVE`")

// believe replaces the activations of the store by those that the person's signature, or that of a trusted key,
// shows to be active.
func (h *Layers) believe() error {
	list, keyed, err := h.machine.ledger().PolicyRecords()
	if err != nil || keyed == 0 {
		return err
	}
	there, err := h.Releases.Recorded()
	if err != nil {
		return fmt.Errorf("activated policies: %w (in %s)", err, h.Releases.Dir)
	}
	stored := h.Active
	h.Active = &releases.Active{Generation: stored.Generation, Layers: map[string]releases.Activation{}}
	for _, layer := range ActiveKinds() {
		own := []releases.Activation{}
		if a, ok := stored.Layers[layer]; ok {
			own = append(own, a)
		}
		for _, a := range slices.Backward(there) {
			if a.Layer == layer {
				own = append(own, a)
			}
		}
		now, ok, err := h.inForce(claims(list, keyed, layer), own)
		if err != nil {
			if h.lost[layer] = err; len(own) > 0 && own[0].Generation == stored.Layers[layer].Generation {
				h.Active.Layers[layer] = own[0] // which Source refuses
			}
			continue
		}
		if ok {
			h.Active.Layers[layer] = now
			h.Active.Generation = max(h.Active.Generation, now.Generation)
		}
		if was := stored.Layers[layer]; was.Archive != now.Archive {
			h.disbelieved = append(h.disbelieved, fmt.Sprintf("the %s layer of %s is %s, which nobody with the approval code or a trusted key "+
				"activated: %s is active", layer, h.Releases.Dir, was.Release, now.Release))
		}
	}
	return nil
}

// State reads the store of bundles, with the activations that are active.
func (m Machine) State() (*releases.State, error) {
	s, err := Releases(m.Home).State()
	if err != nil {
		return nil, err
	}
	return s, m.follow(s, "")
}

// follow replaces activations that nobody signed by those that are active. It returns an error if one of another layer
// than the one that is to change is lost.
func (m Machine) follow(s *releases.State, changing string) error {
	h := m.layersWith("", s.Active)
	if err := h.believe(); err != nil {
		return err
	}
	for layer, err := range h.lost {
		switch changing {
		case "":
		case layer:
			delete(h.Active.Layers, layer) // to activate it again is a change
		default:
			return fmt.Errorf("%s policy: %w", layer, err)
		}
	}
	s.Active = h.Active
	for _, a := range h.Active.Layers {
		if !slices.ContainsFunc(s.History, func(h releases.Activation) bool { return h.Generation == a.Generation }) {
			s.History = append(s.History, a)
		}
	}
	return nil
}

// inForce returns the activation that the newest claim proves.
func (h *Layers) inForce(list []claim, stored []releases.Activation) (releases.Activation, bool, error) {
	for i := len(list) - 1; i >= 0; i-- {
		c := &list[i]
		at := slices.IndexFunc(stored, c.is)
		switch {
		case at < 0:
			return releases.Activation{}, false, errGone
		case c.act || c.free:
			return stored[at], true, nil
		case list[0].act && !slices.ContainsFunc(list[1:i], func(o claim) bool { return o.archive != c.archive }) && list[0].is(stored[at]):
			continue // the note about the act
		}
		ok, err := h.vouchedFor(list[:i], stored, stored[at])
		if err != nil || ok {
			return stored[at], ok, err
		}
	}
	return releases.Activation{}, false, nil
}

// vouchedFor reports whether trusted keys signed an activated release, and no newer one was active before: to return to
// an older one is up to the person.
func (h *Layers) vouchedFor(before []claim, stored []releases.Activation, a releases.Activation) (bool, error) {
	switch err := h.signedRelease(a); {
	case errors.Is(err, errNotSigned):
		return false, nil // which no command can have activated
	case err != nil: // keys that are trusted no longer may have signed it: the active policy must not become milder
		return false, h.unusable(a, err)
	}
	for i := range before {
		c := &before[i]
		if !c.act && (c.sequence <= a.Sequence || c.channel != a.Channel || !strings.HasPrefix(c.name, a.Name+" ")) {
			continue
		}
		at := slices.IndexFunc(stored, c.is)
		switch {
		case at < 0 && c.free:
			return false, nil
		case at < 0:
			return false, errGone
		case stored[at].Sequence <= a.Sequence || stored[at].Name != a.Name || stored[at].Channel != a.Channel:
			continue
		case c.act || c.free:
			return false, nil
		}
		if h.signedRelease(stored[at]) == nil {
			return false, nil
		}
	}
	return true, nil
}

// errNotSigned means that a release has no signatures, or that there is no trust file.
var errNotSigned = errors.New("it is not signed")

// signedRelease returns an error unless trusted keys signed a stored release, as of the time of its activation.
func (h *Layers) signedRelease(a releases.Activation) error {
	if a.None() || a.Unsigned {
		return errNotSigned
	}
	if known, ok := h.checked[a.Release.String()]; ok {
		return known
	}
	t, err := h.trust()
	if err != nil {
		return err
	}
	if t.None() {
		return errNotSigned
	}
	raw, err := h.Releases.Archive(a.Release)
	if err != nil {
		return err
	}
	envelope, err := h.Releases.Envelope(a.Release)
	if err != nil {
		return err
	}
	v := t.Check(trust.Candidate{File: a.Release.String(), Archive: raw, Envelope: envelope, Name: a.Name, Channel: a.Channel, Now: a.At})
	h.checked[a.Release.String()] = v.Err()
	return v.Err()
}

// Disbelieved says what in the store nobody signed, and what is active instead.
func (h *Layers) Disbelieved() []string { return h.disbelieved }

// acceptedTrust is the user's own trust file that a person accepted last.
type acceptedTrust struct {
	act  string    // digest of the act; empty: see pin
	path string    // that the act names: the folder may have several names
	pin  trust.Pin // from before the first key
}

// signedTrust returns the trust file that was accepted last: by a signed act, or before the first key.
func signedTrust(list []*engine.Record, keyed int64) acceptedTrust {
	var a acceptedTrust
	word := ledgerTrust{Pins: map[string]trust.Pin{}}
	for _, r := range list {
		switch {
		case r.Control != nil && r.Control.Do == engine.ControlTrust:
			a = acceptedTrust{act: r.Control.Digest, path: r.Control.Path}
		case r.Note != nil && r.Note.What == audit.NoteTrust && r.N < keyed && word.take(r) == nil:
			a.pin = word.Own
		}
	}
	return a
}

func (a acceptedTrust) none() bool { return a == acceptedTrust{} }

func (a acceptedTrust) is(t *trust.Trust) bool {
	switch {
	case t == nil:
		return false
	case a.act != "":
		return digestOfAct(TrustAct(a.path, t)) == a.act
	}
	return t.Pin() == a.pin
}

// believedTrust returns the active trust file. Where the person has a key, one of the user's own counts only as they
// accepted it: an edited file is replaced by the text in its signatures, and one that nobody accepted is ignored.
func (m Machine) believedTrust() (Trust, error) {
	list, keyed, err := m.ledger().PolicyRecords()
	if err != nil {
		return Trust{}, err
	}
	t, err := activeTrust(m.Home)
	if keyed == 0 || t.Organisation {
		return trustOf(t, err, m.ledger())
	}
	accepted := signedTrust(list, keyed)
	path := OwnTrust(m.Home)
	switch {
	case accepted.none():
		return Trust{}, nil
	case err == nil && accepted.is(t.Trust):
		return t, nil
	}
	if files, readErr := trustFiles(path); readErr == nil && files.Envelope != nil {
		if signed, sigErr := trust.SignedIn(files.Envelope); sigErr == nil && accepted.is(signed) {
			return Trust{Trust: signed, Path: path}, nil
		}
	}
	if _, _, told := TrustInForce(m.ledger()); told != nil {
		return t, told
	}
	return t, fmt.Errorf("the trust file %s is not the one that was accepted with the approval code; restore it", path)
}
