package cli

import (
	"errors"
	"fmt"
	"iter"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/caller"
)

// Chosen opens the log and returns the sessions that the arguments name, all of
// them if there are none.
func (a *App) Chosen(selectors []string) (*audit.Store, []audit.Session, error) {
	store, err := a.OpenStore()
	if err != nil {
		return nil, nil, err
	}
	if len(selectors) == 0 {
		sessions, err := store.Sessions()
		return store, sessions, err
	}
	var list []audit.Session
	for _, selector := range selectors {
		_, s, err := a.Session(selector)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, s)
	}
	return store, list, nil
}

// LivingSession returns the id of a session whose agent may still act: its latest record is recent and is not its end;
// empty: there is none.
func LivingSession(store *audit.Store, now int64) (string, error) {
	sessions, err := store.Sessions()
	for _, s := range sessions {
		if now-s.Last > caller.Afterwards.Milliseconds() {
			continue
		}
		ended := false
		for r, err := range store.Records(s.Key, s.N) {
			ended = err == nil && r.Phase == engine.PhaseEnd
		}
		if !ended {
			return s.Key.Session, nil
		}
	}
	return "", err
}

// RecordsOf iterates over the records of several sessions, one after another.
func RecordsOf(store *audit.Store, sessions []audit.Session) iter.Seq2[*engine.Record, error] {
	return func(yield func(*engine.Record, error) bool) {
		for _, s := range sessions {
			for r, err := range store.Records(s.Key, 0) {
				if !yield(r, err) {
					return
				}
			}
		}
	}
}

// Find returns the record that a person names; of a session, the newest call
// that was not simply allowed, or else the newest one.
func (a *App) Find(store *audit.Store, selector string) (*engine.Record, error) {
	_, s, err := a.Session(selector)
	if err != nil || s.Key.Session == "" {
		return nil, err
	}
	if r, err := store.Find(selector); err == nil {
		return r, nil
	}
	var newest *engine.Record
	for r, err := range store.Records(s.Key, 0) {
		if err != nil {
			return nil, err
		}
		if r.Kind == engine.KindPre && (newest == nil || engine.AnswerOf(r).Effect != engine.Allow ||
			engine.AnswerOf(newest).Effect == engine.Allow) {
			newest = r
		}
	}
	if newest == nil {
		return nil, fmt.Errorf("session %s has no calls yet", s.Key.Session)
	}
	return newest, nil
}

// Session finds the session that a person names.
func (a *App) Session(selector string) (*audit.Store, audit.Session, error) {
	store, err := a.OpenStore()
	if err != nil {
		return nil, audit.Session{}, err
	}
	s, _, err := store.Resolve(selector)
	if errors.Is(err, audit.ErrNoSession) {
		err = fmt.Errorf("%w (state directory %s)", err, store.Dir)
	}
	return store, s, err
}
