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

// noteTrust is what the ledger calls a trust file that came into force.
const noteTrust = "trust"

// ledgerTrust is what the ledger tells a check.
type ledgerTrust struct {
	Pins   map[string]trust.Pin // path of a trust file -> the one that was used last
	Own    trust.Pin            // the one that was used last of a person's own, wherever the state directory was then
	OwnAt  string               // its path then; empty: there was none
	Latest int64                // Unix ms of the newest record
}

// readLedgerTrust reads the ledger to its end.
func readLedgerTrust(log *audit.Store) (ledgerTrust, error) {
	word := ledgerTrust{Pins: map[string]trust.Pin{}}
	for r, err := range log.Ledger() {
		if err != nil {
			return word, fmt.Errorf("read the ledger: %w; `reviewer audit verify` shows details", err)
		}
		word.Latest = max(word.Latest, r.T)
		if r.Note != nil && r.Note.What == noteTrust {
			if err := word.take(r); err != nil {
				return word, err
			}
		}
	}
	return word, nil
}

func (w *ledgerTrust) take(r *engine.Record) error {
	var path string
	var pin trust.Pin
	if _, err := fmt.Sscanf(r.Note.Detail, trustDetail, &path, &pin.Version, &pin.SHA256); err != nil {
		return fmt.Errorf("record %s of the ledger refers to a trust file in an unreadable form: %w", r.ID(), err)
	}
	w.Pins[path] = pin
	if path != OwnTrust(filepath.Dir(OrganisationDir())) {
		w.Own, w.OwnAt = pin, path
	}
	return nil
}

// trustDetail is how a note begins: the path, the version and the SHA-256.
const trustDetail = "%q version %d sha256 %s"

// NoteOfTrust records in the ledger which trust file is in force from now on, and why.
func NoteOfTrust(ctx context.Context, log *audit.Store, path string, t *trust.Trust, why string) error {
	return log.Note(ctx, engine.Note{What: noteTrust, Detail: fmt.Sprintf(trustDetail, path, t.Version, t.SHA256) + " " + why})
}

// TrustInForce reads the trust file that is active, and refuses one that is older
// than, or other than, what the ledger says was used; also none where there was
// one. The organisation's is trusted because nobody here can write it; a person's
// own only once they have accepted it, in this place.
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

// trustOf is trustThatHolds. What is wrong with the file is said as TrustInForce
// says it, which reads the ledger for that.
func trustOf(home string) (Trust, error) {
	t, err := activeTrust(home)
	if err == nil {
		return t, nil
	}
	if _, _, told := TrustInForce(&audit.Store{Dir: home}); told != nil {
		err = told
	}
	return t, err
}

// pin is what was used last in the place of a trust file. A person's own is pinned
// wherever it is: moving the state directory forgets nothing.
func (w *ledgerTrust) pin(t Trust) trust.Pin {
	if t.Organisation {
		return w.Pins[t.Path]
	}
	return w.Own
}

// accepted is an error unless a person put a trust file of their own in force,
// where it is now. A later version than was used follows from it only by a
// rotation; of one that was cut short the older file is still there.
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

// sameFile reports whether two names are of one file, as they are where a link
// leads to the state directory.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// ErrMoved says about a trust file that it was put in force in another place.
var ErrMoved = errors.New("the state directory was moved, copied or restored")

// ErrNotAccepted says about a person's own trust file that nobody put it in force:
// whoever can write it could have made it up.
var ErrNotAccepted = errors.New("was never accepted on this machine")

// OwnTrust is where a person's own trust file lies.
func OwnTrust(home string) string { return strings.TrimSuffix(home, "/") + "/" + trust.FileName }
