package audit

import (
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
	Chain   string // its id
	Reason  string // as an agent may read it: that of policy, or of a person who signed; else empty
	Final   bool   // a person aborted it: nobody can resume it
	Resumed string // the conditions on which it was resumed; empty: it is stopped
	By      string // who resumed it
}

// byPolicy is the author of a stop by policy.
const byPolicy = "policy"

// noteStopped records in the ledger that policy stopped a session: other sessions
// may have to stop with it. A stop that came from another session is not recorded
// there: it would outlive the first one.
func (s *Store) noteStopped(ctx context.Context, r *engine.Record) error {
	return s.ledger(ctx, &engine.Record{Kind: engine.KindControl, T: r.T, Session: r.Session, Harness: r.Harness,
		Control: &engine.Control{Do: engine.ControlStop, Reason: r.Act.Result, By: byPolicy, Of: r.Chain}})
}

// Carry records the stops of an earlier ledger in this one, which has none yet.
func (s *Store) Carry(ctx context.Context, stops []StoppedChain) error {
	for _, c := range stops {
		do := engine.ControlStop
		if c.Final {
			do = engine.ControlAbort
		}
		err := s.ledger(ctx, &engine.Record{Kind: engine.KindControl, T: s.now(), Session: c.Key.Session, Harness: c.Key.Harness,
			Control: &engine.Control{Do: do, Reason: c.Reason, By: "ledger", Of: c.Chain}})
		if err != nil {
			return err
		}
	}
	return nil
}

// Stopped lists the sessions that are stopped, and those that were resumed on
// conditions.
func (s *Store) Stopped() ([]StoppedChain, error) {
	known, err := s.choices()
	if err != nil {
		return nil, err
	}
	byName := func(a, b StoppedChain) int { return strings.Compare(a.Key.Session, b.Key.Session) }
	return slices.SortedFunc(maps.Values(known.stops), byName), nil
}
