package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// RestoreRequest specifies what is restored, and for whom.
type RestoreRequest struct {
	To      string   // id of the checkpoint
	Paths   []string // only these, and what is under them; none: everything
	Force   bool     // also files that others have changed in the meantime
	Session string   // whose changes are undone
	Time    int64    // Unix milliseconds
}

// Restored is the result of a restore.
type Restored struct {
	To      Checkpoint
	Undo    string   // id of the checkpoint that undoes it
	Changes []Change // what was restored: Before is what a path was until then
	Kept    []Left   // paths that differ from the checkpoint and were not changed
	Then    []Git    // the repositories at the checkpoint
	Now     []Git    // the same repositories now, which are not changed
}

// ConflictError means that others changed files since the checkpoint, so nothing was
// restored.
type ConflictError struct{ Paths []string }

func (e *ConflictError) Error() string {
	const most = 5
	list := strings.Join(e.Paths[:min(len(e.Paths), most)], ", ")
	if more := len(e.Paths) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return "somebody else changed " + list + " since the checkpoint, so nothing was restored"
}

// Restore restores files to a checkpoint: all of them or, if that fails, none. Their current
// contents are stored first.
func (s *Store) Restore(ctx context.Context, r RestoreRequest) (*Restored, error) {
	var result *Restored
	err := s.locked(ctx, func() (err error) {
		result, err = s.restore(ctx, r)
		return err
	})
	return result, err
}

// Plan returns what Restore would do, or its ConflictError, without doing it.
func (s *Store) Plan(ctx context.Context, r RestoreRequest) (*Restored, error) {
	result := &Restored{}
	err := s.locked(ctx, func() error {
		to, err := s.Find(r.To)
		if err != nil {
			return err
		}
		target, err := s.state(&to)
		if err != nil {
			return err
		}
		now, since, err := s.present(ctx, target)
		if err != nil {
			return err
		}
		looked, err := s.looked(&to, target)
		if err != nil {
			return err
		}
		result.To, result.Then = to, to.Git
		result.Changes, result.Kept = s.selectChanges(&to, compare(now, target), looked, r.Paths, nil)
		return s.conflicts(&to, r, result.Changes, since)
	})
	return result, err
}

func (s *Store) restore(ctx context.Context, r RestoreRequest) (*Restored, error) {
	to, err := s.Find(r.To)
	if err != nil {
		return nil, err
	}
	target, err := s.state(&to)
	if err != nil {
		return nil, err
	}
	undo, now, err := s.take(ctx, Request{When: BeforeRestore, By: ByOthers, Session: r.Session, Time: r.Time, First: target.away(),
		Within: wholeFolders(target, nil), beyond: s.beyond(target)})
	if err != nil {
		return nil, fmt.Errorf("store the current state: %w", err)
	}
	looked, err := s.looked(&to, target)
	if err != nil {
		return nil, err
	}
	result := &Restored{To: to, Undo: undo.ID, Then: to.Git, Now: undo.Git}
	result.Changes, result.Kept = s.selectChanges(&to, compare(now, target), looked, r.Paths, undo.Unseen)
	if err := s.conflicts(&to, r, withoutReadNow(result.Changes, undo.Changes), nil); err != nil {
		return result, err
	}
	if len(result.Changes) == 0 {
		return result, s.finished() // one that was cut off may have been complete
	}
	if err := s.replace(&to, undo.ID, result, now); err != nil {
		return result, err
	}
	after, _, err := s.take(ctx, Request{When: AfterRestore, By: ByReviewer, Session: r.Session, Time: r.Time, First: target.away(),
		Within: wholeFolders(target, nil), beyond: s.beyond(target)})
	if err != nil {
		return result, err
	}
	result.Now = after.Git
	return result, s.finished()
}

// withoutReadNow leaves out the changes of files that bounds left out until now: that they are read for a restore changes nothing.
func withoutReadNow(list, now []Change) []Change {
	read := map[string]bool{}
	for _, c := range now {
		if c.Before != nil && c.After != nil && c.Before.Kind == LeftOut && c.After.Kind == File {
			read[c.Path] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(c Change) bool { return read[c.Path] })
}

// looked returns the paths outside the workspace below which everything is known at a checkpoint: folders that it has whole, and
// what was there at an earlier one and no longer is.
func (s *Store) looked(to *Checkpoint, t tree) ([]string, error) {
	list := wholeFolders(t, nil)
	from, err := s.base()
	if err != nil {
		return nil, err
	}
	err = s.journal(func(c *Checkpoint) error {
		if c.N <= from.N || c.N > to.N {
			return nil
		}
		return s.entries(c.ID, c.List, func(p string, e *Entry) {
			if e == nil && outside(p) && t.find(p) == nil {
				list = append(list, p)
			}
		})
	})
	return list, err
}

// selectChanges returns what a restore of some paths changes, and what it leaves unchanged
// because it is not stored. What is outside the workspace is deleted only where somebody looked that it was not there.
func (s *Store) selectChanges(to *Checkpoint, all []Change, looked, paths, unseen []string) (list []Change, kept []Left) {
	for _, c := range all {
		switch {
		case len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool { return below(c.Path, p) }):
		case slices.ContainsFunc(unseen, func(dir string) bool { return below(c.Path, dir) }):
			kept = append(kept, Left{Path: c.Path, Why: whyNoTime})
		case c.After == nil && outside(c.Path) && !belowAny(c.Path, looked):
			kept = append(kept, Left{Path: c.Path, Why: "it may have been there before: nobody looked", Size: c.Before.Size})
		case c.After == nil && c.Before.Kind == LeftOut && !outside(c.Path) && (c.Before.Why == whyNotFile || c.Before.Why == whyGenerated),
			c.Before == nil && c.After.Kind == LeftOut && exists(s.aside(to.ID, c.Path)):
			list = append(list, c)
		case c.Before != nil && c.Before.Kind == LeftOut:
			kept = append(kept, Left{Path: c.Path, Why: c.Before.Why, Size: c.Before.Size})
		case c.After != nil && c.After.Kind == LeftOut:
			kept = append(kept, Left{Path: c.Path, Why: "it was not stored: " + c.After.Why, Size: c.After.Size})
		default:
			list = append(list, c)
		}
	}
	return list, kept
}

// aside returns the folder of generated output that a restore removed, given the id of the
// checkpoint that undoes it.
func (s *Store) aside(undo, p string) string {
	return filepath.Join(s.dir, "removed", undo, filepath.FromSlash(p))
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// below reports whether a path is another path or under it.
func below(p, dir string) bool {
	return dir == "" || p == dir || strings.HasPrefix(p, dir+"/")
}

// conflicts returns a ConflictError if anyone other than the session changed
// one of the paths since the checkpoint. since is what changed since the newest checkpoint.
func (s *Store) conflicts(to *Checkpoint, r RestoreRequest, changes, since []Change) error {
	if r.Force {
		return nil
	}
	ours := map[string]bool{}
	for _, c := range changes {
		ours[c.Path] = true
	}
	theirs := map[string]bool{}
	for _, c := range since {
		if ours[c.Path] && (c.After == nil || c.After.Kind != Folder) {
			theirs[c.Path] = true
		}
	}
	err := s.journal(func(c *Checkpoint) error {
		if c.N <= to.N || c.By == ByReviewer || c.By == BySession && c.Session == r.Session {
			return nil
		}
		return s.entries(c.ID, c.List, func(p string, e *Entry) {
			if ours[p] && (e == nil || e.Kind != Folder) {
				theirs[p] = true
			}
		})
	})
	if err != nil || len(theirs) == 0 {
		return err
	}
	list := make([]string, 0, len(theirs))
	for p := range theirs {
		list = append(list, p)
	}
	slices.Sort(list)
	return &ConflictError{Paths: list}
}

// Interrupted is a restore that was interrupted by a power loss or a kill.
type Interrupted struct {
	To   string `json:"to"`   // the checkpoint that was being restored
	Undo string `json:"undo"` // the checkpoint taken before
}

func (s *Store) interruptedFile() string { return filepath.Join(s.dir, "restoring") }

// Interrupted returns the restore that was interrupted, if there is one. Repeating the restore
// finishes it.
func (s *Store) Interrupted() *Interrupted { return s.interrupted() }

func (s *Store) interrupted() *Interrupted {
	b, err := osfile.ReadFile(s.interruptedFile())
	if err != nil {
		return nil
	}
	var i Interrupted
	if json.Unmarshal(b, &i) != nil {
		return &Interrupted{}
	}
	return &i
}

// finished notes that a restore is complete.
func (s *Store) finished() error {
	err := os.Remove(s.interruptedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// replace carries out the changes. Contents are first written to a temporary folder next to
// the files, so that a full disk or damaged contents change nothing.
func (s *Store) replace(to *Checkpoint, undo string, r *Restored, now tree) error {
	st, err := s.stage(r.Changes, now, to.ID, undo)
	if err != nil {
		return fmt.Errorf("nothing was restored: %w", err)
	}
	defer st.remove()
	intent, err := json.Marshal(Interrupted{To: to.ID, Undo: undo})
	if err != nil {
		return err
	}
	if err := writeFile(s.interruptedFile(), intent); err != nil {
		return fmt.Errorf("nothing was restored: %w", err)
	}
	done, err := st.apply(r.Changes, now)
	if err == nil {
		r.Kept = append(r.Kept, st.kept...)
		return nil
	}
	if back := s.back(r.Changes[:done], to.ID, undo); back != nil {
		return fmt.Errorf("%w; and undoing what had been restored failed (%w): run `reviewer checkpoint restore %s`", err, back, undo)
	}
	return errors.Join(fmt.Errorf("nothing was restored: %w", err), s.finished())
}

// back reverts changes that were carried out.
func (s *Store) back(done []Change, to, undo string) error {
	reverse := make([]Change, 0, len(done))
	for _, c := range done {
		reverse = append(reverse, Change{Path: c.Path, Before: c.After, After: c.Before})
	}
	st, err := s.stage(reverse, nil, undo, to)
	if err != nil {
		return err
	}
	defer st.remove()
	_, err = st.apply(reverse, nil)
	return err
}
