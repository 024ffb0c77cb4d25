package place

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/pipelines"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// tables contain what the rows of a policy say about paths.
type tables struct {
	classes  map[string]*class
	settings []string // of clients, as they are under a project or a home directory
	telling  []string // names that show what is at stake
	fixtures []string // folders with settings for tests
	notes    []string // of agents about a workspace, under the home directory
	pushes   pipelines.Words
}

// class describes one class of paths.
type class struct {
	known   []*matcher // of the base and the organisation's layer
	added   []*matcher // of layers that only make facts stricter
	decides []*matcher
}

// tablesOf compiles the rows of a set once. Rows that cannot be parsed are skipped:
// checking a policy reports them.
func tablesOf(set *rows.Set) *tables {
	return rows.Once(set, "tables of places", func() *tables {
		t := &tables{classes: map[string]*class{}, settings: set.Words("places.settings"), telling: set.Words("places.telling"),
			notes: set.Words("places.notes"), fixtures: set.Words("places.fixtures"),
			pushes: pipelines.Words{Hosting: set.Words("pipelines.hosting"), Deploys: set.Words("pipelines.deploys"),
				Stages: set.Words("pipelines.stages")}}
		all, _ := rows.All[rows.Paths](set, rows.PlacesFolder)
		for _, e := range all {
			for _, name := range e.Names {
				t.enter(name, e)
			}
		}
		return t
	})
}

func (t *tables) enter(name string, e rows.Entry[rows.Paths]) {
	c := t.classes[name]
	if c == nil {
		c = &class{}
		t.classes[name] = c
	}
	list := &c.known
	if e.Adds {
		if rows.Loosens(name) || e.Row.Replace {
			return
		}
		list = &c.added
	}
	if e.Row.Replace && name != string(engine.ClassGuard) {
		c.known, c.decides = nil, nil
	}
	*list = append(*list, matchersOf(e.Row)...)
	if e.Row.Decides != nil {
		c.decides = append(c.decides, matchersOf(*e.Row.Decides)...)
	}
}

// of returns what is known about a class.
func (t *tables) of(name string) *class {
	if c := t.classes[name]; c != nil {
		return c
	}
	return &class{}
}

// homes lists the names in a home directory that, according to the rows, contain secrets,
// run automatically or decide what an agent may do.
func (t *tables) homes() []string {
	list := slices.Clone(t.settings)
	for _, name := range []engine.Class{engine.ClassCredential, engine.ClassStartup, engine.ClassGitHook, engine.ClassAgent} {
		c := t.of(string(name))
		for _, m := range slices.Concat(c.known, c.added) {
			list = append(list, m.homes()...)
		}
	}
	return list
}

// matcher is a row, or an entry of its also, compiled for comparison with paths.
type matcher struct {
	row             rows.Paths
	names, parts    nameSet
	below, notBelow nameSet
	ends            [][]string
	home, system    []subtree
	folders, inside folderSet
	except          []*matcher
}

// matchersOf compiles a row with its further entries.
func matchersOf(row rows.Paths) []*matcher {
	var except []*matcher
	if row.Except != nil {
		except = matchersOf(*row.Except)
	}
	var list []*matcher
	if row.Says() {
		list = append(list, compile(row, except))
	}
	for _, also := range row.Also {
		own := except
		if also.Except != nil {
			own = slices.Concat(except, matchersOf(*also.Except))
		}
		list = append(list, compile(also, own))
	}
	return list
}

func compile(row rows.Paths, except []*matcher) *matcher {
	m := &matcher{row: row, names: namesOf(row.Names), parts: namesOf(row.Parts), below: namesOf(row.Below), notBelow: namesOf(row.NotBelow),
		home: treesOf(row.Home), system: treesOf(row.System), folders: foldersOf(row.Folders), inside: foldersOf(row.Inside), except: except}
	for _, e := range rows.List(row.Extensions) {
		m.names.enter("?*" + e)
	}
	for _, p := range rows.List(row.Ends) {
		m.ends = append(m.ends, strings.Split(p, "/"))
	}
	return m
}

// homes are the files and folders in a home directory that a matcher names.
func (m *matcher) homes() []string {
	list := rows.List(m.row.Home)
	for name := range m.names.exact {
		if name[0] == '.' {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// matches reports whether a path matches.
func (m *matcher) matches(n *names) bool {
	return (!m.row.Workspace || n.inside) && m.means(n) &&
		!slices.ContainsFunc(m.except, func(e *matcher) bool { return e.matches(n) })
}

func (m *matcher) means(n *names) bool {
	return m.names.has(n.base, n.written) || m.pathMatches(m.folders, n.parts, n) || m.pathMatches(m.inside, n.parts[:len(n.parts)-1], n) ||
		m.row.Packages && n.packages && m.beneath(n.parts) || n.home != "" && anyHolds(m.home, n.home) || anyHolds(m.system, n.full) ||
		slices.ContainsFunc(m.ends, func(end []string) bool { return endsIn(n.parts, end) }) ||
		!m.parts.empty() && slices.ContainsFunc(strings.Split(n.base, "."), func(p string) bool { return m.parts.has(p, p) })
}

// pathMatches reports whether a path goes through one of the folders, with the names that a
// row requires below the last of them.
func (m *matcher) pathMatches(f folderSet, parts []string, n *names) bool {
	end := f.last(parts)
	return end >= 0 && m.beneath(n.parts[end:])
}

func (m *matcher) beneath(parts []string) bool {
	one := func(s nameSet) bool { return slices.ContainsFunc(parts, func(p string) bool { return s.has(p, p) }) }
	return (m.below.empty() || one(m.below)) && !one(m.notBelow)
}

// nameSet is a list of names and patterns, looked up without comparing all of them.
type nameSet struct {
	exact  map[string]bool
	by     map[string][]string // patterns by the extension that they end in
	others []string
}

func namesOf(list string) nameSet {
	var s nameSet
	for _, name := range rows.List(list) {
		s.enter(name)
	}
	return s
}

func (s *nameSet) enter(name string) {
	for _, p := range rows.Alternatives(name) {
		ext := path.Ext(p)
		switch {
		case !strings.ContainsAny(p, "*?[") && strings.ToLower(p) == p:
			if s.exact == nil {
				s.exact = map[string]bool{}
			}
			s.exact[p] = true
		case ext == "" || strings.ContainsAny(ext, "*?["):
			s.others = append(s.others, p)
		default:
			if s.by == nil {
				s.by = map[string][]string{}
			}
			s.by[ext] = append(s.by[ext], p)
		}
	}
}

func (s nameSet) empty() bool { return len(s.exact)+len(s.by)+len(s.others) == 0 }

// has reports whether a name is in the set; written is the name with its capitals, which
// count if a pattern has any.
func (s nameSet) has(low, written string) bool {
	fits := func(p string) bool { return fits(p, low, written) }
	return s.exact[low] || s.by != nil && slices.ContainsFunc(s.by[path.Ext(low)], fits) || slices.ContainsFunc(s.others, fits)
}

func fits(p, low, written string) bool {
	if strings.ToLower(p) != p {
		low = written
	}
	if rest, ok := strings.CutPrefix(p, "*"); ok && !strings.ContainsAny(rest, `*?[\`) {
		return strings.HasSuffix(low, rest)
	}
	return wildcard.Text(p, low)
}

// folderSet is a list of folders, each one name or several in a row.
type folderSet struct {
	names nameSet
	rows  [][]string
}

func foldersOf(list string) folderSet {
	var f folderSet
	for _, name := range rows.List(list) {
		if parts := strings.Split(name, "/"); len(parts) > 1 {
			f.rows = append(f.rows, parts)
			continue
		}
		f.names.enter(name)
	}
	return f
}

// last returns the index after the last of the folders in the path; -1: it contains none.
func (f folderSet) last(parts []string) int {
	if f.names.empty() && f.rows == nil {
		return -1
	}
	for i := len(parts); i > 0; i-- {
		if f.names.has(parts[i-1], parts[i-1]) || slices.ContainsFunc(f.rows, func(row []string) bool { return endsIn(parts[:i], row) }) {
			return i
		}
	}
	return -1
}

// endsIn reports whether a path ends in names that match the patterns.
func endsIn(parts, end []string) bool {
	return len(parts) >= len(end) && wildcard.Path(end, parts[len(parts)-len(end):])
}

// subtree is a file, or a folder with everything under it.
type subtree struct {
	path  string
	parts []string // of a pattern
}

func treesOf(list string) []subtree {
	var all []subtree
	for _, p := range rows.List(list) {
		t := subtree{path: p}
		if strings.ContainsAny(p, "*?[") {
			t.parts = strings.Split(p, "/")
		}
		all = append(all, t)
	}
	return all
}

func anyHolds(list []subtree, p string) bool {
	return slices.ContainsFunc(list, func(t subtree) bool { return t.holds(p) })
}

func (t subtree) holds(p string) bool {
	if t.parts == nil {
		return Within(t.path, p)
	}
	parts := strings.Split(p, "/")
	return len(parts) >= len(t.parts) && wildcard.Path(t.parts, parts[:len(t.parts)])
}
