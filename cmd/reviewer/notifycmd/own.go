package notifycmd

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/notify"
)

// putOwn adds an entry for each intervention of the last day whose kind is one of the
// organisation's own. As with stops, it is derived from the record of the decision.
func putOwn(store *audit.Store, d *notify.Deliverer, now time.Time) error {
	sessions, err := store.Sessions()
	if err != nil {
		return err
	}
	from := now.Add(-recent).UnixMilli()
	var errs []error // a damaged log does not affect other sessions
	for _, s := range sessions {
		if s.Last < from {
			continue
		}
		n, found := firstOwn(store, s, d.Own)
		if !found {
			continue
		}
		for rec, err := range store.Records(s.Key, n) {
			if err != nil {
				errs = append(errs, err)
				break
			}
			if rec.T >= from && ownKind(rec, d.Own) != "" {
				errs = append(errs, d.Spool.Put(ownEntry(s, rec)))
			}
		}
	}
	return errors.Join(errs...)
}

// firstOwn looks for an own kind without decoding: most sessions have none. Unreadable
// lines are left to the decoder.
func firstOwn(store *audit.Store, s audit.Session, own map[string]notify.Channel) (n int64, found bool) {
	for line, err := range store.Lines(s.Key, 0) {
		if err != nil {
			return n, true
		}
		for name := range own {
			if bytes.Contains(line.Raw, []byte(`"kind":"`+name+`"`)) {
				return line.N, true
			}
		}
		n = line.N + 1
	}
	return 0, false
}

// ownKind returns the kind of a record's intervention if it is one of the
// organisation's own, and the policy did not only observe.
func ownKind(rec *engine.Record, own map[string]notify.Channel) string {
	d := rec.Decision
	if d == nil || d.Intervention == nil || d.Enforced == engine.Allow || own[d.Intervention.Kind] == nil {
		return ""
	}
	return d.Intervention.Kind
}

func ownEntry(s audit.Session, rec *engine.Record) notify.Entry {
	i := rec.Decision.Intervention
	return notify.Entry{
		ID: "own-" + rec.ID(), Kind: notify.KindIntervention, Own: i.Kind, Time: time.UnixMilli(rec.T).UTC().Format(time.RFC3339),
		Title: fmt.Sprintf("reviewer: %s about %s", i.Kind, i.Issue), Text: rec.Decision.Reason, Session: s.Key.Session,
		Harness: s.Key.Harness, Workspace: s.Workspace, Issue: i.Issue, Next: "reviewer audit why " + rec.ID(),
	}
}
