package audit

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Session summarises one session's chain.
type Session struct {
	Key       engine.SessionKey
	Chain     string
	N         int64 // newest record
	First     int64 // Unix milliseconds of the open record
	Last      int64 // of the newest record
	Workspace string
	Stopped   *history.Stopped // nil: it may continue
	Client    *engine.Client   // nil: none was recorded
	Actions   int64
	Prompts   int64
	Denied    int64
	Asked     int64            // calls about which a person was asked
	Fired     map[string]int64 // id of a pattern -> number of events with that finding
	Bytes     int64            // on disk
	Dir       string
	Err       error // the chain cannot be read to its end; the other fields describe the readable part
}

// Sessions lists all sessions, the latest first. It costs a snapshot and the
// lines after it for each, and takes no lock.
func (s *Store) Sessions() ([]Session, error) {
	dirs, err := s.sessionDirs()
	if err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(s.each(dirs), func(one Session) bool { return one.N == 0 && one.Err == nil })
	slices.SortStableFunc(list, func(a, b Session) int { return cmp.Compare(b.Last, a.Last) })
	return list, nil
}

// Written lists the sessions that were written to since a time in Unix milliseconds. For each of the others, it costs
// one look at a file.
func (s *Store) Written(since int64) ([]Session, error) {
	dirs, err := s.sessionDirs()
	if err != nil {
		return nil, err
	}
	list := s.each(slices.DeleteFunc(dirs, func(dir string) bool { return !writtenSince(dir, since) }))
	return slices.DeleteFunc(list, func(one Session) bool { return one.Last < since }), nil
}

// each summarises the chains in several folders, in parallel on all processors:
// most of it is decoding.
func (s *Store) each(dirs []string) []Session {
	list := make([]Session, len(dirs))
	next := make(chan int)
	var group sync.WaitGroup
	for range min(len(dirs), runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := range next {
				list[i] = s.session(dirs[i])
			}
		})
	}
	for i := range dirs {
		next <- i
	}
	close(next)
	group.Wait()
	return list
}

// State returns a session's state after its newest record, without a lock.
func (s *Store) State(one Session) (*history.State, error) { return s.peek(one.Dir) }

func (s *Store) sessionDirs() ([]string, error) {
	entries, err := os.ReadDir(s.sessionsDir())
	if err = osfile.Missing(s.sessionsDir(), err); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(s.sessionsDir(), e.Name()))
		}
	}
	return dirs, nil
}

func (s *Store) session(dir string) Session {
	state, err := s.peek(dir)
	if err != nil {
		state, err = s.peek(dir) // a writer may have repaired or rotated meanwhile
	}
	one := Session{Key: engine.SessionKey{Harness: state.Harness, Session: state.Session}, Chain: state.Chain, N: state.N,
		First: state.Started, Last: state.T, Workspace: state.Workspace, Stopped: state.Stop, Client: state.Client,
		Actions: state.Actions, Prompts: state.Prompts, Denied: state.Denied, Asked: state.Asked, Fired: state.Fired, Dir: dir, Err: err}
	if one.N == 0 {
		if r, ferr := firstRecord(dir); ferr == nil {
			one.Key, one.Chain, one.First = engine.SessionKey{Harness: r.Harness, Session: r.Session}, r.Chain, r.T
		}
	}
	for _, f := range fileSizes(dir) {
		one.Bytes += f.size
	}
	return one
}

// peek reads a chain's state without a lock, and without repairing anything.
func (s *Store) peek(dir string) (*history.State, error) {
	c := newChain(dir)
	defer c.close()
	if _, err := c.load(s.macIfAny()); err != nil {
		return c.state, err
	}
	_, err := c.follow()
	return c.state, err
}

// macIfAny returns nil if there is no key: readers create none.
func (s *Store) macIfAny() func([]byte) string {
	if _, err := os.Stat(filepath.Join(s.Dir, "key")); err != nil {
		return nil
	}
	mac, err := s.mac()
	if err != nil {
		return nil
	}
	return mac
}

// Resolve finds the session that a selector names: by its id or a prefix of it,
// a prefix of its chain's id, a record's id (n is then its number, else 0), or
// "last" for the latest one.
func (s *Store) Resolve(selector string) (one Session, n int64, err error) {
	list, err := s.Sessions()
	if err != nil {
		return Session{}, 0, err
	}
	if selector == "last" && len(list) > 0 {
		return list[0], 0, nil
	}
	var found []Session
	for _, one := range list {
		if one.Key.Session == selector || one.Chain == selector {
			return one, 0, nil
		}
		number := recordNumber(one, selector)
		if selector != "" && (number > 0 || strings.HasPrefix(one.Key.Session, selector) || strings.HasPrefix(one.Chain, selector)) {
			found, n = append(found, one), number
		}
	}
	switch len(found) {
	case 0:
		if selector == "last" {
			return Session{}, 0, fmt.Errorf("%w: the log contains no session yet", ErrNoSession)
		}
		if err := missingRecord(list, selector); err != nil {
			return Session{}, 0, err
		}
		return Session{}, 0, fmt.Errorf("%w under %q; `reviewer audit show` lists the sessions", ErrNoSession, selector)
	case 1:
		return found[0], n, nil
	}
	return Session{}, 0, fmt.Errorf("%q matches the sessions %s and %s; give more characters",
		selector, found[0].Key.Session, found[1].Key.Session)
}

// missingRecord returns the error for the id of a record that a session's log
// does not have; nil if the selector is not such an id.
func missingRecord(list []Session, selector string) error {
	chain, number, ok := strings.Cut(selector, "-")
	n, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil {
		return nil
	}
	for _, one := range list {
		if first, _, _ := strings.Cut(engine.RecordID(one.Chain, 1), "-"); first == chain {
			return fmt.Errorf("session %s has no record %d: its log ends with record %d; `reviewer audit show %s` lists the calls",
				one.Key.Session, n, one.N, one.Key.Session)
		}
		if len(chain) >= 8 && strings.HasPrefix(one.Key.Session, chain) {
			return fmt.Errorf("session %s has no record %s: its records are %s to %s; `reviewer audit show %s` lists the calls",
				one.Key.Session, selector, engine.RecordID(one.Chain, 1), engine.RecordID(one.Chain, one.N), one.Key.Session)
		}
	}
	return nil
}

// recordNumber returns the number in a record's id, or 0 if it is not one of the session's.
func recordNumber(one Session, id string) int64 {
	chain, number, ok := strings.Cut(id, "-")
	n, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || n < 1 || n > one.N || engine.RecordID(one.Chain, n) != chain+"-"+number {
		return 0
	}
	return n
}

// Find returns the record with an id, from a session's chain or the ledger.
func (s *Store) Find(id string) (*engine.Record, error) {
	one, n, err := s.Resolve(id)
	dir := one.Dir
	if err != nil || n == 0 {
		state, lerr := s.peek(s.ledgerDir())
		if n = recordNumber(Session{Chain: state.Chain, N: state.N}, id); lerr != nil || n == 0 {
			return nil, cmp.Or(err, fmt.Errorf("%q is not a record's id, such as 1f2e3d4c-17", id))
		}
		dir = s.ledgerDir()
	}
	for r, err := range records(dir, n) {
		if err != nil || r.N == n {
			return r, err
		}
		break
	}
	return nil, fmt.Errorf("find record %s: %w", id, errPurged)
}

// sizedFile is a chain's file at one point in time.
type sizedFile struct {
	number int
	path   string
	size   int64
	mtime  int64 // Unix milliseconds
}

func fileSizes(dir string) []sizedFile {
	numbers, err := chainFiles(dir)
	if err != nil {
		return nil
	}
	var list []sizedFile
	for _, n := range numbers {
		path := filepath.Join(dir, fileName(n))
		if info, err := os.Stat(path); err == nil {
			list = append(list, sizedFile{n, path, info.Size(), info.ModTime().UnixMilli()})
		}
	}
	return list
}
