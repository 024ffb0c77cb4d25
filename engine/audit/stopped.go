package audit

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// StoppedChain is a session that was stopped, by a person or by policy, and was not
// resumed, or only on conditions, as the ledger lists it.
type StoppedChain struct {
	Key     engine.SessionKey
	Reason  string
	Final   bool   // a person aborted it: nobody can resume it
	Resumed string // the conditions on which it was resumed; empty: it is stopped
	By      string // who resumed it
}

// noteStopped records in the ledger that policy stopped a session: other sessions
// may have to stop with it. A stop that came from another session is not recorded
// there: it would outlive the first one.
func (s *Store) noteStopped(ctx context.Context, r *engine.Record) error {
	return s.ledger(ctx, &engine.Record{Kind: engine.KindControl, T: r.T, Session: r.Session, Harness: r.Harness,
		Control: &engine.Control{Do: engine.ControlStop, Reason: r.Act.Result, By: "policy", Of: r.Chain}})
}

// Stopped lists the sessions that are stopped, and those that were resumed on
// conditions. Of the ledger, only the records of people's choices are decoded.
func (s *Store) Stopped() ([]StoppedChain, error) {
	stopped := map[string]StoppedChain{}
	for line, err := range lines(s.ledgerDir(), 0) {
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(line.Raw, []byte(`"control":{"do":"`)) {
			continue
		}
		r, err := readRecord(line.Raw)
		if err != nil {
			return nil, damaged(line.File, line.Number, err)
		}
		switch c := r.Control; {
		case c == nil || c.Of == "":
		case c.Do == engine.ControlStop || c.Do == engine.ControlAbort:
			key := engine.SessionKey{Harness: r.Harness, Session: r.Session}
			stopped[c.Of] = StoppedChain{Key: key, Reason: c.Reason, Final: stopped[c.Of].Final || c.Do == engine.ControlAbort}
		case c.Do != engine.ControlResume || stopped[c.Of].Final:
		case c.Mode == "":
			delete(stopped, c.Of)
		default:
			key := engine.SessionKey{Harness: r.Harness, Session: r.Session}
			stopped[c.Of] = StoppedChain{Key: key, Resumed: c.Mode, By: c.By}
		}
	}
	list := slices.Collect(maps.Values(stopped))
	slices.SortFunc(list, func(a, b StoppedChain) int { return strings.Compare(a.Key.Session, b.Key.Session) })
	return list, nil
}
