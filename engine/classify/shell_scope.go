package classify

import (
	"maps"

	"mvdan.cc/sh/v3/syntax"
)

// variable is what a shell variable may hold.
type variable struct {
	alts   []arg // alternatives; none: unset
	list   []arg // elements of an array
	array  bool
	sparse bool   // which element has which index or key is not known
	ref    string // the variable that is meant instead (declare -n)
}

// scope is the state of one shell process. A child sees its parent's state and
// keeps its own changes, which are dropped (subshell) or merged (branches).
type scope struct {
	parent   *scope
	vars     map[string]variable
	funcs    map[string][]*syntax.Stmt // a name may have several bodies: branches
	aliases  map[string]arg
	locals   map[string]bool
	dirs     []value // the directories in which the shell may be
	previous []value // $OLDPWD
	stack    [][]value
	args     []arg // positional parameters
	bound    bool  // args are known
	name     arg   // $0
	errexit  bool
	saved    putAside       // what git has put aside, if what ran just before has worked
	picks    map[string]int // alternative of a variable that the present command uses
}

// child copies what is small and shares the rest.
func (c *scope) child() *scope {
	k := *c
	k.parent = c
	k.vars, k.funcs, k.aliases, k.locals = nil, nil, nil, nil
	return &k
}

// lookup finds a variable, also under another name.
func (c *scope) lookup(name string) (variable, bool) { return c.find(c.meant(name)) }

// meant follows references to other variables; those in a circle mean nothing.
func (c *scope) meant(name string) string {
	for range maxDepth {
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

func (c *scope) alias(name string) (arg, bool) {
	for ; c != nil; c = c.parent {
		if a, ok := c.aliases[name]; ok {
			return a, true
		}
	}
	return arg{}, false
}

func (c *scope) set(name string, v variable) {
	if c.vars == nil {
		c.vars = map[string]variable{}
	}
	c.vars[c.meant(name)] = v
}

func (c *scope) setText(name string, alts ...arg) {
	c.set(name, variable{alts: limitArgs(alts, maxAlts)})
}

func (c *scope) define(name string, body *syntax.Stmt) {
	if c.funcs == nil {
		c.funcs = map[string][]*syntax.Stmt{}
	}
	c.funcs[name] = []*syntax.Stmt{body}
}

// enter puts the shell into one of dirs.
func (c *scope) enter(dirs []value) {
	if len(dirs) > maxDirs {
		dirs = append(dirs[:maxDirs-1:maxDirs-1], value{sure: unknown})
	}
	c.dirs = dirs
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
	dirs := branches[0].dirs
	c.errexit = branches[0].errexit
	for _, b := range branches[1:] {
		dirs = unionValues(dirs, b.dirs)
		c.errexit = c.errexit && b.errexit
	}
	c.enter(dirs)
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
		c.aliases = map[string]arg{}
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
			v.alts = []arg{word(vacancyText)}
		}
		out.alts = append(out.alts, v.alts...)
		out.array, out.sparse = out.array || v.array, out.sparse || v.sparse
		out.list = eitherList(out.list, v.list, i == 0)
	}
	out.alts = limitArgs(out.alts, maxAlts)
	if len(out.list) > maxAlts {
		out.list = []arg{{text: holeText, splits: true}}
	}
	return out
}

// eitherList is one array or the other. Of two that begin alike all elements
// are kept; otherwise not even the number of elements is known.
func eitherList(a, b []arg, first bool) []arg {
	switch {
	case first || len(a) == 0:
		return b
	case len(b) == 0:
		return a
	case a[0].text != b[0].text:
		return []arg{{text: holeText, splits: true}}
	}
	for i, v := range b {
		if i >= len(a) || a[i].text != v.text {
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
