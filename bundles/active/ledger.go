package active

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/releases"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// LaterInLedger compares the active bundles with the newest activation in the ledger, and returns
// the latter if they differ: the ledger survives a deletion of the store.
func LaterInLedger(store *audit.Store, active *releases.Active) (string, error) {
	last := ""
	for r, err := range store.Ledger() {
		if err != nil {
			return "", fmt.Errorf("ledger: %w", err)
		}
		if r.Note == nil {
			continue
		}
		switch r.Note.What {
		case audit.NoteActivated:
			last = r.Note.Detail
		case noteFailed:
			last = ""
		}
	}
	if last == "" || strings.HasPrefix(last, fmt.Sprintf("generation %d,", active.Generation)) {
		return "", nil
	}
	return last, nil
}

// NotOlder returns an error if the store of bundles is older than the ledger, or is
// damaged, since the highest sequence seen would be lost.
func NotOlder(log *audit.Store) error {
	s, err := Releases(log.Dir).State()
	if err != nil {
		return err
	}
	if len(s.Lost) > 0 {
		return fmt.Errorf("%w; restore the state directory from a complete copy", errors.Join(s.Lost...))
	}
	last, err := LaterInLedger(log, s.Active)
	if err != nil || last == "" {
		return err
	}
	return fmt.Errorf("the latest activation in the ledger is %s, but the store of bundles is at generation %d, from another time; "+
		"restore the state directory from one complete copy", last, s.Active.Generation)
}
