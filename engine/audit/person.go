package audit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Signer signs what a person chose, with the key that their approval code yields.
type Signer interface {
	Key() engine.PersonKey
	Sign(statement []byte) []byte
}

// choices are what the ledger has of people: their keys, the sessions that they or policy stopped, the
// permissions that were used up, and their acts. They are read from the records themselves and never from a
// keyframe or a snapshot, which a program of the same user can write: only a record can
// be signed.
type choices struct {
	home  string            // chain id of the ledger: the installation
	from  string            // Store.Fingerprint
	now   *engine.PersonKey // the latest key; nil: no key counts
	seen  bool              // an agent may know the code of that key, so it signs nothing but the next one
	ever  []string          // fingerprints of the keys that count, which follow each other
	other []string          // of those that do not
	made  int64             // when the key was made
	stops map[engine.SessionKey]StoppedChain
	given map[given]bool   // permissions that a person signed
	used  map[string]bool  // ids of the records of permissions
	acts  []*engine.Record // signed, oldest first
	size  int64            // of the ledger when it was read

	policy []*engine.Record // what the ledger has about activations and trust files: notes, and signed acts
	first  int64            // number of the record of the first key; 0: there is none

	installation Installation
}

// given is a permission in a chain.
type given struct {
	chain string
	history.Permit
}

// choices reads the ledger, again only if it has grown.
func (s *Store) choices() (*choices, error) {
	size := s.LedgerSize()
	s.mu.Lock()
	known := s.person
	s.mu.Unlock()
	if known != nil && known.size == size {
		return known, nil
	}
	known = &choices{from: s.Fingerprint, size: size,
		stops: map[engine.SessionKey]StoppedChain{}, used: map[string]bool{}, given: map[given]bool{},
		installation: Installation{Removed: map[[2]string]bool{}, Events: map[string]Event{}}}
	number := int64(0)
	for line, err := range lines(s.ledgerDir(), 0) {
		if err != nil {
			return nil, fmt.Errorf("read the choices of people in the ledger: %w", err)
		}
		if number++; line.N != number {
			return nil, &Damage{File: line.File, Line: line.Number,
				What: fmt.Sprintf("n is %d, not %d: lines were removed, repeated or moved", line.N, number)}
		}
		if known.home != "" && !concernsPeople(line.Raw) {
			continue
		}
		r, err := readRecord(line.Raw)
		if err != nil {
			return nil, damaged(line.File, line.Number, err)
		}
		known.home = r.Chain
		known.add(r)
	}
	s.mu.Lock()
	s.person = known
	s.mu.Unlock()
	return known, nil
}

// The notes of the ledger about the policy of the machine.
const (
	NoteActivated = "policy_activated"
	NoteTrust     = "trust"
	NoteChannel   = "release_channel" // from which releases are taken; detail: its name
)

// concernsPeople reports whether a line may be a choice or a note that choices contain.
func concernsPeople(line []byte) bool {
	return slices.ContainsFunc([]string{`"control":{"do":"`, `"what":"` + NoteActivated, `"what":"` + NoteTrust, `"what":"` + NoteChannel,
		`"what":"` + NoteCodeSeen, `"what":"install`, `"what":"` + NoteUninstalled},
		func(s string) bool { return bytes.Contains(line, []byte(s)) })
}

func (k *choices) add(r *engine.Record) {
	c, key := r.Control, engine.SessionKey{Harness: r.Harness, Session: r.Session}
	switch {
	case r.Chain != k.home:
	case c == nil:
		k.note(r)
	case c.Do == engine.ControlKey:
		k.addKey(r)
	case c.Loosens() && !r.SignedBy(k.counting()):
	case c.Do == engine.ControlUsed:
		k.used[c.Record] = true
	case c.Of == "":
		if k.acts = append(k.acts, r); c.Do == engine.ControlActivate || c.Do == engine.ControlTrust {
			k.policy = append(k.policy, r)
		}
		if c.Do == engine.ControlUninstall {
			k.installation.remove(c.Reason, func(string) bool { return true })
		}
	case history.PermitOf(c) != history.Permit{}:
		k.given[given{c.Of, history.PermitOf(c)}] = true
	case c.Do == engine.ControlStop || c.Do == engine.ControlAbort:
		told := ""
		if c.By == byPolicy || r.SignedBy(k.now) {
			told = c.Reason
		}
		k.stops[key] = StoppedChain{Key: key, Chain: c.Of, Reason: told, Final: k.stops[key].Final || c.Do == engine.ControlAbort}
	case c.Do != engine.ControlResume || k.stops[key].Final:
	case c.Mode == "":
		delete(k.stops, key)
	default:
		k.stops[key] = StoppedChain{Key: key, Chain: c.Of, Resumed: c.Mode, By: c.By}
	}
}

// addKey adopts a key that the one before signed. The first one is the ledger's own, or the one that the hook was given:
// whatever comes before that can be somebody else's.
func (k *choices) addKey(r *engine.Record) {
	if r.Control.Key == nil {
		return
	}
	f := r.Control.Key.Fingerprint()
	if k.now == nil && (k.from == "" || k.from == f) || r.SignedBy(k.now) {
		k.now, k.seen, k.ever, k.made = r.Control.Key, false, append(k.ever, f), r.T
		k.first = cmp.Or(k.first, r.N)
		return
	}
	k.other = append(k.other, f)
}

// note follows what the ledger says that is not a choice.
func (k *choices) note(r *engine.Record) {
	switch n := r.Note; {
	case n == nil:
	case n.What == NoteActivated || n.What == NoteTrust || n.What == NoteChannel:
		k.policy = append(k.policy, r)
	case n.What == NoteCodeSeen:
		k.seen = k.seen || k.now != nil && n.Detail == k.now.Fingerprint()
	default:
		k.installation.note(n, k.now != nil)
	}
}

// counting returns the key with which choices count; nil: there is none.
func (k *choices) counting() *engine.PersonKey {
	if k.seen {
		return nil
	}
	return k.now
}

// stopped reports whether the ledger has a stop of a session that no signed act ended.
func (k *choices) stopped(key engine.SessionKey) bool {
	stop, ok := k.stops[key]
	return ok && stop.Resumed == ""
}

// PersonKey returns the key with which the person signs; nil: none counts. made is when it was recorded, in Unix
// milliseconds. With a key of which CodeSeen is true, they sign only the next one.
func (s *Store) PersonKey() (key *engine.PersonKey, made int64, err error) {
	k, err := s.choices()
	if err != nil {
		return nil, 0, err
	}
	return k.now, k.made, nil
}

// ErrOtherKey means that the ledger has a key, and that it does not follow from Store.Fingerprint.
var ErrOtherKey = errors.New("the key for people's choices in this ledger is not the one that the hook was given")

// CheckFingerprint returns ErrOtherKey if no choice of a person counts because of Store.Fingerprint.
func (s *Store) CheckFingerprint() error {
	k, err := s.choices()
	if err == nil && k.now == nil && len(k.other) > 0 {
		err = ErrOtherKey
	}
	return err
}

// Replaced reports whether the state of a hook that was given a fingerprint is another one than when it was installed: its
// ledger never had a key, and it does not know the session.
func (s *Store) Replaced(key engine.SessionKey) (bool, error) {
	if s.Fingerprint == "" {
		return false, nil
	}
	k, err := s.choices()
	if err != nil || len(k.ever)+len(k.other) > 0 {
		return false, err
	}
	files, err := chainFiles(s.sessionDir(key))
	return err == nil && len(files) == 0, err
}

// NoteCodeSeen is the note of the ledger that a text which an agent may know is the approval code; detail: the
// fingerprint of its key.
const NoteCodeSeen = "approval_code_seen"

// CodeSeen reports whether an agent may know the code of PersonKey.
func (s *Store) CodeSeen() (bool, error) {
	k, err := s.choices()
	return err == nil && k.seen, err
}

// SetPersonKey records a key in the ledger. It counts from then on, in every session. A later key needs
// a signature by the one before.
func (s *Store) SetPersonKey(ctx context.Context, k engine.PersonKey, by string, old Signer) error {
	return s.ledgerSigned(ctx, old, &engine.Record{Kind: engine.KindControl, T: s.now(),
		Control: &engine.Control{Do: engine.ControlKey, By: by, Key: &k}})
}

// Act records in the ledger an act that concerns the machine and no session.
func (s *Store) Act(ctx context.Context, choice engine.Control, signer Signer) error {
	if choice.Loosens() && signer == nil {
		return ErrUnsigned
	}
	s.underPolicy(&choice, "", signer)
	return s.ledgerSigned(ctx, signer, &engine.Record{Kind: engine.KindControl, T: s.now(), Control: &choice})
}

// Acts returns the signed acts of one kind that concern the machine, oldest first.
func (s *Store) Acts(do string) ([]*engine.Record, error) {
	k, err := s.choices()
	if err != nil {
		return nil, err
	}
	var list []*engine.Record
	for _, r := range k.acts {
		if r.Control.Do == do {
			list = append(list, r)
		}
	}
	return list, nil
}

// PolicyRecords returns what the ledger has about activations and trust files, oldest first: notes, which anybody can
// write, and acts that the person signed. keyed is the number of the record of the first key: what came before it counts
// without a signature. 0: there is no key, and everything does.
func (s *Store) PolicyRecords() (list []*engine.Record, keyed int64, err error) {
	k, err := s.choices()
	if err != nil {
		return nil, 0, err
	}
	if k.first == 0 && s.Fingerprint != "" {
		return k.policy, 1, nil // the hook was given a key, and this ledger is another one
	}
	return k.policy, k.first, nil
}

// unbacked reports what a session's state has that no person signed, as the ledger has it: a keyframe, the snapshot or
// the chain was changed. Empty: nothing.
func (k *choices) unbacked(h *history.State) string {
	for _, f := range h.Keys {
		if !slices.Contains(k.ever, f) && !slices.Contains(k.other, f) {
			return fmt.Sprintf("the chain names a key for people's choices (%s) that the ledger does not know", f)
		}
	}
	if h.Person == nil || !slices.Contains(k.ever, h.Person.Fingerprint()) {
		return "" // what was permitted with another key is dropped
	}
	for _, p := range h.Permits() {
		if !k.given[given{h.Chain, p}] {
			return fmt.Sprintf("the chain has a permission (%s) that no person signed: a keyframe or the snapshot was changed", p.Do)
		}
	}
	return ""
}

// Installation reads the ledger.
func (s *Store) Installation() (*Installation, error) {
	k, err := s.choices()
	if err != nil {
		return nil, err
	}
	return &k.installation, nil
}

// followLedger gives a session's chain the person's key, and refuses a chain that had one that the ledger never had.
// What was permitted with a key that does not count is dropped. It stops a session again that the ledger has as stopped,
// and uses up the permissions that it has as used, whatever became of the session's log.
func (h *lockedChain) followLedger() error {
	if h.key == (engine.SessionKey{}) || h.c.state.Empty() {
		return nil
	}
	if err := h.heed(); err != nil {
		return err
	}
	known, err := h.s.choices()
	if err != nil {
		return err
	}
	if what := known.unbacked(h.c.state); what != "" {
		return &Damage{File: h.c.path(h.c.end.File), Line: h.c.end.Line, What: what}
	}
	person := h.c.state.Person
	drop := person == nil && len(h.c.state.Permits()) > 0 ||
		person != nil && (known.counting() == nil || !slices.Contains(known.ever, person.Fingerprint()))
	for _, f := range h.c.state.Keys {
		drop = drop || !slices.Contains(known.ever, f)
	}
	if drop {
		if err := h.choose(engine.Control{Do: engine.ControlKey, By: "ledger"}); err != nil {
			return err
		}
	}
	if now := known.counting(); now != nil && (h.c.state.Person == nil || *h.c.state.Person != *now) {
		if err := h.choose(engine.Control{Do: engine.ControlKey, Key: now}); err != nil {
			return err
		}
	}
	if stop := known.stops[h.key]; stop.Resumed != "" && h.c.state.Stop == nil && h.c.state.Resumed != stop.Resumed {
		return &Damage{File: h.c.path(h.c.end.File), Line: h.c.end.Line,
			What: "the chain lost the conditions on which the session was resumed: a keyframe or the snapshot was changed"}
	}
	for _, id := range h.c.state.Once() {
		if known.used[id] {
			if err := h.choose(engine.Control{Do: engine.ControlUsed, Record: id, By: "ledger"}); err != nil {
				return err
			}
		}
	}
	if h.c.state.Stop != nil || !known.stopped(h.key) {
		return nil
	}
	return h.choose(engine.Control{Do: engine.ControlStop, By: "ledger",
		Reason: "the ledger has a stop of this session that no person ended; its log was cut, changed or removed"})
}

func (h *lockedChain) choose(c engine.Control) error {
	return h.append(&engine.Record{Kind: engine.KindControl, T: max(h.s.now(), h.c.state.T), Control: &c})
}

// sign signs a choice at its place in the chain.
func (h *lockedChain) sign(r *engine.Record) error {
	if h.signer == nil || r.Control == nil {
		return nil
	}
	known, err := h.s.choices()
	if err != nil {
		return err
	}
	key := h.signer.Key()
	choice := *r.Control
	choice.Signed = &engine.Signature{Key: key.Fingerprint(), Home: known.home}
	if s := r.Control.Signed; s != nil {
		choice.Signed.Expires, choice.Signed.Policy = s.Expires, s.Policy
	}
	if choice.Signed.Answers, err = h.s.answered(r); err != nil {
		return err
	}
	r.Control = &choice
	line, err := engine.EncodeLine(r)
	if err != nil {
		return err
	}
	read, err := engine.DecodeLine(line) // as a reader will see it
	if err != nil {
		return err
	}
	statement, err := read.SignedBytes()
	if err != nil {
		return err
	}
	choice.Signed.Sig = fmt.Sprintf("%x", h.signer.Sign(statement))
	return nil
}

// underPolicy puts the digest of the active policy into the signature that a choice will have. It reads files, so no lock is
// held.
func (s *Store) underPolicy(choice *engine.Control, workspace string, signer Signer) {
	if signer == nil || s.Policy == nil {
		return
	}
	signed := engine.Signature{}
	if choice.Signed != nil {
		signed = *choice.Signed
	}
	signed.Policy = s.Policy(workspace)
	choice.Signed = &signed
}

// answered returns the hash of the record that a choice is about; empty: it is about none, or the record is gone.
func (s *Store) answered(r *engine.Record) (string, error) {
	chain, number, ok := strings.Cut(r.Control.Record, "-")
	n, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || r.Session == "" && r.Harness == "" {
		return "", nil
	}
	for line, err := range s.Lines(engine.SessionKey{Harness: r.Harness, Session: r.Session}, n) {
		if err != nil {
			return "", err
		}
		if line.N != n {
			break
		}
		if found, err := readRecord(line.Raw); err == nil && strings.HasPrefix(found.Chain, chain) {
			return engine.LineHash(line.Raw), nil
		}
		break
	}
	return "", nil
}

// ErrUnsigned means that a choice would change nothing, since nobody signed it.
var ErrUnsigned = errors.New("this needs the approval code: `reviewer approvals code` makes one")
