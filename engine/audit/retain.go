package audit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

const (
	// idleAfter is the time for which a session must be idle before the budget
	// may delete its older files.
	idleAfter = time.Hour
	// overAfter is the time for which a session must be idle before the budget
	// may delete it completely: what it knew (denials, secrets read) is lost
	// with it.
	overAfter = 24 * time.Hour
)

// Notes of retention in the ledger: seal names the newest line that is gone.
const (
	notePurge   = "purge"
	purgedWhole = "the whole chain, " // prefix of the detail when no file is left
)

// purgeCandidate is a chain as retention sees it.
type purgeCandidate struct {
	dir   string
	files []sizedFile
	drop  int // files to delete, from the oldest

	looked   bool
	incident int64 // when the policy last stopped the session, once looked
}

func (r *purgeCandidate) newest() int64 { return r.files[len(r.files)-1].mtime }

// retain deletes files that are too old, and the oldest while there are too
// many bytes: never of the session that is being opened, of one that is in use,
// or the last file of a stopped one. It is called after a session was opened;
// what fails is tried again at the next.
func (s *Store) retain(ctx context.Context, own engine.SessionKey) {
	dirs, err := s.sessionDirs()
	if err != nil || s.Keep {
		return
	}
	now := time.Now().UnixMilli()
	var chains []*purgeCandidate
	var total int64
	for _, f := range fileSizes(s.ledgerDir()) {
		total += f.size
	}
	for _, dir := range dirs {
		files := fileSizes(dir)
		for _, f := range files {
			total += f.size
		}
		if len(files) > 0 && dir != s.sessionDir(own) {
			chains = append(chains, &purgeCandidate{dir: dir, files: files})
		}
	}
	total -= s.dropOld(chains, now)
	s.dropOldest(chains, now, total-orDefault(s.BudgetBytes, DefaultBudgetBytes))
	for _, r := range chains {
		if r.drop > 0 {
			_ = s.purge(ctx, r) // tried again when the next session opens
		}
	}
}

// dropOld chooses the files that are older than the retention time.
func (s *Store) dropOld(chains []*purgeCandidate, now int64) (bytes int64) {
	from := now - int64(orDefault(s.RetainDays, DefaultRetainDays))*24*time.Hour.Milliseconds()
	for _, r := range chains {
		if r.files[0].mtime < from && s.preserves(r, now) {
			continue
		}
		for r.drop < len(r.files) && r.files[r.drop].mtime < from {
			bytes += r.files[r.drop].size
			r.drop++
		}
	}
	return bytes
}

// dropOldest chooses the oldest files until excess bytes are found.
func (s *Store) dropOldest(chains []*purgeCandidate, now, excess int64) {
	for excess > 0 {
		r := slices.MinFunc(append([]*purgeCandidate{{}}, chains...), func(a, b *purgeCandidate) int {
			return cmp.Compare(a.nextTime(now), b.nextTime(now))
		})
		if r.nextTime(now) == never {
			return
		}
		if s.preserves(r, now) {
			chains = slices.DeleteFunc(slices.Clone(chains), func(c *purgeCandidate) bool { return c == r })
			continue
		}
		excess -= r.files[r.drop].size
		r.drop++
	}
}

const never = int64(1<<63 - 1)

// nextTime returns the time of the next file that the budget may delete from
// the chain; never if there is none.
func (r *purgeCandidate) nextTime(now int64) int64 {
	left := len(r.files) - r.drop
	switch {
	case left == 0, now-r.newest() < idleAfter.Milliseconds():
		return never
	case left == 1 && now-r.newest() < overAfter.Milliseconds():
		return never
	}
	return r.files[r.drop].mtime
}

// preserves reports whether a chain is kept for the report about a stop: people look
// at such a report later than at anything else in the log, and an agent that fills
// the log must not be able to push it out.
func (s *Store) preserves(r *purgeCandidate, now int64) bool {
	if !r.looked {
		r.looked, r.incident = true, lastStop(r.files)
	}
	return r.incident > now-int64(orDefault(s.IncidentDays, DefaultIncidentDays))*24*time.Hour.Milliseconds()
}

// lastStop returns when policy last stopped a session, in Unix milliseconds. Files
// that cannot be read are skipped: purge leaves them for a person to examine.
func lastStop(files []sizedFile) (at int64) {
	for _, f := range files {
		fileLines(f.path, 0, func(l Line, err error) bool {
			if err != nil || !bytes.Contains(l.Raw[:min(len(l.Raw), 128)], []byte(`,"kind":"act",`)) {
				return err == nil
			}
			if rec, err := readRecord(l.Raw); err == nil && rec.Act != nil && rec.Act.Kind == engine.EmergencyStop {
				at = max(at, rec.T)
			}
			return true
		})
	}
	return at
}

// purge deletes the chosen files after recording that in the ledger.
func (s *Store) purge(ctx context.Context, r *purgeCandidate) error {
	lock, err := osfile.OpenFile(filepath.Join(r.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := osfile.TryLock(lock, osfile.Exclusive); err != nil {
		return err // in use: not now
	}
	if files := fileSizes(r.dir); !slices.Equal(files, r.files) {
		return errors.New("the session continued")
	}
	state, err := s.peek(r.dir)
	if err != nil {
		return err // damaged: left for a person to examine
	}
	if r.drop == len(r.files) && state.Stop != nil {
		r.drop--
	}
	if r.drop == 0 {
		return nil
	}
	if err := s.notePurge(ctx, r, state); err != nil {
		return err
	}
	for _, f := range r.files[:r.drop] {
		if err := os.Remove(f.path); err != nil {
			return err
		}
	}
	if r.drop < len(r.files) {
		return nil
	}
	return removeFolder(r.dir, lock)
}

// removeFolder removes what is left of a chain, the lock last: a waiting
// process finds that it has no name any more, and creates the folder again. It
// is not os.RemoveAll, which could meet that new folder.
func removeFolder(dir string, lock *os.File) error {
	left, err := filepath.Glob(filepath.Join(dir, ".snapshot-*")) // of processes that were killed
	for _, path := range append(left, snapshotPath(dir)) {
		if rerr := os.Remove(path); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return errors.Join(err, os.Remove(lock.Name()), os.Remove(dir))
}

func (s *Store) notePurge(ctx context.Context, r *purgeCandidate, state *history.State) error {
	first, err := firstHead(r.files[0].path)
	if err != nil {
		return err
	}
	from := first.n
	n, hash, err := lastLine(r.files[r.drop-1].path)
	if err != nil {
		return err
	}
	detail := fmt.Sprintf("lines %d to %d", from, n)
	if r.drop == len(r.files) {
		detail = purgedWhole + detail
	}
	return s.ledger(ctx, &engine.Record{Kind: engine.KindNote, T: s.now(), Session: state.Session, Harness: state.Harness,
		Note: &engine.Note{What: notePurge, Detail: detail}, Seal: &engine.Seal{Chain: state.Chain, N: n, Head: hash}})
}

// lastLine returns the number and hash of a file's newest whole line.
func lastLine(path string) (n int64, hash string, err error) {
	err = fmt.Errorf("%s contains no line", path)
	fileLines(path, 0, func(l Line, lerr error) bool {
		if err = lerr; err == nil {
			n, hash = l.N, engine.LineHash(l.Raw)
		}
		return err == nil
	})
	return n, hash, err
}
