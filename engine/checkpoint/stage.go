package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// stagePrefix begins the name of the folder in the workspace in which contents are written
// before they are moved into place.
const stagePrefix = ".reviewer-restore-"

// stage holds contents to be moved into place. Names are resolved by os.Root, so no link leads
// out of the workspace.
type stage struct {
	store  *Store
	root   *os.Root
	dir    string            // name of the folder of staged contents
	staged map[string]string // path: name in dir
	groups map[string]string // hard links: path of the first file that was put in place
	opened map[string]fs.FileMode
	kept   []Left
	links  []string // outside the workspace: links that become folders
	to     string   // id of the checkpoint that is restored
	undo   string   // id of the checkpoint that undoes it
}

// stage writes the contents of all files that change, given what is there now. On failure it leaves nothing behind.
func (s *Store) stage(changes []Change, now tree, to, undo string) (_ *stage, err error) {
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return nil, err
	}
	st := &stage{store: s, root: root, staged: map[string]string{}, groups: map[string]string{}, opened: map[string]fs.FileMode{},
		to: to, undo: undo}
	defer func() {
		if err != nil {
			st.remove()
		}
	}()
	full, err := os.MkdirTemp(s.root, stagePrefix+"*")
	if err != nil {
		return nil, err
	}
	st.dir = filepath.Base(full)
	if a, b := collision(changes, now); a != "" && s.system.folds(full) {
		return nil, fmt.Errorf("%s and %s are one file on this file system", a, b)
	}
	st.links = linksAway(changes)
	for n, c := range changes {
		if c.After == nil || c.After.Kind != File || c.sameContents() {
			continue
		}
		name := path.Join(st.dir, strconv.Itoa(n))
		if err := st.write(name, c.After); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Path, err)
		}
		st.staged[c.Path] = name
	}
	return st, nil
}

func (st *stage) write(name string, e *Entry) error {
	contents, err := st.store.objects.get(e.Digest)
	if err != nil {
		return err
	}
	f, err := st.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(contents)
	if err == nil {
		err = osfile.Sync(f)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// remove deletes the folder of staged contents.
func (st *stage) remove() {
	if st.dir != "" {
		_ = st.root.RemoveAll(st.dir) // the next scan removes a folder that is left over
	}
	for dir, mode := range st.opened {
		_ = st.root.Chmod(dir, mode) // the folder may be gone
	}
	_ = st.root.Close() // it was opened only to resolve names
}

// apply carries out changes, and returns how many, counted from the front, were carried out or
// begun. It reorders them: deletions come first, deepest first, then folders, then files.
func (st *stage) apply(changes []Change, now tree) (int, error) {
	slices.SortStableFunc(changes, order)
	for n := range changes {
		if err := st.unchanged(&changes[n], now); err != nil {
			return 0, err
		}
	}
	for n := range changes {
		c := &changes[n]
		if err := st.unchanged(c, now); err != nil {
			return n, err
		}
		if err := st.one(c); err != nil {
			return n, fmt.Errorf("%s: %w", c.Path, err)
		}
	}
	return len(changes), st.modes(changes)
}

// order sorts changes: first paths that are deleted or change their kind, deepest first; then
// folders, then files and links.
func order(a, b Change) int {
	x, y := rank(a), rank(b)
	switch {
	case x != y:
		return x - y
	case x == 0:
		return strings.Compare(b.Path, a.Path)
	}
	return strings.Compare(a.Path, b.Path)
}

func rank(c Change) int {
	switch {
	case c.After == nil:
		return 0
	case c.After.Kind == Folder:
		return 1
	}
	return 2
}

// unchanged fails if a path no longer looks as it did when its contents were stored.
func (st *stage) unchanged(c *Change, now tree) error {
	if now == nil {
		return nil
	}
	then := now.find(c.Path)
	info, err := st.lstat(c.Path)
	switch {
	case then == nil && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, errOnTheWay)):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && then == nil && !st.spelled(c.Path):
		return nil // what is found is another path, which the changes delete
	case err != nil || then == nil:
		return fmt.Errorf("%s was changed by somebody else at the same time", c.Path)
	}
	var is item
	is.describe(info)
	if then.Kind == LeftOut {
		return nil
	}
	is.stat.changed = then.stat.changed // a chmod of ours changes it
	if is.Kind != then.Kind || is.Kind == File && is.stat != then.stat {
		return fmt.Errorf("%s was changed by somebody else in the meantime", c.Path)
	}
	return nil
}

func (st *stage) lstat(p string) (fs.FileInfo, error) {
	if outside(p) {
		return st.lstatAway(p)
	}
	if err := st.noLinks(p); err != nil {
		return nil, err
	}
	return st.store.system.lstat(st.root, filepath.FromSlash(p))
}

// spelled reports whether a path that was found is listed with these upper and lower case
// letters.
func (st *stage) spelled(p string) bool {
	if outside(p) {
		return true
	}
	_, same := st.store.system.spelled(st.root, p)
	return same
}

// errOnTheWay means that a path cannot exist, since a parent of it is not a folder.
var errOnTheWay = errors.New("it is no longer a folder")

// noLinks fails if a parent folder of a path is a link: what is under it is not what the
// checkpoint contains.
func (st *stage) noLinks(p string) error {
	for i := 0; i < len(p); i++ {
		if p[i] != '/' {
			continue
		}
		info, err := st.root.Lstat(filepath.FromSlash(p[:i]))
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s: %w", p[:i], errOnTheWay)
		}
	}
	return nil
}

// one restores a path to its former state.
func (st *stage) one(c *Change) error {
	if outside(c.Path) {
		return st.away(c)
	}
	name := filepath.FromSlash(c.Path)
	if err := st.writable(c.Path); err != nil {
		return err
	}
	switch {
	case c.After == nil && c.Before.Kind == LeftOut && c.Before.Why == whyGenerated:
		return st.moveAside(c)
	case c.After == nil:
		return st.delete(st.root, c, name)
	case c.After.Kind == LeftOut:
		return os.Rename(st.store.aside(st.to, c.Path), st.store.absolute(c.Path))
	}
	if c.Before != nil && (c.Before.Kind == Folder) != (c.After.Kind == Folder) {
		if err := st.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	switch c.After.Kind {
	case Folder:
		if c.Before != nil && c.Before.Kind == Folder {
			return nil // only its mode differs
		}
		return st.root.Mkdir(name, 0o700)
	case Link:
		temp := path.Join(st.dir, "link")
		if err := st.root.Symlink(c.After.Target, temp); err != nil {
			return err
		}
		return st.root.Rename(temp, name)
	}
	return st.put(c, name)
}

// writable makes the folder of a path writable until the end.
func (st *stage) writable(p string) error {
	dir, _ := split(p)
	if dir == "" {
		dir = "."
	}
	info, err := st.root.Stat(filepath.FromSlash(dir))
	if err != nil || info.Mode().Perm()&0o300 == 0o300 {
		return err
	}
	if _, ok := st.opened[dir]; !ok {
		st.opened[dir] = info.Mode() & (fs.ModePerm | specialBits)
	}
	return st.root.Chmod(filepath.FromSlash(dir), info.Mode().Perm()|0o700)
}

// delete removes a path that did not exist at the checkpoint. A folder with contents that are
// not stored stays.
func (st *stage) delete(root *os.Root, c *Change, name string) error {
	err := root.Remove(name)
	if c.Before.Kind == Folder && err != nil && !errors.Is(err, fs.ErrNotExist) {
		st.kept = append(st.kept, Left{Path: c.Path, Why: "it contains files that are not stored"})
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// moveAside moves generated output out of the workspace; on another file system it
// stays where it is.
func (st *stage) moveAside(c *Change) error {
	to := st.store.aside(st.undo, c.Path)
	if err := osfile.MkdirPrivate(filepath.Dir(to)); err != nil {
		return err
	}
	err := os.Rename(st.store.absolute(c.Path), to)
	if osfile.AcrossDisks(err) {
		st.kept = append(st.kept, Left{Path: c.Path, Why: c.Before.Why})
		return nil
	}
	return err
}

// put renames staged contents into place, or links to a file that is already in place.
func (st *stage) put(c *Change, name string) error {
	staged, ok := st.staged[c.Path]
	if !ok {
		return nil // only its mode differs
	}
	if first := st.groups[c.After.Group]; c.After.Group != "" && first != "" {
		temp := path.Join(st.dir, "hardlink")
		if err := st.root.Link(first, temp); err != nil {
			return err
		}
		return st.root.Rename(temp, name)
	}
	if err := st.root.Chmod(staged, c.After.Mode); err != nil {
		return err
	}
	if err := st.root.Rename(staged, name); err != nil {
		return err
	}
	if c.After.Group != "" {
		st.groups[c.After.Group] = name
	}
	return nil
}

// modes sets the modes of files and folders, folders last, the deepest first.
func (st *stage) modes(changes []Change) error {
	var folders []*Change
	for n := range changes {
		c := &changes[n]
		if c.After == nil || outside(c.Path) && c.After.Kind != Folder {
			continue
		}
		switch c.After.Kind {
		case Folder:
			folders = append(folders, c)
		case File:
			if err := st.root.Chmod(filepath.FromSlash(c.Path), c.After.Mode); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(folders, func(a, b *Change) int { return strings.Compare(b.Path, a.Path) })
	for _, c := range folders {
		if outside(c.Path) {
			if err := modeAway(c); err != nil {
				return err
			}
			continue
		}
		delete(st.opened, c.Path)
		if err := st.root.Chmod(filepath.FromSlash(c.Path), c.After.Mode); err != nil {
			return err
		}
	}
	return nil
}
