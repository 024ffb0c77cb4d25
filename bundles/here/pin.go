package here

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// noteTrust is what the ledger calls a trust file that came into force.
const noteTrust = "trust"

// ledgerWord is what the ledger tells a check.
type ledgerWord struct {
	Pins   map[string]trust.Pin // path of a trust file -> the one that was used last
	Latest int64                // Unix ms of the newest record
}

// wordOfLedger reads the ledger to its end.
func wordOfLedger(log *audit.Store) (ledgerWord, error) {
	word := ledgerWord{Pins: map[string]trust.Pin{}}
	for r, err := range log.Ledger() {
		if err != nil {
			return word, fmt.Errorf("read the ledger: %w; `reviewer audit verify` tells more", err)
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

func (w ledgerWord) take(r *engine.Record) error {
	var path string
	var pin trust.Pin
	if _, err := fmt.Sscanf(r.Note.Detail, trustDetail, &path, &pin.Version, &pin.SHA256); err != nil {
		return fmt.Errorf("record %s of the ledger tells of a trust file that cannot be made out: %w", r.ID(), err)
	}
	w.Pins[path] = pin
	return nil
}

// trustDetail is how a note begins: the path, the version and the SHA-256.
const trustDetail = "%q version %d sha256 %s"

// NoteOfTrust tells the ledger which trust file holds from now on, and why.
func NoteOfTrust(ctx context.Context, log *audit.Store, path string, t *trust.Trust, why string) error {
	return log.Note(ctx, engine.Note{What: noteTrust, Detail: fmt.Sprintf(trustDetail, path, t.Version, t.SHA256) + " " + why})
}

// TrustInForce reads the trust file that holds, and refuses one that is older
// than, or other than, what the ledger says was used; also none where there was
// one. The organisation's is believed because nobody here can write it; a
// person's own only once they said so.
func TrustInForce(log *audit.Store) (Trust, ledgerWord, error) {
	word, err := wordOfLedger(log)
	if err != nil {
		return Trust{}, word, err
	}
	t, err := trustThatHolds(log.Dir)
	if err != nil {
		return t, word, err
	}
	if t.None() {
		t.Path = OwnTrust(log.Dir)
	}
	pin := word.Pins[t.Path]
	if err := t.Follows(pin); err != nil {
		return t, word, fmt.Errorf("%s: %w", t.Path, err)
	}
	if !t.None() && !t.Organisation && pin == (trust.Pin{}) {
		return t, word, &trust.Refusal{Code: trust.Untrusted,
			Err: fmt.Errorf("%s %w: read it, and let a person run `reviewer policy trust rotate %s --init`", t.Path, ErrNeverBelieved, t.Path)}
	}
	return t, word, nil
}

// ErrNeverBelieved says of a person's own trust file that nobody put it in force:
// whoever can write it could have made it up.
var ErrNeverBelieved = errors.New("was never put in force on this machine")

// OwnTrust is where a person's own trust file lies.
func OwnTrust(home string) string { return strings.TrimSuffix(home, "/") + "/" + trust.FileName }
