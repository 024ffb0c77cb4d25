package checkpoint

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Save asks for a checkpoint that contains certain targets whole, also where the bounds of checkpoints
// would leave out a part of them. If that cannot be done, the checkpoint is an ordinary one, and
// Taken.Unsaved has the reason.
type Save struct {
	Targets  []Target
	MaxFiles int   // of all targets
	MaxBytes int64 // of these
	DayFiles int   // of all saves in the store within 24 hours, this one included
	DayBytes int64
	Until    int64 // Unix milliseconds: the checkpoint is to be kept until then
}

// Target is what a call is about to destroy.
type Target struct {
	Path      string // as in Request.First; empty: the workspace
	Below     bool   // with all that is under it
	Pattern   string // only what this matches: NAME in the folder, or **/NAME anywhere under it; empty: everything
	Unignored bool   // only what git does not ignore, as git discards it; how much that is does not matter
}

// Saved says what a checkpoint keeps of targets.
type Saved struct {
	Files int   `json:"files"` // files and links
	Bytes int64 `json:"bytes"`
	Until int64 `json:"until"` // Unix milliseconds
}

const day = 24 * 60 * 60 * 1000 // milliseconds

// saving is a save on its way.
type saving struct {
	*Save
	must   map[string]bool // paths whose contents have to be stored: true: whatever the bounds of checkpoints, false: if they are within them
	saved  Saved
	failed string // why the targets cannot be saved; empty: they can
}

func (g *saving) fail(format string, args ...any) {
	if g.failed == "" {
		g.failed = fmt.Sprintf(format, args...)
	}
}

// wanted returns the paths whose contents have to be stored; nil: none has to be.
func (g *saving) wanted() map[string]bool {
	if g == nil || g.failed != "" {
		return nil
	}
	return g.must
}

// whole returns the folders that have to be read whatever their names are.
func (r *Request) whole() []string {
	var list []string
	if r.Save == nil {
		return nil
	}
	for _, t := range r.Save.Targets {
		if t.Below && t.Path != "" {
			list = append(list, t.Path)
		}
	}
	return list
}

// targets returns the paths of the targets other than the workspace.
func (r *Request) targets() []string {
	var list []string
	if r.Save == nil {
		return nil
	}
	for _, t := range r.Save.Targets {
		if t.Path != "" {
			list = append(list, t.Path)
		}
	}
	return list
}

// plan finds the contents that a save has to store.
func (s *Store) plan(r *Request, w *scanner) (*saving, error) {
	if r.Save == nil {
		return nil, nil
	}
	g := &saving{Save: r.Save, must: map[string]bool{}}
	for i := range g.Targets {
		g.target(&g.Targets[i], w)
	}
	g.within("the number of files", int64(g.saved.Files), int64(g.MaxFiles))
	g.within("their size in bytes", g.saved.Bytes, g.MaxBytes)
	files, bytes := g.saved.Files, g.saved.Bytes
	err := s.journal(func(c *Checkpoint) error {
		if c.Save != nil && c.T > r.Time-day {
			files, bytes = files+c.Save.Files, bytes+c.Save.Bytes
		}
		return nil
	})
	g.within("with what was saved in the last 24 hours, the number of files", int64(files), int64(g.DayFiles))
	g.within("with what was saved in the last 24 hours, the size in bytes", bytes, g.DayBytes)
	return g, err
}

func (g *saving) within(what string, n, limit int64) {
	if n > limit {
		g.fail("%s is %d, more than the limit of %d", what, n, limit)
	}
}

// target adds the files of a target.
func (g *saving) target(t *Target, w *scanner) {
	found := false
	if t.Path != "" && t.Pattern == "" {
		i := w.tree.find(t.Path)
		if i == nil {
			g.fail("%s was not found", t.Path)
			return
		}
		g.entry(t, i)
		found = true
	}
	if t.Below || t.Pattern != "" {
		for _, dir := range w.tree.folders() {
			if !under(dir, t.Path) {
				continue
			}
			for n := range w.tree[dir] {
				if i := &w.tree[dir][n]; t.matches(i.Path) {
					g.entry(t, i)
					found = true
				}
			}
		}
		for _, unseen := range w.unseen {
			if under(unseen, t.Path) || under(t.Path, unseen) {
				g.fail("there was no time to read all of it")
			}
		}
	}
	if !found && !t.Unignored {
		g.fail("nothing of that name was found")
	}
	for _, repository := range w.git {
		if !t.Unignored && t.Below && repository != "" && under(repository, t.Path) && t.matches(repository) {
			g.fail("%s is a git repository, whose history is not stored", repository)
		}
	}
}

// under reports whether a folder is another one, or in it. The empty path is the workspace.
func under(dir, of string) bool {
	if of == "" {
		return !outside(dir)
	}
	return below(dir, of)
}

// matches reports whether a path under the target belongs to it.
func (t *Target) matches(p string) bool {
	if t.Pattern == "" {
		return true
	}
	rel := p
	if t.Path != "" {
		rel = strings.TrimPrefix(p, strings.TrimSuffix(t.Path, "/")+"/")
	}
	if name, anywhere := strings.CutPrefix(t.Pattern, "**/"); anywhere {
		if !t.Below {
			ok, err := path.Match(name, path.Base(rel))
			return ok || err != nil
		}
		for _, part := range strings.Split(rel, "/") {
			if ok, err := path.Match(name, part); ok || err != nil {
				return true
			}
		}
		return false
	}
	first, rest, deeper := strings.Cut(rel, "/")
	if deeper && rest != "" && !t.Below {
		return false
	}
	ok, err := path.Match(t.Pattern, first)
	return ok || err != nil
}

// entry adds a path of a target.
func (g *saving) entry(t *Target, i *item) {
	if t.Unignored && i.ignored {
		return
	}
	switch i.Kind {
	case LeftOut:
		// A tool can make the former again, and git discards none of the latter.
		if i.Why != whyGenerated && !(t.Unignored && i.Why == whyNotFile) {
			g.fail("%s is not stored: %s", i.Path, i.Why)
		}
	case File, Link:
		if !g.must[i.Path] && !t.Unignored {
			g.saved.Files++
			g.saved.Bytes += i.Size
		}
		g.must[i.Path] = g.must[i.Path] || !t.Unignored
	}
}

// beyond returns the files of a state that bounds could leave out, because they are large: a save has stored them.
func (s *Store) beyond(t tree) map[string]bool {
	found := map[string]bool{}
	for _, list := range t {
		for i := range list {
			if e := &list[i]; e.Kind == File && (e.Size > s.bounds.IgnoredFileBytes || e.Size > s.bounds.MaxFileBytes) {
				found[e.Path] = true
			}
		}
	}
	return found
}

// check fails a save if the contents of a file are not stored after all.
func (g *saving) check(t tree) {
	if g == nil {
		return
	}
	for _, p := range slices.Sorted(maps.Keys(g.must)) {
		switch i := t.find(p); {
		case i == nil:
			g.fail("%s was not found", p)
		case i.Kind == LeftOut:
			g.fail("%s is not stored: %s", p, i.Why)
		case i.Kind == File && !i.has:
			g.fail("%s is not stored", p)
		}
	}
	g.saved.Until = g.Until
}
