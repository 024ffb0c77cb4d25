package sources

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// objects adds the objects that a location names: one, or those under a prefix, or those
// that match a pattern with * and **.
func (w *walker) objects(arg string) error {
	if w.store == nil {
		return fmt.Errorf("find sessions: %s: this command reads only files", arg)
	}
	l, err := objects.Parse(arg)
	if err != nil {
		return err
	}
	root, parts := l, []string(nil)
	special := "*[" // in a URL, ? begins options
	if l.Path() != "" {
		special = "*?["
	}
	if at := strings.IndexAny(l.Key, special); at >= 0 {
		if err := wildcard.Check(l.Key); err != nil {
			return fmt.Errorf("find sessions: %s: %w", l, err)
		}
		folder := l.Key[:strings.LastIndex(l.Key[:at], "/")+1]
		root, parts = l.At(folder), append(strings.Split(l.Key[len(folder):], "/"), "**")
	}
	list, err := w.store.List(w.ctx, root)
	if err != nil {
		return fmt.Errorf("find sessions: %w", err)
	}
	before := len(w.files)
	known := namesIn(list)
	for _, o := range list {
		rest := strings.TrimPrefix(o.Key, root.Key)
		if parts != nil && !wildcard.Path(parts, strings.Split(rest, "/")) || known.without(root.Key, o.Key) {
			continue
		}
		w.object(o, o.Key == l.Key)
	}
	if len(w.files) == before {
		return fmt.Errorf("find sessions: no object at %s", l)
	}
	return nil
}

func (w *walker) object(o objects.Object, asked bool) {
	name := o.Location.String()
	id := identity{path: name}
	asked = asked || w.files[id].asked
	w.files[id] = candidate{path: name, size: o.Size, asked: asked, object: &o}
}

// names are the keys that were listed, and their folders.
type names map[string]bool

func namesIn(list []objects.Object) names {
	n := names{}
	for _, o := range list {
		n[o.Key] = true
		for dir := path.Dir(o.Key); dir != "." && dir != "/" && !n[dir]; dir = path.Dir(dir) {
			n[dir] = true
		}
	}
	return n
}

// without reports whether an object is left out, as the file would be in a folder.
func (n names) without(root, key string) bool {
	name := path.Base(key)
	if strings.HasSuffix(name, ".meta.json") || name == "snapshot.json" && n[path.Dir(key)+"/lock"] {
		return true
	}
	folders := strings.Split(path.Dir(strings.TrimPrefix(key, root)), "/")
	for i, folder := range folders {
		above := strings.TrimSuffix(root, "/")
		if i > 0 {
			above += "/" + strings.Join(folders[:i], "/")
		}
		switch folder {
		case "tool-results":
			return true
		case "ledger", "policies", "checkpoints":
			if n[strings.TrimPrefix(above+"/sessions", "/")] || n[above+"/sessions"] {
				return true
			}
		}
	}
	return false
}

// Inputs lists the objects that were inspected. Those that share sessions are in one
// group, which one task must read.
func (s *Set) Inputs() ([]objects.Input, error) {
	at := map[string]int{}
	for i, c := range s.named {
		at[c.path] = i
	}
	together := newGroups(len(s.named))
	for _, f := range s.Families {
		all := f.places()
		for _, log := range f.logs {
			all = append(all, log.places()...)
		}
		for _, p := range all[1:] {
			together.join(at[all[0].file.path], at[p.file.path])
		}
	}
	numbers := map[int]int{}
	var list []objects.Input
	for i, c := range s.named {
		if c.object == nil {
			return nil, fmt.Errorf("%s cannot be in a manifest: name files, folders or objects", c.path)
		}
		group := together.of(i)
		if _, known := numbers[group]; !known {
			numbers[group] = len(numbers)
		}
		list = append(list, objects.Input{Object: *c.object, Group: numbers[group], Named: c.asked})
	}
	return slices.Clip(list), nil
}
