package rego

import (
	"slices"

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
