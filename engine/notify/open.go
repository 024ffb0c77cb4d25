package notify

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

func (s Spool) opened() string { return filepath.Join(s.Dir, "open") }

// open notes that a request has no answer yet. The file is there before the entry, so that no
// process takes a new request for one that was answered.
func (s Spool) open(e Entry) error {
	if e.Approval == nil {
		return nil
	}
	if err := osfile.MkdirPrivate(s.opened()); err != nil {
		return fmt.Errorf("create the folder of open requests: %w", err)
	}
	f, err := osfile.OpenFile(filepath.Join(s.opened(), e.ID), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("note an open request: %w", err)
	}
	return f.Close()
}

// Resolve marks a request as answered, or as no longer waited for: channels that have not
// been notified of it will not be. An unknown request changes nothing.
func Resolve(dir, request string) error {
	id := RequestID(request)
	if !validID().MatchString(id) {
		return fmt.Errorf("%q is not the id of a request", request)
	}
	if err := os.Remove(filepath.Join(Spool{dir}.opened(), id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("resolve request %s: %w", request, err)
	}
	return nil
}

// Told returns what is known about the notification of a request: to which channels it was sent, when,
// and with which result. The boolean is false for a request for which no notification was ever
// written.
func Told(dir, request string) (Item, bool, error) {
	id := RequestID(request)
	if !validID().MatchString(id) {
		return Item{}, false, fmt.Errorf("%q is not the id of a request", request)
	}
	s := Spool{dir}
	// An item moves from the queue to the finished ones. It is looked for in this order twice, since
	// `notify deliver --retry` moves it back.
	for range 2 {
		for _, folder := range []string{s.queue(), s.done()} {
			i, err := read(file(folder, id))
			if err == nil || !errors.Is(err, fs.ErrNotExist) {
				return i, err == nil, err
			}
		}
	}
	return Item{}, false, nil
}

// Deliveries returns the deliveries of a request's notification, one for each channel that was tried
// or is waited for; none: nobody was told.
func Deliveries(dir, request string) ([]Delivery, error) {
	i, _, err := Told(dir, request)
	return i.Deliveries, err
}

// unanswered reports whether a request has no answer yet.
func (s Spool) unanswered(e Entry) bool {
	_, err := os.Lstat(filepath.Join(s.opened(), e.ID))
	return err == nil
}

// deadline of a request; the zero time if it has none.
func (e Entry) deadline() time.Time {
	if e.Approval == nil {
		return time.Time{}
	}
	at, _ := time.Parse(time.RFC3339, e.Approval.Deadline)
	return at
}

// sweepOpen removes the files of requests whose notifications are gone. One that was just written
// stays: its entry follows.
func (s Spool) sweepOpen(now time.Time) {
	entries, _ := os.ReadDir(s.opened())
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < time.Hour {
			continue
		}
		if !s.Knows(e.Name()) {
			os.Remove(filepath.Join(s.opened(), e.Name()))
		}
	}
}
