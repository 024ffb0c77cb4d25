package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Request describes the checkpoint to take.
type Request struct {
	When    When
	By      By // who made the changes since the previous checkpoint
	Session string
	Call    string
	Time    int64    // Unix milliseconds
	First   []string // paths that are stored before all others; absolute ones outside the workspace are stored too
	Within  []string // folders outside the workspace that are stored with their contents
	Only    bool     // nothing but First can change
	Save    *Save    // what must be stored whole; nil: nothing

	beyond map[string]bool // paths that a state to restore has, and that bounds could leave out: they are stored in any case
}

// Taken is a checkpoint that was taken, or the previous one if nothing had changed.
type Taken struct {
	Checkpoint
	New     bool
	Changes []Change // since the previous checkpoint; nil for the first
	Unseen  []string // folders that were not reached in time: their contents are those of the previous checkpoint
	Scanned int      // files that were examined
	Read    int      // files whose contents were read
	Unsaved string   // why Request.Save could not be done; empty: it was, or was not asked for
}

// Take records the state of the workspace, and stores contents that are not stored yet.
func (s *Store) Take(ctx context.Context, r Request) (*Taken, error) {
	var taken *Taken
	err := s.locked(ctx, func() (err error) {
		taken, _, err = s.take(ctx, r)
		return err
	})
	return taken, err
}

// take also returns the state. The lock must be held.
func (s *Store) take(ctx context.Context, r Request) (*Taken, tree, error) {
	head, err := s.head()
	if err != nil {
		return nil, nil, err
	}
	before, indexed, err := s.known(head)
	if err != nil {
		return nil, nil, err
	}
	r.First = append(slices.Clone(r.First), r.targets()...)
	limited := ctx
	if s.bounds.Budget > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, s.bounds.Budget)
		defer cancel()
	}
	w, err := s.look(limited, r, head, before, indexed)
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(w.git)
	w.git = slices.Compact(w.git) // a folder may have been read twice
	saving, err := s.plan(&r, w)
	if err != nil {
		return nil, nil, err
	}
	must := saving.wanted()
	if len(r.beyond) > 0 {
		must = r.beyond // nothing is saved at a restore
	}
	read, stored, err := s.fill(limited, w, r.First, must)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	saving.check(w.tree)
	w.tree.group()
	if s.interrupted() != nil && r.When != AfterRestore {
		r.By = ByReviewer // a restore was cut off: what it did is nobody else's change
	}
	taken, err := s.record(r, w, before, indexed, head, read, stored, saving)
	return taken, w.tree, err
}

// known returns the state at the newest checkpoint, and whether it contains the metadata of
// files.
func (s *Store) known(head *Checkpoint) (_ tree, indexed bool, err error) {
	if head == nil {
		return tree{}, false, nil
	}
	t, err := s.loadIndex(head.hash)
	if t != nil || err != nil {
		return t, true, err
	}
	t, err = s.state(head)
	return t, false, err
}

// look returns the current state of the workspace.
func (s *Store) look(ctx context.Context, r Request, head *Checkpoint, before tree, indexed bool) (*scanner, error) {
	index := before
	if !indexed {
		index = nil
	}
	if s.bounds.Targeted || r.Only && head != nil && indexed {
		return s.lookAt(ctx, r, head, before, index)
	}
	w, err := s.scan(ctx, index)
	if err != nil {
		return nil, err
	}
	within := wholeFolders(before, append(r.whole(), r.Within...))
	w.wholly = wholeFolders(before, r.whole())
	for _, p := range append(before.away(), r.First...) {
		if belowAny(p, within) || !outside(p) && !slices.Contains(r.targets(), p) {
			continue
		}
		if err := w.add(p); err != nil {
			return nil, err
		}
	}
	return w, w.walk(within)
}

// lookAt examines some paths only.
func (s *Store) lookAt(ctx context.Context, r Request, head *Checkpoint, before, index tree) (*scanner, error) {
	w := s.scanner(ctx, index)
	w.tree = before.clone()
	if head != nil {
		for _, g := range head.Git {
			w.git = append(w.git, strings.TrimPrefix(g.Dir, "."))
		}
	}
	for _, p := range r.First {
		if err := w.add(p); err != nil {
			return nil, err
		}
	}
	w.wholly = wholeFolders(nil, r.whole())
	return w, w.walk(wholeFolders(nil, append(r.whole(), r.Within...)))
}

// add examines a path, and its parent folders that the state does not contain.
func (w *scanner) add(p string) error {
	for _, skip := range w.skip {
		if full := filepath.ToSlash(skip); p == full || strings.HasPrefix(p, full+"/") {
			return nil
		}
	}
	if !validPath(p) || p == "/" || strings.Contains("/"+p+"/", "/.git/") {
		return nil
	}
	p = w.spelled(p)
	i, err := w.one(p)
	if err != nil {
		i = &item{Entry: Entry{Path: p}, name: path.Base(p)}
		i.leave(whyUnread + reason(err))
	}
	w.tree.set(p, i)
	if dir, _ := split(p); i != nil && dir != "" && !outside(p) && w.tree.find(dir) == nil {
		return w.add(dir)
	}
	return nil
}

// spelled returns a path of the workspace as its folders list it: where upper and lower case
// are treated alike, a call may spell a name differently.
func (w *scanner) spelled(p string) string {
	if outside(p) || w.tree.find(p) != nil || w.index.find(p) != nil {
		return p
	}
	root, err := os.OpenRoot(w.root)
	if err != nil {
		return p // the error is reported when the path is examined
	}
	defer root.Close()
	p, _ = w.system.spelled(root, p)
	return p
}

// fill reads and stores the contents of files that have no digest yet. Files that exceed the
// bounds are marked as left out.
func (s *Store) fill(ctx context.Context, w *scanner, first []string, must map[string]bool) (read int, stored int64, err error) {
	todo := s.admit(w.tree, first, must)
	if len(todo) == 0 {
		return 0, 0, nil
	}
	f := &filler{store: s, seen: map[Digest]bool{}}
	if len(todo) > looseFiles {
		if f.pack, err = newPack(filepath.Join(s.dir, "packs")); err != nil {
			return 0, 0, err
		}
	}
	next := make(chan *item)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				f.read(ctx, i)
			}
		})
	}
	for _, i := range todo {
		next <- i
	}
	close(next)
	workers.Wait()
	err = f.err
	if f.pack != nil {
		if err == nil {
			err = f.pack.finish()
		} else {
			f.pack.abort()
		}
		s.objects.known = false
	}
	return f.count, f.stored, err
}

// looseFiles is the number of files above which they are stored together in a
// pack.
const looseFiles = 256

// admit returns the files to read in the order in which they are read, and
// marks those that exceed the bounds. No bound applies to those that must be stored.
func (s *Store) admit(t tree, first []string, must map[string]bool) []*item {
	early := map[string]bool{}
	for _, p := range first {
		early[p] = true
	}
	plain := queue{files: s.bounds.MaxFiles, bytes: s.bounds.MaxBytes, why: whyTooMany, early: early}
	ignored := queue{files: s.bounds.IgnoredFiles, bytes: s.bounds.IgnoredBytes, why: whyIgnored, early: early}
	var list []*item
	for _, dir := range t.folders() {
		for n := range t[dir] {
			i, q := &t[dir][n], &plain
			if i.ignored {
				q = &ignored
			}
			switch {
			case i.Kind != File:
			case must[i.Path]:
				if !i.has {
					list = append(list, i)
				}
			case i.Size > s.bounds.MaxFileBytes:
				i.leave(whyTooBig)
			case i.has && i.ignored:
				q.files, q.bytes = q.files-1, q.bytes-i.Size
			case i.has:
				q.files--
			case i.ignored && i.Size > s.bounds.IgnoredFileBytes && !early[i.Path]:
				i.leave(whyIgnored)
			default:
				q.list = append(q.list, i)
			}
		}
	}
	return append(append(list, plain.admitted()...), ignored.admitted()...)
}

// queue contains files with a common bound.
type queue struct {
	files int   // that may still be stored
	bytes int64 // of these
	why   string
	early map[string]bool // paths that come first
	list  []*item
}

// admitted returns the files within the bounds: those that come first, then small files before
// large ones, so that most files are stored.
func (q *queue) admitted() []*item {
	rank := func(i *item) int {
		if q.early[i.Path] {
			return 0
		}
		return 1
	}
	slices.SortFunc(q.list, func(a, b *item) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Size, b.Size), strings.Compare(a.Path, b.Path))
	})
	for n, i := range q.list {
		if q.files, q.bytes = q.files-1, q.bytes-i.Size; (q.files < 0 || q.bytes < 0) && !q.early[i.Path] {
			leaveAll(q.list[n:], q.why)
			return q.list[:n]
		}
	}
	return q.list
}

func leaveAll(list []*item, why string) {
	for _, i := range list {
		i.leave(why)
	}
}

// filler stores the contents of files, several at a time.
type filler struct {
	store *Store
	mu    sync.Mutex
	pack  *packWriter // nil: each in a file of its own
	seen  map[Digest]bool

	count  int
	stored int64
	err    error // of the store; that of a file is noted with the file
}

func (f *filler) read(ctx context.Context, i *item) {
	f.mu.Lock()
	failed := f.err != nil
	f.mu.Unlock()
	switch {
	case failed:
		return
	case ctx.Err() != nil:
		i.leave(whyNoTime)
		return
	}
	contents, err := f.store.contents(i)
	switch {
	case errors.Is(err, errUnstable):
		i.leave(whyUnstable)
		return
	case err != nil:
		i.leave(whyUnread + reason(err))
		return
	}
	err = f.keep(i, contents)
	f.mu.Lock()
	f.count++
	if f.err == nil {
		f.err = err
	}
	f.mu.Unlock()
}

func (f *filler) keep(i *item, contents []byte) error {
	k := f.store.objects.keys
	i.Sealed = f.store.sealed != nil && f.store.sealed(f.store.absolute(i.Path))
	i.Digest, i.has = k.digest(contents, i.Sealed), true
	f.mu.Lock()
	seen := f.seen[i.Digest]
	f.seen[i.Digest] = true
	f.mu.Unlock()
	if seen {
		return nil
	}
	has, err := f.has(i.Digest)
	if has || err != nil {
		return err
	}
	frame, err := k.frame(i.Digest, contents, i.Sealed)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.stored += int64(len(frame))
	if f.pack != nil {
		defer f.mu.Unlock()
		return f.pack.put(i.Digest, frame)
	}
	f.mu.Unlock()
	return f.store.objects.put(i.Digest, frame)
}

func (f *filler) has(id Digest) (bool, error) {
	f.mu.Lock()
	err := f.store.objects.openPacks()
	f.mu.Unlock()
	if err != nil {
		return false, err
	}
	return f.store.objects.has(id)
}

// errUnstable means that a file changed every time that it was read.
var errUnstable = errors.New("unstable")

// contents reads the file of an entry, and updates the entry if the file changed since.
func (s *Store) contents(i *item) ([]byte, error) {
	dir, name := split(i.Path)
	root, err := s.openDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for range 3 {
		b, info, err := readStable(root, name)
		if err != nil && !errors.Is(err, errUnstable) {
			return nil, err
		}
		if err == nil {
			racy := i.racy
			i.describe(info)
			i.racy = racy
			if i.Kind != File || int64(len(b)) != i.Size {
				continue
			}
			return b, nil
		}
	}
	return nil, errUnstable
}

// readStable reads a file that is not a link, and fails if the file changes meanwhile.
func readStable(root *os.Root, name string) ([]byte, fs.FileInfo, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, errUnstable
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	b := make([]byte, before.Size(), before.Size()+1)
	n, err := io.ReadFull(f, b)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, nil, err
	}
	after, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if n < len(b) || !sameFile(before, after) {
		return nil, nil, errUnstable
	}
	return b, after, nil
}

func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && osfile.Changed(a) == osfile.Changed(b)
}

// openDir opens a folder of the workspace, or an absolute one.
func (s *Store) openDir(dir string) (*os.Root, error) {
	if outside(dir) {
		return os.OpenRoot(filepath.FromSlash(dir))
	}
	root, err := os.OpenRoot(s.root)
	if err != nil || dir == "" {
		return root, err
	}
	defer root.Close()
	return root.OpenRoot(filepath.FromSlash(dir))
}

func (s *Store) absolute(p string) string {
	if outside(p) {
		return filepath.FromSlash(p)
	}
	return filepath.Join(s.root, filepath.FromSlash(p))
}

// record adds a checkpoint to the journal if anything changed, and brings the
// index up to date.
func (s *Store) record(r Request, w *scanner, before tree, indexed bool, head *Checkpoint, read int, stored int64,
	saving *saving) (*Taken, error) {
	changes := compare(before, w.tree)
	taken := &Taken{Unseen: w.unseen, Read: read}
	for _, list := range w.tree {
		taken.Scanned += len(list)
	}
	git := s.repositories(w.git)
	if saving != nil {
		if taken.Unsaved = saving.failed; taken.Unsaved == "" {
			taken.Save = &saving.saved
		}
	}
	if head != nil && len(changes) == 0 && slices.Equal(git, head.Git) && taken.Save == nil {
		taken.Checkpoint = *head
		if read == 0 && indexed {
			return taken, nil
		}
		return taken, s.saveIndex(taken.hash, w.tree)
	}
	taken.New, taken.Git = true, git
	if head != nil {
		taken.Changes = changes
	}
	if err := s.add(&taken.Checkpoint, r, w.tree, changes, head, stored); err != nil {
		return nil, err
	}
	return taken, s.saveIndex(taken.hash, w.tree)
}

// add appends a checkpoint to the journal.
func (s *Store) add(c *Checkpoint, r Request, t tree, changes []Change, head *Checkpoint, stored int64) error {
	c.T, c.When, c.By, c.Session, c.Call, c.Changed, c.Stored = r.Time, r.When, r.By, r.Session, r.Call, len(changes), stored
	if head == nil {
		c.By = ""
	}
	if len(changes) > 0 {
		id, size, err := s.addList(changes)
		if err != nil {
			return err
		}
		c.List, c.Stored = id.String(), c.Stored+size
	}
	var left []Left
	c.Files, c.Bytes, left = t.totals()
	c.LeftAll, c.Left = len(left), left[:min(len(left), maxLeft)]
	return s.append(c, head)
}

// addList stores what each changed path became.
func (s *Store) addList(changes []Change) (id Digest, size int64, err error) {
	list, err := encodeChanges(changes)
	if err != nil {
		return id, 0, err
	}
	id = s.objects.keys.digest(list, false)
	frame, err := s.objects.keys.frame(id, list, false)
	if err != nil {
		return id, 0, err
	}
	return id, int64(len(frame)), s.objects.put(id, frame)
}
