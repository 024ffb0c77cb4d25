package here

import (
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/depot"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// LaterInLedger compares what is active with the newest activation that the
// ledger tells of, and returns that where it is another: whoever takes away the
// depot cannot take away the ledger.
func LaterInLedger(store *audit.Store, active *depot.Active) (string, error) {
	last := ""
	for r, err := range store.Ledger() {
		if err != nil {
			return "", fmt.Errorf("ledger: %w", err)
		}
		if r.Note == nil {
			continue
		}
		switch r.Note.What {
		case noteActivated:
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
