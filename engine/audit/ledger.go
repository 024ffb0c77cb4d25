package audit

import (
	"context"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Note records in the ledger something that does not belong to a chain: input that could not be
// decoded, a policy that was activated or trusted.
func (s *Store) Note(ctx context.Context, n engine.Note) error {
	return s.ledger(ctx, &engine.Record{Kind: engine.KindNote, T: s.now(), Note: &n})
}

// Control records a person's choice in the session's chain and, with the
// chain's id, in the ledger. It reaches the disk before Control returns.
func (s *Store) Control(ctx context.Context, key engine.SessionKey, choice engine.Control) error {
	return s.ControlIf(ctx, key, choice, func(*history.State) error { return nil })
}

// ControlIf is Control unless objection, called with the session's state under
// its lock, returns an error, which ControlIf then returns.
func (s *Store) ControlIf(ctx context.Context, key engine.SessionKey, choice engine.Control, against func(*history.State) error) error {
	dir := s.sessionDir(key)
	if files, err := chainFiles(dir); err != nil || len(files) == 0 {
		return noSession(key, err)
	}
	return s.update(ctx, dir, func(h *lockedChain) error {
		if h.key = key; h.c.state.Empty() {
			return noSession(key, nil)
		}
		if err := against(h.c.state); err != nil {
			return err
		}
		if err := h.checkOwner(); err != nil {
			return err
		}
		own, copied := choice, choice
		if err := h.append(&engine.Record{Kind: engine.KindControl, T: s.now(), Control: &own}); err != nil {
			return err
		}
		copied.Of = h.c.state.Chain
		return s.ledger(ctx, &engine.Record{Kind: engine.KindControl, T: h.c.state.T,
			Session: key.Session, Harness: key.Harness, Control: &copied})
	})
}

func noSession(key engine.SessionKey, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %s %s", ErrNoSession, key.Harness, key.Session)
}

// noteOpened records a new chain in the ledger: from then on its absence is
// detected.
func (s *Store) noteOpened(ctx context.Context, r *engine.Record) error {
	open := engine.Open{Of: r.Chain}
	if r.Open != nil {
		open.Workspace = r.Open.Workspace
	}
	return s.ledger(ctx, &engine.Record{Kind: engine.KindOpen, T: r.T, Session: r.Session, Harness: r.Harness, Open: &open})
}

// repairOpen records a chain whose process ended between its first line and the
// ledger entry. A chain of one line is rare, so the ledger is rarely read.
func (s *Store) repairOpen(ctx context.Context, c *chain) error {
	if c.state.N != 1 {
		return nil
	}
	for r, err := range s.Ledger() {
		if err != nil {
			return err
		}
		if r.Open != nil && r.Open.Of == c.state.Chain {
			return nil
		}
	}
	open := &engine.Open{Of: c.state.Chain, Workspace: c.state.Workspace}
	return s.ledger(ctx, &engine.Record{Kind: engine.KindOpen, T: c.state.T,
		Session: c.state.Session, Harness: c.state.Harness, Open: open})
}

// NoteIn records in a session's chain an observation about it that is not an event of its agent.
func (s *Store) NoteIn(ctx context.Context, key engine.SessionKey, notes ...engine.Note) error {
	dir := s.sessionDir(key)
	if files, err := chainFiles(dir); err != nil || len(files) == 0 {
		return noSession(key, err)
	}
	return s.update(ctx, dir, func(h *lockedChain) error {
		if h.key = key; h.c.state.Empty() {
			return noSession(key, nil)
		}
		if err := h.checkOwner(); err != nil {
			return err
		}
		for _, n := range notes {
			if err := h.append(&engine.Record{Kind: engine.KindNote, T: s.now(), Note: &n}); err != nil {
				return err
			}
		}
		return nil
	})
}
