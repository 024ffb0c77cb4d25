// Package queue keeps the requests that describe questions to people: one file per question
// that waits, in a folder of the state directory.
//
// The folder only makes questions easy to find, and contains what the log does not: the
// contents that a call would write, and the person's own words, both masked. Whether a
// question still waits is in the chain of its session, and a request without one is
// ignored.
//
// Answer is the only way in which an answer of a person enters the log, whatever they used to
// give it.
//
// Out of scope: the states of a question (engine/approval), telling people (engine/notify), and
// whether somebody is a person (cmd/reviewer).
package queue

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// maxRequest limits the size of a request's file, in bytes.
const maxRequest = 256 << 10

// Queue is the folder of a state directory, and the log in it.
type Queue struct {
	Log *audit.Store
	Now func() int64 // Unix milliseconds; nil: the clock
}

func (q Queue) dir() string { return filepath.Join(q.Log.Dir, "approvals") }

func (q Queue) path(id string) string { return filepath.Join(q.dir(), id+".json") }

// Put writes a request. fresh: there was none with its id.
func (q Queue) Put(r approval.Request) (fresh bool, err error) {
	if !validID(r.ID) {
		return false, fmt.Errorf("invalid id of a question: %q", r.ID)
	}
	b, err := json.Marshal(r)
	if err != nil {
		return false, fmt.Errorf("write question %s: %w", r.ID, err)
	}
	if len(b) > maxRequest {
		return false, fmt.Errorf("question %s is too long: %d bytes, at most %d", r.ID, len(b), maxRequest)
	}
	if err := osfile.MkdirPrivate(q.dir()); err != nil {
		return false, err
	}
	_, err = os.Lstat(q.path(r.ID))
	if fresh = errors.Is(err, fs.ErrNotExist); fresh {
		q.tidy()
	}
	return fresh, q.write(r.ID, b)
}

// keep is the time for which a request may be left behind by a process that was killed. No
// question waits that long.
const keep = 10 * time.Minute

// tidy removes the files that were left behind.
func (q Queue) tidy() {
	entries, _ := os.ReadDir(q.dir()) // what cannot be read stays
	old := time.UnixMilli(q.now()).Add(-keep)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(old) {
			_ = os.Remove(filepath.Join(q.dir(), e.Name())) // it is ignored anyway
		}
	}
}

// write replaces a file whole, so that no reader sees half of it.
func (q Queue) write(id string, b []byte) error {
	temp := filepath.Join(q.dir(), fmt.Sprintf(".%s.%d", id, os.Getpid()))
	f, err := osfile.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = osfile.Rename(temp, q.path(id))
	}
	if err != nil {
		_ = os.Remove(temp) // the error is reported
	}
	return err
}

// Remove deletes a request. It is not an error if there is none.
func (q Queue) Remove(id string) error {
	if err := os.Remove(q.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Get reads a request.
func (q Queue) Get(id string) (approval.Request, error) {
	var r approval.Request
	if !validID(id) {
		return r, fs.ErrNotExist
	}
	b, err := osfile.ReadFile(q.path(id))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(b, &r); err != nil || r.ID != id {
		return r, fmt.Errorf("the file of question %s is damaged", id)
	}
	return r, nil
}

// IDs returns the ids of all requests.
func (q Queue) IDs() ([]string, error) {
	entries, err := os.ReadDir(q.dir())
	if err = osfile.Missing(q.dir(), err); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && validID(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// List returns all requests, oldest first. Files that cannot be read are left out: the calls
// of their questions are denied when their time has passed.
func (q Queue) List() ([]approval.Request, error) {
	ids, err := q.IDs()
	if err != nil {
		return nil, err
	}
	var list []approval.Request
	for _, id := range ids {
		if r, err := q.Get(id); err == nil {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b approval.Request) int {
		return cmp.Or(cmp.Compare(a.Asked, b.Asked), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// validID reports whether a string can be a record's id, and so the name of a file.
func validID(id string) bool {
	return id != "" && len(id) < 64 && strings.Trim(id, "0123456789abcdef-") == ""
}
