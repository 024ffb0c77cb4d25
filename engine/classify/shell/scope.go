package shell

import (
	"maps"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"mvdan.cc/sh/v3/syntax"
)

// Stashed records what the previous command has stashed or committed in a
// repository.
type Stashed struct {
	What    abstract.Discard
	Place   string
	Stashed bool // in the stash, and in no commit
}

// Covers reports whether all discarded changes were stashed or committed there.
func (s Stashed) Covers(place string, lost abstract.Discard) bool {
	return s.Place == place && lost != (abstract.Discard{}) && !lost.Stash &&
		(s.What.Changes || !lost.Changes) && (s.What.Staged || !lost.Staged) && (s.What.Untracked || !lost.Untracked) &&
		(s.What.Ignored || !lost.Ignored)
}

// variable is the possible value of a shell variable.
type variable struct {
	alts   []abstract.Arg // alternatives; none: unset
	list   []abstract.Arg // elements of an array
	array  bool
	sparse bool   // the indexes or keys of the elements are unknown
	ref    string // the variable that it refers to (declare -n)
}

// scope is the state of one shell process. A child sees its parent's state and
// keeps its own changes, which are dropped (subshell) or merged (branches).
type scope struct {
	parent   *scope
	vars     map[string]variable
	funcs    map[string][]*syntax.Stmt // a name may have several bodies: branches
	aliases  map[string]abstract.Arg
	locals   map[string]bool
	Dirs     []abstract.Value // the directories in which the shell may be
	previous []abstract.Value // $OLDPWD
	stack    [][]abstract.Value
	args     []abstract.Arg // positional parameters
	bound    bool           // args are known
	name     abstract.Arg   // $0
	errexit  bool
	Saved    Stashed        // what git has stashed or committed, if the previous command succeeded
	picks    map[string]int // alternative of a variable that the current command uses
}

// child copies what is small and shares the rest.
func (c *scope) child() *scope {
	k := *c
	k.parent = c
	k.vars, k.funcs, k.aliases, k.locals = nil, nil, nil, nil
	return &k
}

// Lookup finds a variable, also under another name.
func (c *scope) Lookup(name string) (variable, bool) { return c.find(c.meant(name)) }

// meant follows references to other variables; circular ones have no value.
func (c *scope) meant(name string) string {
	for range MaxDepth {
		v, ok := c.find(name)
		if !ok || v.ref == "" {
			break
		}
		name = v.ref
	}
	return name
}

func (c *scope) find(name string) (variable, bool) {
	for ; c != nil; c = c.parent {
		if v, ok := c.vars[name]; ok {
			return v, true
		}
	}
	return variable{}, false
}

func (c *scope) function(name string) []*syntax.Stmt {
	for ; c != nil; c = c.parent {
		if f, ok := c.funcs[name]; ok {
			return f
		}
	}
	return nil
}

func (c *scope) alias(name string) (abstract.Arg, bool) {
	for ; c != nil; c = c.parent {
		if a, ok := c.aliases[name]; ok {
			return a, true
		}
	}
	return abstract.Arg{}, false
}

func (c *scope) set(name string, v variable) {
	if c.vars == nil {
		c.vars = map[string]variable{}
	}
	c.vars[c.meant(name)] = v
}

// SetText sets the possible values of a variable.
func (c *scope) SetText(name string, alts ...abstract.Arg) {
	c.set(name, variable{alts: abstract.LimitArgs(alts, MaxAlts)})
}

func (c *scope) define(name string, body *syntax.Stmt) {
	if c.funcs == nil {
		c.funcs = map[string][]*syntax.Stmt{}
	}
	c.funcs[name] = []*syntax.Stmt{body}
}

// Enter puts the shell into one of dirs.
func (c *scope) Enter(dirs []abstract.Value) {
	if len(dirs) > MaxDirs {
		dirs = append(dirs[:MaxDirs-1:MaxDirs-1], abstract.Value{Sure: abstract.Unknown})
	}
	c.Dirs = dirs
}

// merge takes over the changes of branches, any one of which may have run. A
// branch that ended the shell has nothing to add.
func (c *scope) merge(branches ...*scope) {
	names := map[string]bool{}
	for _, b := range branches {
		for name := range b.vars {
			names[name] = true
		}
		c.takeNames(b)
	}
	for name := range names {
		c.set(name, mergeVariable(name, branches))
	}
	if len(branches) == 0 {
		return
	}
	dirs := branches[0].Dirs
	c.errexit = branches[0].errexit
	for _, b := range branches[1:] {
		dirs = abstract.UnionValues(dirs, b.Dirs)
		c.errexit = c.errexit && b.errexit
	}
	c.Enter(dirs)
	last := branches[len(branches)-1]
	c.previous, c.stack, c.args, c.bound = last.previous, last.stack, last.args, last.bound
}

func (c *scope) takeNames(b *scope) {
	for name, bodies := range b.funcs {
		if c.funcs == nil {
			c.funcs = map[string][]*syntax.Stmt{}
		}
		known := c.function(name)
		c.funcs[name] = append(known[:len(known):len(known)], bodies...)
	}
	if len(b.aliases) > 0 && c.aliases == nil {
		c.aliases = map[string]abstract.Arg{}
	}
	maps.Copy(c.aliases, b.aliases)
}

func mergeVariable(name string, branches []*scope) variable {
	var out variable
	for i, b := range branches {
		v, ok := b.find(name)
		if v.ref != "" {
			out.ref = v.ref
		}
		if !ok {
			v.alts = []abstract.Arg{abstract.Word(abstract.VacancyText)}
		}
		out.alts = append(out.alts, v.alts...)
		out.array, out.sparse = out.array || v.array, out.sparse || v.sparse
		out.list = eitherList(out.list, v.list, i == 0)
	}
	out.alts = abstract.LimitArgs(out.alts, MaxAlts)
	if len(out.list) > MaxAlts {
		out.list = []abstract.Arg{{Text: abstract.HoleText, Splits: true}}
	}
	return out
}

// eitherList is one array or the other. If one is a prefix of the other, all elements
// are kept; otherwise even the number of elements is unknown.
func eitherList(a, b []abstract.Arg, first bool) []abstract.Arg {
	switch {
	case first || len(a) == 0:
		return b
	case len(b) == 0:
		return a
	case a[0].Text != b[0].Text:
		return []abstract.Arg{{Text: abstract.HoleText, Splits: true}}
	}
	for i, v := range b {
		if i >= len(a) || a[i].Text != v.Text {
			a = append(a[:len(a):len(a)], v)
		}
	}
	return a
}

// hold makes a variable local to the function that runs.
func (c *scope) hold(name string) {
	if c.locals == nil {
		c.locals = map[string]bool{}
	}
	c.locals[name] = true
}
