package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Spool is a folder of entries. Files:
//
//	DIR/lock           held by the process that delivers
//	DIR/queue/ID.json  entries with deliveries to make
//	DIR/done/ID.json   finished entries, for some days
//	DIR/open/ID        requests without an answer: see Resolve
//	DIR/sent.json      when each channel got messages about requests
//
// A file is written under another name and then given its own, so that it exists completely or not
// at all. Only the process that holds the lock changes or moves one.
type Spool struct {
	Dir string
}

// maxQueue limits the entries that wait: an agent that is stopped again and again must not
// fill the disk.
const maxQueue = 1000

// ErrFull means that too many entries wait.
var ErrFull = fmt.Errorf("more than %d notifications are pending", maxQueue)

func (s Spool) queue() string { return filepath.Join(s.Dir, "queue") }
func (s Spool) done() string  { return filepath.Join(s.Dir, "done") }
func (s Spool) lock() string  { return filepath.Join(s.Dir, "lock") }

func file(dir, id string) string { return filepath.Join(dir, id+".json") }

// Put adds an entry. One with an id that is known, even if it was delivered, changes
// nothing.
func (s Spool) Put(e Entry) error {
	if err := e.check(); err != nil {
		return err
	}
	if s.Knows(e.ID) {
		return nil
	}
	e = e.bounded()
	if err := osfile.MkdirPrivate(s.queue()); err != nil {
		return fmt.Errorf("create the folder of notifications: %w", err)
	}
	if names, err := names(s.queue()); err != nil || len(names) >= maxQueue {
		return errors.Join(err, ErrFull)
	}
	if err := s.open(e); err != nil {
		return err
	}
	e.V = EntryVersion
	tmp, err := writeTemp(s.queue(), Item{Entry: e, Deliveries: []Delivery{}})
	if err != nil {
		return fmt.Errorf("write a notification: %w", err)
	}
	defer os.Remove(tmp)
	if err := os.Link(tmp, file(s.queue(), e.ID)); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write a notification: %w", err)
	}
	return nil
}

// Knows reports whether an entry is in the spool.
func (s Spool) Knows(id string) bool {
	for _, dir := range []string{s.queue(), s.done()} {
		if _, err := os.Lstat(file(dir, id)); err == nil {
			return true
		}
	}
	return false
}

// Waiting reports whether entries wait. It reads one folder.
func (s Spool) Waiting() bool {
	list, err := names(s.queue())
	return err == nil && len(list) > 0
}

// Busy reports whether a process delivers. It will find an entry that is in the spool by now.
func (s Spool) Busy() bool {
	lock, err := osfile.OpenFile(s.lock(), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer lock.Close()
	return osfile.TryLock(lock, osfile.Exclusive) != nil
}

// Ran returns when a process last began to deliver; the zero time: never.
func (s Spool) Ran() time.Time {
	info, err := os.Lstat(s.lock())
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// List returns all items: those that wait, and those that are finished. Items that cannot be read
// are left out and reported.
func (s Spool) List() ([]Item, error) {
	waiting, err := readAll(s.queue())
	finished, err2 := readAll(s.done())
	return append(waiting, finished...), errors.Join(err, err2)
}

// names lists the ids of the entries in a folder.
func names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list notifications: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && validID().MatchString(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

func readAll(dir string) ([]Item, error) {
	ids, err := names(dir)
	errs := []error{err}
	var list []Item
	for _, id := range ids {
		i, err := read(file(dir, id))
		if errors.Is(err, fs.ErrNotExist) {
			continue // moved or removed meanwhile
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, i)
	}
	return list, errors.Join(errs...)
}

// maxItem bounds the size of a file that is read.
const maxItem = 1 << 20

func read(path string) (Item, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Item{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxItem {
		return Item{}, fmt.Errorf("%s is not a notification", path)
	}
	raw, err := osfile.ReadFile(path)
	if err != nil {
		return Item{}, err
	}
	var i Item
	if err := json.Unmarshal(raw, &i); err != nil {
		return Item{}, fmt.Errorf("read notification %s: %w", path, err)
	}
	return i, i.Entry.check()
}

// save replaces the file of an item that waits.
func (s Spool) save(i Item) error { return replace(s.queue(), i) }

// finish moves an item to those that are finished. If the process is killed in between, the
// item is in both folders; the one that waits is then removed.
func (s Spool) finish(i Item) error {
	if err := osfile.MkdirPrivate(s.done()); err != nil {
		return err
	}
	if err := replace(s.done(), i); err != nil {
		return err
	}
	return os.Remove(file(s.queue(), i.Entry.ID))
}

func replace(dir string, i Item) error {
	tmp, err := writeTemp(dir, i)
	if err != nil {
		return fmt.Errorf("write a notification: %w", err)
	}
	if err := osfile.Rename(tmp, file(dir, i.Entry.ID)); err != nil {
		os.Remove(tmp)
		return fmt.Errorf("write a notification: %w", err)
	}
	return nil
}

// writeTemp writes an item to a new file of mode 0600.
func writeTemp(dir string, i Item) (string, error) {
	raw, err := json.Marshal(i)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(append(raw, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}
