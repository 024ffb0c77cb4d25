package audit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Note records in the ledger something that does not belong to a chain: input that could not be
// decoded, a policy that was activated or trusted.
func (s *Store) Note(ctx context.Context, n engine.Note) error {
	return s.ledger(ctx, &engine.Record{Kind: engine.KindNote, T: s.now(), Note: &n})
}

// Control records a person's choice in the session's chain and, with the
// chain's id, in the ledger. It reaches the disk before Control returns. A choice that makes policy
// milder needs a signer.
func (s *Store) Control(ctx context.Context, key engine.SessionKey, choice engine.Control, signer Signer) error {
	return s.ControlIf(ctx, key, choice, signer, func(*history.State) error { return nil })
}

// ControlIf is Control unless objection, called with the session's state under
// its lock, returns an error, which ControlIf then returns.
func (s *Store) ControlIf(
	ctx context.Context, key engine.SessionKey, choice engine.Control, signer Signer, against func(*history.State) error,
) error {
	if choice.Loosens() && signer == nil {
		return ErrUnsigned
	}
	dir := s.sessionDir(key)
	if files, err := chainFiles(dir); err != nil || len(files) == 0 {
		return noSession(key, err)
	}
	workspace, _, err := s.Workspace(key)
	if err != nil {
		return err
	}
	s.underPolicy(&choice, workspace, signer)
	return s.updateSigned(ctx, dir, signer, func(h *lockedChain) error {
		if h.key = key; h.c.state.Empty() {
			return noSession(key, nil)
		}
		if err := h.followLedger(); err != nil {
			return err
		}
		if err := against(h.c.state); err != nil {
			return err
		}
		if err := h.checkOwner(); err != nil {
			return err
		}
		// The ledger first: if this process ends in between, a stop holds, and a session that was to be resumed stays stopped.
		own, copied := choice, choice
		copied.Of = h.c.state.Chain
		err := s.ledgerSigned(ctx, signer, &engine.Record{Kind: engine.KindControl, T: max(s.now(), h.c.state.T),
			Session: key.Session, Harness: key.Harness, Control: &copied})
		if err != nil {
			return err
		}
		return h.append(&engine.Record{Kind: engine.KindControl, T: s.now(), Control: &own})
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

// checkNew refuses to begin a chain for a session that has one: its folder was removed or moved away, and with it
// what was denied and read. Where retention removed it, the ledger says so.
func (h *lockedChain) checkNew() error {
	if h.key == (engine.SessionKey{}) {
		return nil
	}
	gone := ""
	name, err := engine.Marshal(h.key.Session)
	if err != nil {
		return err
	}
	for line, err := range lines(h.s.ledgerDir(), 0) {
		if err != nil {
			return err
		}
		if !bytes.Contains(line.Raw, name) {
			continue
		}
		r, err := readRecord(line.Raw)
		if err != nil {
			return damaged(line.File, line.Number, err)
		}
		switch own := r.Session == h.key.Session && r.Harness == h.key.Harness; {
		case own && r.Open != nil && r.Open.Of != "":
			gone = r.Open.Of
		case r.Note != nil && r.Note.What == notePurge && r.Seal != nil && r.Seal.Chain == gone && strings.HasPrefix(r.Note.Detail, purgedWhole):
			gone = ""
		}
	}
	if gone == "" {
		return nil
	}
	return &Damage{File: h.c.dir, What: fmt.Sprintf("the log of this session (chain %s) is missing: restore its folder, or begin a new "+
		"session", gone)}
}

// Missing lists the sessions whose folder is gone although the ledger has no record that retention removed it.
func (s *Store) Missing() ([]engine.SessionKey, error) {
	opened := map[string]engine.SessionKey{}
	for r, err := range s.Ledger() {
		switch {
		case err != nil:
			return nil, err
		case r.Open != nil && r.Open.Of != "":
			opened[r.Open.Of] = engine.SessionKey{Harness: r.Harness, Session: r.Session}
		case r.Note != nil && r.Note.What == notePurge && r.Seal != nil && strings.HasPrefix(r.Note.Detail, purgedWhole):
			delete(opened, r.Seal.Chain)
		}
	}
	var list []engine.SessionKey
	for _, key := range opened {
		files, err := chainFiles(s.sessionDir(key))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 && !slices.Contains(list, key) {
			list = append(list, key)
		}
	}
	slices.SortFunc(list, func(a, b engine.SessionKey) int {
		return cmp.Or(strings.Compare(a.Harness, b.Harness), strings.Compare(a.Session, b.Session))
	})
	return list, nil
}

// SessionsDir returns the folder of the sessions: whenever one is added or removed, its time changes.
func (s *Store) SessionsDir() string { return filepath.Clean(s.sessionsDir()) }

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

// noteUsed records in the ledger which of the permissions for one call were used up, before the call runs: a log that is
// cut does not bring them back.
func (s *Store) noteUsed(ctx context.Context, h *lockedChain, before []string) error {
	if len(before) == 0 {
		return nil
	}
	left := h.c.state.Once()
	for _, id := range before {
		if slices.Contains(left, id) {
			continue
		}
		err := s.ledger(ctx, &engine.Record{Kind: engine.KindControl, T: h.c.state.T, Session: h.key.Session, Harness: h.key.Harness,
			Control: &engine.Control{Do: engine.ControlUsed, Of: h.c.state.Chain, Record: id}})
		if err != nil {
			return err
		}
	}
	return nil
}
