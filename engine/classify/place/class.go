package place

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// precedence orders the classes of which a path can be by its names: the first
// counts.
var precedence = []engine.Class{engine.ClassGuard, engine.ClassAgent, engine.ClassCredential, engine.ClassEnvFile, engine.ClassStartup,
	engine.ClassGitHook, engine.ClassGitData, engine.ClassCI, engine.ClassBackup, engine.ClassDatabase, engine.ClassMount}

// Class reports what kind of file a path is, by its names alone. Names are
// compared without case: many disks ignore case.
func (r *Resolver) Class(p string) engine.Class {
	if p == "" {
		return ""
	}
	known, ok := r.classes[p] // long scripts name the same few paths
	if !ok {
		known = r.classOf(p)
		r.classes[p] = known
	}
	return known
}

func (r *Resolver) classOf(p string) engine.Class {
	for _, g := range r.guard {
		if Within(g, p) {
			return engine.ClassGuard
		}
	}
	n := r.names(p)
	if r.guardProgram(n) {
		return engine.ClassGuard
	}
	known := r.first(n, func(c *class) []*matcher { return c.known })
	if known == engine.ClassAgent && r.fixture(p) {
		known = ""
	}
	return stricter(known, r.first(n, func(c *class) []*matcher { return c.added }))
}

// fixture reports whether a file of the workspace is material for tests: what
// steers the session itself is in no such folder, and one below a client's own
// counts as its.
func (r *Resolver) fixture(p string) bool {
	if r.workspace == "" || !Within(r.workspace, p) {
		return false
	}
	for _, name := range strings.Split(strings.Trim(path.Dir(r.Below(p)), "/"), "/") {
		if strings.HasPrefix(name, ".") {
			return false
		}
		if slices.Contains(r.tables.fixtures, strings.ToLower(name)) {
			return true
		}
	}
	return false
}

// first returns the first class that some matcher gives a path.
func (r *Resolver) first(n *names, of func(*class) []*matcher) engine.Class {
	for _, c := range precedence {
		if anyMatches(of(r.tables.of(string(c))), n) {
			return c
		}
	}
	return ""
}

func anyMatches(list []*matcher, n *names) bool {
	return slices.ContainsFunc(list, func(m *matcher) bool { return m.matches(n) })
}

// stricter returns the class of a path that a layer which only makes facts
// stricter wants to be of another class. Of two classes of which each matters
// for something else, the one that it has stays.
func stricter(has, wanted engine.Class) engine.Class {
	secret := has == engine.ClassCredential || has == engine.ClassEnvFile
	if has == "" || wanted == engine.ClassGuard && !secret || wanted == engine.ClassCredential && has == engine.ClassEnvFile {
		return wanted
	}
	return has
}

// names are the parts of a path as the rows need them.
type names struct {
	full     string   // lower case, absolute or as far as known
	parts    []string // of full
	base     string   // last part
	written  string   // base with its capitals, apart from those of its extension
	home     string   // full below a home directory, without a slash; empty: not in a home
	inside   bool     // of the workspace
	packages bool     // inside a folder of other people's packages
}

// names returns the names in a path, in lower case.
func (r *Resolver) names(p string) *names {
	n := r.bare(p)
	n.inside = r.workspace != "" && Within(r.workspace, p)
	for dir := path.Dir(p); dir != "/" && dir != "."; dir = path.Dir(dir) {
		if r.homeRoot(dir) || Drive(dir) && r.windowsLocation(dir) == engine.LocationHomeRoot {
			n.home = n.full[len(dir)+1:]
			break
		}
	}
	return n
}

// bare returns the names in a path about which it is not known where it is.
func (r *Resolver) bare(p string) *names {
	low := r.lower(p)
	n := &names{full: low, parts: strings.Split(strings.Trim(low, "/"), "/"), base: path.Base(low)}
	n.written = strings.TrimSuffix(path.Base(p), path.Ext(p)) + path.Ext(low)
	n.packages = anyMatches(r.tables.of(rows.Packages).known, n)
	return n
}

// OfOthers reports whether a path is in packages of other people.
func (r *Resolver) OfOthers(p string) bool { return r.bare(p).packages }

// Generated reports whether a path is made by a tool, by name. Whether it is
// ignored by version control is asked elsewhere.
func (r *Resolver) Generated(p string) bool {
	return anyMatches(r.tables.of(string(engine.ClassGenerated)).known, r.bare(p))
}

// testFile reports whether a path is a test, belongs to one or sets tests up.
// inside: the path is that in the workspace, where folders called test mean
// what they say.
func (r *Resolver) testFile(p string, inside bool) bool {
	n, tests := r.bare(p), r.tables.of(string(engine.ClassTest))
	n.inside = inside
	return anyMatches(tests.known, n) || anyMatches(tests.added, n)
}

// guards reports whether a file of the agent's configuration decides what the
// agent may do, unlike instructions and notes. The folder as a whole does.
func (r *Resolver) guards(p string) bool {
	n, agents := r.bare(p), r.tables.of(string(engine.ClassAgent))
	return anyMatches(agents.decides, n) || slices.ContainsFunc(agents.known, func(m *matcher) bool { return m.folders.names.exact[n.base] })
}

// TryRow reports whether a path is of the class that a row of places/ speaks
// of, by all rows of a set: the result of an example of the row. A relative
// path is in a workspace, one that begins with ~ in a home directory.
func TryRow(set *rows.Set, name, example string) bool {
	r := NewResolver(World{Home: "/home/ana"}, "/srv/shop", set)
	where := r.locate(example, "/srv/shop", true).written
	n := r.names(where)
	switch name {
	case rows.Packages:
		return n.packages
	case string(engine.ClassGenerated):
		return r.Generated(r.Below(where))
	case string(engine.ClassTest):
		return r.testFile(r.Below(where), n.inside)
	}
	return r.Class(where) == engine.Class(name)
}

// Reclassed returns a function that reports whether a path in a session's
// workspace is of another class by the rows of one set than by those of another.
func Reclassed(then, now *rows.Set) func(workspace, p string) bool {
	return func(workspace, p string) bool { return kindIn(then, workspace, p) != kindIn(now, workspace, p) }
}

// kindIn is the class of a real path, where only its names are known.
func kindIn(set *rows.Set, workspace, p string) engine.Class {
	r := NewResolver(World{Home: HomeOf(p)}, workspace, set)
	switch n := r.names(p); {
	case r.Class(p) != "":
		return r.Class(p)
	case r.Generated(r.Below(p)):
		return engine.ClassGenerated
	case r.testFile(r.Below(p), n.inside):
		return engine.ClassTest
	}
	return ""
}

// Space reports whether a byte is a space, a tab or the end of a line.
func Space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// LowerLast reports whether a text ends with a lower-case letter.
func LowerLast(s string) bool { return s[len(s)-1] >= 'a' && s[len(s)-1] <= 'z' }
