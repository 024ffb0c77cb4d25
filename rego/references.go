package rego

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Most of a policy does not depend on a change of one rule. The intermediate results
// of a decision are kept with its note and reused in the evaluation with the change,
// which then computes only the rest.

// cachedResult is the value of a rule, or of several with one name.
type cachedResult struct {
	ref   ast.Ref
	value *ast.Term
}

// documents returns the results in an evaluation's cache, except those of functions,
// whose arguments can be as large as inputs.
func documents(cache topdown.VirtualCache) []cachedResult {
	var all []cachedResult
	for _, ref := range cache.Keys() {
		if !ref[0].Equal(ast.DefaultRootDocument) || slices.ContainsFunc(ref[1:], func(t *ast.Term) bool { return !isText(t) }) {
			continue
		}
		if value, _ := cache.Get(ref); value != nil {
			all = append(all, cachedResult{ref, value})
		}
	}
	return all
}

func isText(t *ast.Term) bool {
	_, is := t.Value.(ast.String)
	return is
}

// fresh returns a cache with the results that do not depend on some documents.
func fresh(known []cachedResult, stale []ast.Ref) topdown.VirtualCache {
	cache := topdown.NewVirtualCache()
	for _, d := range known {
		if !slices.ContainsFunc(stale, func(s ast.Ref) bool { return d.ref.HasPrefix(s) || s.HasPrefix(d.ref) }) {
			cache.Put(d.ref, d.value)
		}
	}
	return cache
}

// dependents finds for the path of each rule the paths that depend on it, itself
// among them.
func dependents(c *ast.Compiler) map[string][]ast.Ref {
	g := &graph{of: graphOf(c), rules: map[string][]*ast.Rule{}, paths: map[*ast.Rule]string{}, refs: map[string]ast.Ref{}}
	for _, m := range c.Modules {
		for _, r := range m.Rules {
			g.add(r)
		}
	}
	all := map[string][]ast.Ref{}
	for path := range g.rules {
		all[path] = g.dependents(path)
	}
	return all
}

// graph describes which rules refer to which, by their paths.
type graph struct {
	of    *ast.Graph
	rules map[string][]*ast.Rule // an else branch is a rule too
	paths map[*ast.Rule]string
	refs  map[string]ast.Ref
}

func (g *graph) add(r *ast.Rule) {
	ref := groundPath(r)
	path := ref.String()
	g.refs[path] = ref
	for ; r != nil; r = r.Else {
		g.rules[path], g.paths[r] = append(g.rules[path], r), path
	}
}

func (g *graph) dependents(path string) []ast.Ref {
	seen := map[string]bool{path: true}
	var refs []ast.Ref
	for next := []string{path}; len(next) > 0; next = next[1:] {
		refs = append(refs, g.refs[next[0]])
		for _, r := range g.rules[next[0]] {
			for node := range g.of.Dependents(r) {
				if above := g.paths[node.(*ast.Rule)]; !seen[above] {
					seen[above] = true
					next = append(next, above)
				}
			}
		}
	}
	return refs
}

func groundPath(r *ast.Rule) ast.Ref {
	return r.Module.Package.Path.Extend(r.Head.Ref().GroundPrefix())
}

// Needed returns the modules (layer/path -> source) that are wanted, and those to which they refer,
// directly or not. Modules that do not parse are among them.
func Needed(modules map[string]string, wanted func(text string) bool) map[string]string {
	all, trees := map[string]string{}, map[string]*ast.Module{}
	for name, source := range modules {
		m, err := ast.ParseModuleWithOpts(name, source, ast.ParserOptions{RegoVersion: ast.RegoV1})
		if err != nil || m == nil {
			all[name] = source
			continue
		}
		trees[name] = m
	}
	n := newReferences(trees)
	var add func(name string)
	add = func(name string) {
		if _, there := all[name]; there {
			return
		}
		all[name] = modules[name]
		for _, other := range n.of(trees[name]) {
			add(other)
		}
	}
	for name := range trees {
		if wanted(modules[name]) {
			add(name)
		}
	}
	return all
}

// DecidedAt lists for each rule where Rego decides that it fires, as layer/path:line. Ids that are not
// written out, and modules that do not parse, are left out.
func DecidedAt(modules map[string]string) map[string][]string {
	places := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		m, err := ast.ParseModuleWithOpts(name, modules[name], ast.ParserOptions{RegoVersion: ast.RegoV1})
		if err != nil || m == nil {
			continue
		}
		layer, _, _ := strings.Cut(name, "/")
		for _, r := range m.Rules {
			path, id := pathOf(r), memberOf(r)
			if path != slashedRoot(layer)+"/"+findingsName && !slices.Contains(firesPaths, path) {
				id = familyRule(r)
			}
			if id != "" {
				places[id] = append(places[id], fmt.Sprintf("%s:%d", name, r.Location.Row))
			}
		}
	}
	return places
}

// references finds the modules to which a module refers.
type references struct {
	packages, rules map[string][]string // the modules of a package, or with a rule, by its path
	parts           map[string][]string // the modules with a rule below a path, such as offers.x of offers
}

func newReferences(modules map[string]*ast.Module) *references {
	n := &references{map[string][]string{}, map[string][]string{}, map[string][]string{}}
	for name, m := range modules {
		path := m.Package.Path.String()
		n.packages[path] = append(n.packages[path], name)
		for _, r := range m.Rules {
			ref := groundPath(r)
			n.rules[ref.String()] = append(n.rules[ref.String()], name)
			for above := ref[:len(ref)-1]; len(above) > len(m.Package.Path); above = above[:len(above)-1] {
				n.parts[above.String()] = append(n.parts[above.String()], name)
			}
		}
	}
	return n
}

// of lists the modules with the rules and packages to which a module refers.
func (n *references) of(m *ast.Module) []string {
	var all []string
	var below func(node any)
	below = func(node any) {
		ast.WalkTerms(node, func(t *ast.Term) bool {
			switch v := t.Value.(type) {
			case ast.Ref:
				all = append(all, n.defining(slices.Concat(resolved(m, v[0]), v[1:]).ConstantPrefix())...)
				for _, inner := range v[1:] {
					below(inner)
				}
				return true
			case ast.Var:
				all = append(all, n.defining(resolved(m, t))...)
			}
			return false
		})
	}
	for _, r := range m.Rules {
		for ; r != nil; r = r.Else {
			below(r.Body)
			for _, t := range append(slices.Clone(r.Head.Args), r.Head.Key, r.Head.Value) {
				if t != nil {
					below(t)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// resolved returns the reference that a name in a module stands for: an import, or else a rule of its package.
func resolved(m *ast.Module, name *ast.Term) ast.Ref {
	for _, i := range m.Imports {
		if ref, ok := i.Path.Value.(ast.Ref); ok && name.Value.Compare(i.Name()) == 0 {
			return ref
		}
	}
	if name.Equal(ast.DefaultRootDocument) || name.Equal(ast.InputRootDocument) {
		return ast.Ref{name}
	}
	return m.Package.Path.Append(ast.StringTerm(nameOf(name)))
}

// defining lists the modules that define the rule that a reference is in, parts of it, or the package that it is.
func (n *references) defining(ref ast.Ref) []string {
	all := slices.Concat(n.packages[ref.String()], n.parts[ref.String()])
	for ; len(ref) > 1; ref = ref[:len(ref)-1] {
		all = slices.Concat(all, n.rules[ref.String()])
	}
	return all
}

// Detections describes which results of detectors modules read.
type Detections struct {
	ids   map[string][]string // id -> modules
	begin map[string][]string // beginning of ids -> modules
	any   []string            // modules that may read all of them
}

// DetectionsIn finds which results of detectors modules (layer/path -> source) read. What it cannot tell counts as a
// reader of all of them, so it may list too many readers, never too few.
func DetectionsIn(modules map[string]string) *Detections {
	d := &Detections{map[string][]string{}, map[string][]string{}, nil}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		m, err := ast.ParseModuleWithOpts(name, modules[name], ast.ParserOptions{RegoVersion: ast.RegoV1})
		if err != nil || m == nil {
			d.any = append(d.any, name)
			continue
		}
		for _, r := range m.Rules {
			d.rule(name, m, r)
		}
	}
	return d
}

// Readers lists the modules that read the results of a detector.
func (d *Detections) Readers(id string) []string {
	list := slices.Concat(d.ids[id], d.any)
	for begin, modules := range d.begin {
		if strings.HasPrefix(id, begin) {
			list = append(list, modules...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// rule adds what a rule reads.
func (d *Detections) rule(name string, m *ast.Module, r *ast.Rule) {
	known := map[*ast.Term]string{} // references of which only ids with this beginning count; empty: none
	ast.WalkBodies(r, func(b ast.Body) bool {
		begins := beginnings(b)
		for _, e := range b {
			limitReads(m, e, begins, known)
		}
		return false
	})
	ast.WalkTerms(r, d.reads(name, m, known))
}

// reads returns a function that adds what a term reads.
func (d *Detections) reads(name string, m *ast.Module, known map[*ast.Term]string) func(*ast.Term) bool {
	var visit func(t *ast.Term) bool
	visit = func(t *ast.Term) bool {
		ref, whole := inputRef(m, t)
		if begin, limited := known[t]; limited {
			if begin != "" {
				d.begin[begin] = append(d.begin[begin], name)
			}
		} else if whole {
			d.any = append(d.any, name)
		} else if id := detectionOf(ref); id != "" {
			d.ids[id] = append(d.ids[id], name)
		}
		inner, isRef := t.Value.(ast.Ref)
		if !isRef {
			return false
		}
		if _, simple := inner[0].Value.(ast.Var); !simple {
			ast.WalkTerms(inner[0], visit)
		}
		for _, part := range inner[1:] {
			ast.WalkTerms(part, visit)
		}
		return true
	}
	return visit
}

// inputRef returns the part of the input that a term refers to, and whether that may be the results of any detector.
func inputRef(m *ast.Module, t *ast.Term) (ref ast.Ref, whole bool) {
	switch v := t.Value.(type) {
	case ast.Ref:
		if _, simple := v[0].Value.(ast.Var); !simple {
			return nil, false
		}
		ref = slices.Concat(resolved(m, v[0]), v[1:])
	case ast.Var:
		ref = resolved(m, t)
	}
	if len(ref) == 0 || !ref[0].Equal(ast.InputRootDocument) {
		return nil, false
	}
	for i, word := range []string{"action", "detected"} {
		if len(ref) <= i+1 || !isText(ref[i+1]) {
			return ref, true
		}
		if s, _ := stringOf(ref[i+1]); s != word {
			return ref, false
		}
	}
	return ref, len(ref) == 3 || !isText(ref[3])
}

// detectionOf returns the detector whose result a reference names; empty: none.
func detectionOf(ref ast.Ref) string {
	if len(ref) < 4 || !ref[:3].Equal(ast.MustParseRef("input.action.detected")) {
		return ""
	}
	id, _ := stringOf(ref[3])
	return id
}

// beginnings returns with what the variables of a body begin wherever it holds.
func beginnings(b ast.Body) map[ast.Var]string {
	found := map[ast.Var]string{}
	for _, e := range b {
		if e.Negated || len(e.With) > 0 || !e.IsCall() || e.Operator().String() != "startswith" || len(e.Operands()) != 2 {
			continue
		}
		v, named := e.Operand(0).Value.(ast.Var)
		if begin, _ := stringOf(e.Operand(1)); named && begin != "" {
			found[v] = begin
		}
	}
	return found
}

// limitReads notes references that read less than they seem to: the results of detectors whose ids begin with a text, and
// another part of the action.
func limitReads(m *ast.Module, e *ast.Expr, begins map[ast.Var]string, known map[*ast.Term]string) {
	if e.Negated || len(e.With) > 0 {
		return
	}
	if some, ok := e.Terms.(*ast.SomeDecl); ok && len(some.Symbols) == 1 {
		if call, ok := some.Symbols[0].Value.(ast.Call); ok && len(call) == 4 {
			key, named := call[1].Value.(ast.Var)
			if begin := begins[key]; named && begin != "" {
				known[call[3]] = begin
			}
		}
	}
	ast.WalkTerms(e, func(t *ast.Term) bool {
		call, ok := t.Value.(ast.Call)
		if ok {
			notDetected(m, call, known)
		}
		return false
	})
	if terms, ok := e.Terms.([]*ast.Term); ok {
		notDetected(m, terms, known)
	}
}

// notDetected notes an object.get of another part of the action.
func notDetected(m *ast.Module, call []*ast.Term, known map[*ast.Term]string) {
	if len(call) != 4 || call[0].String() != "object.get" {
		return
	}
	ref, _ := inputRef(m, call[1])
	if part, _ := stringOf(call[2]); part != "" && part != "detected" && len(ref) == 2 && isText(ref[1]) {
		known[call[1]] = ""
	}
}
