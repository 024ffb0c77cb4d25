package notifycmd

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/incidentcmd"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/notify"
)

// recent is the age up to which stops are notified: one day. It must not exceed the
// time for which the spool remembers deliveries, or they would be sent again.
const recent = 24 * time.Hour

// putStops adds an entry for each stop of the last day. Entries are derived from the
// records of decisions: if a process is killed, the next one adds the entry, and the
// spool ignores duplicates.
func putStops(store *audit.Store, spool notify.Spool, now time.Time) error {
	sessions, err := store.Sessions()
	if err != nil {
		return err
	}
	from := now.Add(-recent).UnixMilli()
	sessions = slices.DeleteFunc(sessions, func(s audit.Session) bool { return s.Last < from })
	list, err := incidentcmd.All(store, sessions)
	errs := []error{err} // a damaged log does not affect other sessions
	for _, i := range list {
		if i.At() >= from {
			errs = append(errs, spool.Put(entryOf(i)))
		}
	}
	return errors.Join(errs...)
}

func entryOf(i incidentcmd.Found) notify.Entry {
	return notify.Entry{
		ID: "stop-" + i.ID, Kind: notify.KindStop, Time: i.Time, Title: fmt.Sprintf("reviewer stopped a session: %s", i.Cause.Issue),
		Text: i.Summary, Session: i.Session, Harness: i.Harness, Workspace: i.Workspace, Issue: i.Cause.Issue, Incident: i.ID,
		Next: "reviewer incident show " + i.ID,
	}
}
