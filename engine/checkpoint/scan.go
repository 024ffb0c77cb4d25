package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Why a path is left out.
const (
	whyNoTime    = "there was no time left"
	whyNotFile   = "not a file, link or folder"
	whyOtherDisk = "on another file system"
	whyGenerated = "generated, and ignored by git"
	whyUnstable  = "it kept changing while it was read"
	whyTooBig    = "larger than the limit for a file"
	whyTooMany   = "beyond the limit for all files"
	whyIgnored   = "ignored by git, and beyond the limits for such files"
	whyGit       = "what git stores is not restored"
	whyUnread    = "it could not be read: "
)

// scanner walks a workspace and compares each file with the index.
type scanner struct {
	ctx     context.Context
	bounds  *Bounds
	root    string
	device  uint64
	skip    []string // absolute paths that are not part of the workspace
	within  []string // those of them that are below the root, relative
	index   tree     // nil: every file is read
	began   int64    // nanoseconds; files that changed after began minus slack are racy
	workers chan struct{}
	system  *system
	wholly  []string // folders whose contents belong to the state, whatever bounds leave out

	mu     sync.Mutex
	tree   tree
	git    []string // folders with a .git, relative
	unseen []string // folders that were not reached in time
	wait   sync.WaitGroup
	fault  error
}

// slack is the time before a scan by which a file must have changed for its times to prove
// that it did not change since it was read: file systems without nanoseconds have a
// resolution of one second, FAT of two.
const slack = 2 * time.Second

// scan returns the state of the workspace. Files that changed since the index
// was made, or that it does not have, have no digest yet.
func (s *Store) scan(ctx context.Context, index tree) (*scanner, error) {
	info, err := os.Stat(s.root)
	if err != nil {
		return nil, err
	}
	w := s.scanner(ctx, index)
	id, _ := osfile.IdentifyInfo(info)
	w.device = id.Device
	dir, err := os.OpenRoot(s.root)
	if err != nil {
		return nil, err
	}
	w.folder(dir, "", ignoredAbove(s.root))
	w.wait.Wait()
	slices.Sort(w.git)
	w.late()
	return w, w.fault
}

func (s *Store) scanner(ctx context.Context, index tree) *scanner {
	w := &scanner{ctx: ctx, bounds: &s.bounds, root: s.root, skip: append([]string{s.dir}, s.skip...), index: index, tree: tree{},
		system: &s.system, began: time.Now().UnixNano(), workers: make(chan struct{}, runtime.GOMAXPROCS(0))}
	below := strings.TrimSuffix(s.root, string(filepath.Separator)) + string(filepath.Separator)
	for _, full := range w.skip {
		if rel, is := strings.CutPrefix(full, below); is {
			w.within = append(w.within, filepath.ToSlash(rel))
		}
	}
	return w
}

// folder reads a folder, and closes it.
func (w *scanner) folder(dir *os.Root, rel string, above *ignore) {
	defer dir.Close()
	if w.ctx.Err() != nil {
		w.mu.Lock()
		w.unseen = append(w.unseen, rel)
		w.mu.Unlock()
		return
	}
	names, err := readNames(dir)
	if err != nil {
		w.unreadable(rel, err)
		return
	}
	known := w.index[rel]
	git := above.enter(dir, rel, names)
	list := make([]item, 0, len(names))
	for _, name := range names {
		i, ok := w.entry(dir, rel, name, git)
		if name == ".git" && !outside(rel) {
			w.repository(rel)
			ok = ok && i.Kind == File // of a worktree or submodule: it names the folder with the repository
		}
		if !ok {
			continue
		}
		if then := lookup(&known, name); then != nil {
			w.unchanged(&i, then)
		}
		if i.Kind == Folder {
			w.below(dir, &i, git)
		}
		list = append(list, i)
	}
	w.keep(rel, list)
}

func readNames(dir *os.Root) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// lookup returns the entry with a name, and drops those before it.
func lookup(list *[]item, name string) *item {
	for len(*list) > 0 && (*list)[0].name < name {
		*list = (*list)[1:]
	}
	if len(*list) > 0 && (*list)[0].name == name {
		return &(*list)[0]
	}
	return nil
}

// entry describes a name in a folder. It reports false for what is not part of the
// workspace, or has just been deleted.
func (w *scanner) entry(dir *os.Root, rel, name string, git *ignore) (item, bool) {
	i := item{Entry: Entry{Path: join(rel, name)}, name: name}
	if rel == "" && strings.HasPrefix(name, stagePrefix) {
		_ = dir.RemoveAll(name) // of a restore that was cut off: the lock is held, so none is under way
		return i, false
	}
	if w.skips(i.Path) {
		return i, false
	}
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return i, false
	}
	if err != nil {
		i.leave(whyUnread + reason(err))
		return i, true
	}
	i.describe(info)
	i.racy = max(i.stat.modified, i.stat.changed) > w.began-int64(slack)
	switch {
	case name == ".git" && (i.Kind != File || outside(rel)):
		i.leave(whyGit)
	case i.Kind == Link:
		if i.Target, err = dir.Readlink(name); err != nil {
			i.leave(whyUnread + reason(err))
		}
	case i.Kind == Folder && i.stat.device != w.device:
		i.leave(whyOtherDisk)
	case i.Kind == Folder && w.bounds.generated(name) && git.generated(i.Path):
		i.leave(whyGenerated)
	case i.Kind == File && git.ignores(i.Path, false):
		i.ignored = true
	}
	return i, true
}

// skips reports whether a path that a walk found is not part of the scan.
func (w *scanner) skips(p string) bool {
	if outside(p) {
		full := filepath.FromSlash(p)
		return full == w.root || slices.Contains(w.skip, full)
	}
	return slices.Contains(w.within, p)
}

// describe fills in what the file system says.
func (i *item) describe(info fs.FileInfo) {
	id, _ := osfile.IdentifyInfo(info)
	i.stat = stat{size: info.Size(), modified: info.ModTime().UnixNano(), changed: osfile.Changed(info), inode: id.File, device: id.Device}
	i.Mode = info.Mode() & (fs.ModePerm | specialBits)
	switch mode := info.Mode(); {
	case mode.IsRegular():
		i.Kind, i.Size = File, info.Size()
		i.linked = osfile.Links(info) > 1
	case mode.IsDir():
		i.Kind, i.stat.size = Folder, 0
	case mode&fs.ModeSymlink != 0:
		i.Kind, i.Mode = Link, 0
	default:
		i.leave(whyNotFile)
	}
}

// leave marks an entry as left out.
func (i *item) leave(why string) {
	i.Kind, i.Why, i.Digest, i.has, i.Sealed, i.Target, i.Group = LeftOut, why, Digest{}, false, false, "", ""
	i.Size = i.stat.size
}

func reason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return err.Error()
}

// unchanged reuses the digest of a file whose metadata did not change since it was read.
func (w *scanner) unchanged(i, then *item) {
	if i.Kind == File && then.Kind == File && then.has && !then.racy && i.stat == then.stat {
		i.Digest, i.Sealed, i.has, i.racy = then.Digest, then.Sealed, true, false
	}
}

// below walks the folder that an entry describes, in a goroutine of its own if a
// worker is free.
func (w *scanner) below(dir *os.Root, i *item, git *ignore) {
	child, err := dir.OpenRoot(i.name)
	if err == nil {
		var info fs.FileInfo
		if info, err = child.Stat("."); err == nil {
			if id, ok := osfile.IdentifyInfo(info); ok && id.File != i.stat.inode {
				err = errors.New("it was replaced while it was read")
			}
		}
		if err != nil {
			_ = child.Close() // nothing was read from it
		}
	}
	if err != nil {
		i.leave(whyUnread + reason(err))
		return
	}
	rel, inside := i.Path, git.below(i.Path)
	select {
	case w.workers <- struct{}{}:
		w.wait.Go(func() {
			defer func() { <-w.workers }()
			w.folder(child, rel, inside)
		})
	default:
		w.folder(child, rel, inside)
	}
}

// late keeps the previous state of folders that were not reached in time.
func (w *scanner) late() {
	if len(w.unseen) == 0 {
		return
	}
	missed := map[string]bool{}
	for _, dir := range w.unseen {
		missed[dir] = true
	}
	for _, dir := range w.index.folders() {
		above, _ := split(dir)
		if !missed[dir] && !(missed[above] && dir != "") {
			continue
		}
		missed[dir] = true
		w.tree[dir] = w.index[dir]
	}
}

// unreadable records that the entries of a folder are unknown.
func (w *scanner) unreadable(rel string, err error) {
	if rel == "" {
		w.mu.Lock()
		w.fault = err
		w.mu.Unlock()
		return
	}
	w.keep(rel, []item{{Entry: Entry{Path: join(rel, "*"), Kind: LeftOut, Why: whyUnread + reason(err)}, name: "*"}})
}

func (w *scanner) keep(rel string, list []item) {
	if len(list) == 0 {
		return
	}
	w.mu.Lock()
	w.tree[rel] = list
	w.mu.Unlock()
}

func (w *scanner) repository(rel string) {
	w.mu.Lock()
	w.git = append(w.git, rel)
	w.mu.Unlock()
}

// one describes the path of a single file, folder or link, without its contents. It returns
// nil for a path that does not exist.
func (w *scanner) one(p string) (*item, error) {
	dir, name := split(p)
	folder := dir
	if !outside(p) {
		folder = path.Join(filepath.ToSlash(w.root), dir)
	}
	root, err := os.OpenRoot(filepath.FromSlash(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := w.system.lstat(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	i := &item{Entry: Entry{Path: p}, name: name}
	i.describe(info)
	i.racy = max(i.stat.modified, i.stat.changed) > w.began-int64(slack)
	if i.Kind == Link {
		if i.Target, err = root.Readlink(name); err != nil {
			return nil, err
		}
	}
	if then := w.index.find(p); then != nil {
		w.unchanged(i, then)
	}
	return i, nil
}
