package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// away returns the paths outside the workspace, sorted.
func (t tree) away() []string {
	var list []string
	for dir, entries := range t {
		if !outside(dir) {
			continue
		}
		for i := range entries {
			list = append(list, entries[i].Path)
		}
	}
	slices.Sort(list)
	return list
}

// wholeFolders returns the folders whose contents belong to a state although a scan leaves them out, and
// more of them. None is below another.
func wholeFolders(t tree, more []string) []string {
	list := slices.Clone(more)
	for _, entries := range t {
		for i := range entries {
			if entries[i].Whole {
				list = append(list, entries[i].Path)
			}
		}
	}
	slices.Sort(list)
	var top []string
	for _, p := range list {
		if !belowAny(p, top) {
			top = append(top, p)
		}
	}
	return top
}

func belowAny(p string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return below(p, dir) })
}

// walk examines folders and what is under them.
func (w *scanner) walk(dirs []string) error {
	for _, dir := range dirs {
		for known := range w.tree {
			if below(known, dir) {
				delete(w.tree, known)
			}
		}
		if err := w.add(dir); err != nil {
			return err
		}
		if i := w.tree.find(dir); i != nil && i.Kind == Folder {
			w.whole(i)
		}
	}
	w.late()
	return nil
}

// whole examines what is under a folder. What cannot be read is left out.
func (w *scanner) whole(i *item) {
	root, err := os.OpenRoot(w.absolute(i.Path))
	if err != nil {
		i.leave(whyUnread + reason(err))
		return
	}
	i.Whole = outside(i.Path) || slices.Contains(w.wholly, i.Path)
	w.device = i.stat.device
	w.folder(root, i.Path, ignoredAbove(w.absolute(i.Path)))
	w.wait.Wait()
}

func (w *scanner) absolute(p string) string {
	if outside(p) {
		return filepath.FromSlash(p)
	}
	return filepath.Join(w.root, filepath.FromSlash(p))
}

// linksAway lists the links outside the workspace that changes replace with
// folders.
func linksAway(changes []Change) []string {
	var list []string
	for _, c := range changes {
		if outside(c.Path) && c.Before != nil && c.Before.Kind == Link && c.After != nil && c.After.Kind == Folder {
			list = append(list, c.Path)
		}
	}
	return list
}

// lstatAway describes a path outside the workspace. Where a parent of it is not a folder, or is
// a link that is to become one, the path does not exist.
func (st *stage) lstatAway(p string) (fs.FileInfo, error) {
	for _, link := range st.links {
		if info, err := os.Lstat(filepath.FromSlash(link)); p != link && below(p, link) && err == nil && !info.IsDir() {
			return nil, errOnTheWay
		}
	}
	name := filepath.FromSlash(p)
	info, err := os.Lstat(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return info, err
	}
	for dir := filepath.Dir(name); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if parent, e := os.Lstat(dir); e == nil && !parent.IsDir() {
			return nil, errOnTheWay
		}
	}
	return nil, err
}

// away restores a path outside the workspace.
func (st *stage) away(c *Change) error {
	name := filepath.FromSlash(c.Path)
	if info, err := os.Lstat(filepath.Dir(name)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s: %w", filepath.Dir(name), errOnTheWay)
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer root.Close()
	file := filepath.Base(name)
	if c.After == nil {
		return st.delete(root, c, file)
	}
	if c.Before != nil && (c.Before.Kind == Folder) != (c.After.Kind == Folder) {
		if err := root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	switch c.After.Kind {
	case Folder:
		if c.Before != nil && c.Before.Kind == Folder {
			return nil // only its mode differs
		}
		return root.Mkdir(file, 0o700)
	case Link:
		_ = root.Remove(file) // the error of making the link says more
		return root.Symlink(c.After.Target, file)
	}
	return st.awayFile(root, file, c)
}

func (st *stage) awayFile(root *os.Root, file string, c *Change) error {
	contents, err := st.store.objects.get(c.After.Digest)
	if err != nil {
		return err
	}
	temp := stagePrefix + file
	if err := root.WriteFile(temp, contents, 0o600); err != nil {
		return err
	}
	if err = root.Chmod(temp, c.After.Mode); err == nil {
		err = root.Rename(temp, file)
	}
	if err != nil {
		_ = root.Remove(temp) // the first error says more
	}
	return err
}

// modeAway sets the mode of a folder outside the workspace.
func modeAway(c *Change) error {
	name := filepath.FromSlash(c.Path)
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer root.Close()
	return root.Chmod(filepath.Base(name), c.After.Mode)
}
