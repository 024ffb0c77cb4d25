package active

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// ledgerTrust is the part of the ledger that checks use.
type ledgerTrust struct {
	Pins   map[string]trust.Pin // path of a trust file -> the one that was used last
	Own    trust.Pin            // the user's own trust file that was used last, at any path
	OwnAt  string               // its path then; empty: there was none
	Latest int64                // Unix ms of the newest record

	act string // digest of the last signed act about the user's own trust file
}

// readLedgerTrust reads the ledger to its end.
func readLedgerTrust(log *audit.Store) (ledgerTrust, error) {
	word := ledgerTrust{Pins: map[string]trust.Pin{}}
	acts, err := log.Acts(engine.ControlTrust)
	if err != nil {
		return word, err
	}
	_, keyed, err := log.PolicyRecords()
	if err != nil {
		return word, err
	}
	for r, err := range log.Ledger() {
		if err != nil {
			return word, fmt.Errorf("read the ledger: %w; `reviewer audit verify` shows details", err)
		}
		word.Latest = max(word.Latest, r.T)
		if len(acts) > 0 && acts[0].N == r.N {
			word.act, acts = acts[0].Control.Digest, acts[1:]
		}
		if r.Note != nil && r.Note.What == audit.NoteTrust {
			if keyed > 0 && r.N > keyed && word.forged(r) {
				continue
			}
			if err := word.take(r); err != nil {
				return word, err
			}
		}
	}
	return word, nil
}

// forged reports whether a note about the user's own trust file is not about the one that a person accepted last with
// their key.
func (w *ledgerTrust) forged(r *engine.Record) bool {
	path, pin, err := trustNoted(r)
	own := path != OwnTrust(filepath.Dir(OrganisationDir()))
	return err != nil || own && digestOfAct(SignedTrust{"trust", path, pin.Version, pin.SHA256}) != w.act
}

// trustNoted reads a note about a trust file.
func trustNoted(r *engine.Record) (path string, pin trust.Pin, err error) {
	_, err = fmt.Sscanf(r.Note.Detail, trustDetail, &path, &pin.Version, &pin.SHA256)
	return path, pin, err
}

func (w *ledgerTrust) take(r *engine.Record) error {
	path, pin, err := trustNoted(r)
	if err != nil {
		return fmt.Errorf("record %s of the ledger refers to a trust file in an unreadable form: %w", r.ID(), err)
	}
	w.Pins[path] = pin
	if path != OwnTrust(filepath.Dir(OrganisationDir())) {
		w.Own, w.OwnAt = pin, path
	}
	return nil
}

// trustDetail is how such a record begins: the path, the version and the SHA-256.
const trustDetail = "%q version %d sha256 %s"

// NoteOfTrust records in the ledger which trust file is active from now on, and why.
func NoteOfTrust(ctx context.Context, log *audit.Store, path string, t *trust.Trust, why string) error {
	return log.Note(ctx, engine.Note{What: audit.NoteTrust, Detail: fmt.Sprintf(trustDetail, path, t.Version, t.SHA256) + " " + why})
}

// TrustInForce reads the trust file that is active, and refuses one that is older than
// the one in the ledger or differs from it, or is missing. The organisation's file is
// trusted because only administrators can write it; a user's own only after they have
// accepted it, at this path.
func TrustInForce(log *audit.Store) (Trust, ledgerTrust, error) {
	word, err := readLedgerTrust(log)
	if err != nil {
		return Trust{}, word, err
	}
	t, err := activeTrust(log.Dir)
	if t.None() && t.Path == "" {
		t.Path = OwnTrust(log.Dir)
	}
	pin := word.pin(t)
	if err == nil {
		err = t.Follows(pin)
	}
	if err == nil && !t.None() && !t.Organisation {
		err = t.accepted(word)
	}
	return t, word, t.problem(err, pin)
}

// trustOf returns what activeTrust did. Only its error is that of TrustInForce, which reads all of the ledger.
func trustOf(t Trust, err error, log *audit.Store) (Trust, error) {
	if err == nil {
		return t, nil
	}
	if _, _, told := TrustInForce(log); told != nil {
		err = told
	}
	return t, err
}

// pin returns the trust file that was used last at a path. A user's own is pinned at
// any path, so that moving the state directory does not reset it.
func (w *ledgerTrust) pin(t Trust) trust.Pin {
	if t.Organisation {
		return w.Pins[t.Path]
	}
	return w.Own
}

// accepted returns an error unless a person accepted their own trust file at its
// current path. A later version than the one used must come from a rotation; after an
// interrupted one, the older file is still there.
func (t Trust) accepted(word ledgerTrust) error {
	p := &trust.FileProblem{}
	switch {
	case word.Own == (trust.Pin{}), t.Version > word.Own.Version && t.document != word.Own.SHA256:
		p.State, p.Why, p.Err = trust.StateUnaccepted, "was never accepted on this machine", ErrNotAccepted
		p.Remedy = fmt.Sprintf("a person reads it and runs `reviewer policy trust rotate %s --init`", shellWord(t.Path))
	case word.OwnAt != t.Path && !sameFile(word.OwnAt, t.Path):
		p.State, p.Err = trust.StateMoved, ErrMoved
		p.Why = fmt.Sprintf("was accepted as %s, so this state directory was moved, copied or restored", word.OwnAt)
		p.Remedy = "a person runs `reviewer policy trust accept`"
	default:
		return nil
	}
	return p.Refuse()
}

// sameFile reports whether two paths name the same file, for example through a link to
// the state directory.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// ErrMoved means that a trust file was accepted at another path.
var ErrMoved = errors.New("the state directory was moved, copied or restored")

// ErrNotAccepted means that a user's own trust file has not been accepted. Anyone who can write to
// its path could have created it.
var ErrNotAccepted = errors.New("was never accepted on this machine")

// OwnTrust returns the path of the user's own trust file.
func OwnTrust(home string) string { return strings.TrimSuffix(home, "/") + "/" + trust.FileName }
