package rego

import (
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// familiesPath is the root of the packages of the base layer's rules in Rego, one package for each family. The
// names of these rules are the ids of their rows.
const familiesPath = "data/reviewer/families/"

// idsPath is the set of those that fire: whatever is true in any of these packages.
const idsPath = "data/reviewer/firing/ids"

// familyRule returns the id of a rule of a family; empty for a helper, and elsewhere.
func familyRule(r *ast.Rule) string {
	if r.Head.Key != nil || len(r.Head.Args) > 0 || r.Default || r.Head.DocKind() != ast.CompleteDoc {
		return ""
	}
	path := pathOf(r)
	if !strings.HasPrefix(path, familiesPath) || strings.HasPrefix(last(path), "_") || isTestFile(r.Location.File) ||
		r.Head.Value == nil || !r.Head.Value.Equal(ast.BooleanTerm(true)) {
		return ""
	}
	return last(path)
}

// dispatched replaces, in what a compiler compiles, the set of the rules that fire: by one rule for each body of
// each rule of the families. OPA's index then chooses among these, as it cannot where the id is a variable. It has
// the same members. The rules themselves are left out, but for those to which a test or another rule refers.
func dispatched(c *ast.Compiler) *ast.Compiler {
	return c.WithStageAfterID(ast.StageResolveRefs, ast.CompilerStageDefinition{Name: "Dispatch",
		Stage: func(c *ast.Compiler) *ast.Error {
			for _, m := range c.Modules {
				at := slices.IndexFunc(m.Rules, func(r *ast.Rule) bool { return pathOf(r) == idsPath && memberOf(r) == "" })
				if at >= 0 {
					m.Rules = slices.Delete(m.Rules, at, at+1)
					dispatch(c.Modules, m)
					break
				}
			}
			return nil
		}})
}

// dispatch adds the rules of the families to the module with the set.
func dispatch(modules map[string]*ast.Module, set *ast.Module) {
	used := map[string]bool{}
	for _, m := range modules {
		for _, r := range m.Rules {
			ast.WalkRefs(r, func(ref ast.Ref) bool {
				used[slashed(ref.ConstantPrefix())] = true
				return false
			})
		}
	}
	isUsed := func(path string) bool { return used[path] || used[above(path)] || used[above(above(path))] }
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		m := modules[name]
		m.Rules = slices.DeleteFunc(m.Rules, func(r *ast.Rule) bool {
			id := familyRule(r)
			if id == "" {
				return false
			}
			kept := isUsed(pathOf(r))
			if kept {
				r = r.Copy()
			}
			head := ast.NewHead("ids", ast.StringTerm(id))
			head.Location = r.Head.Location
			r.Head, r.Module, r.Annotations = head, set, nil
			set.Rules = append(set.Rules, r)
			return !kept
		})
	}
}
