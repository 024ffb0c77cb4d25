package rego

import (
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// apart returns the modules without the rules that read a document that contains
// themselves: a whole root, or their own package. OPA would report every rule of it as
// recursive.
func (c *checker) apart() map[string]*ast.Module {
	modules := maps.Clone(c.trees)
	for _, name := range slices.Sorted(maps.Keys(c.trees)) {
		if isTestFile(name) {
			continue
		}
		m := *c.trees[name]
		m.Rules = slices.DeleteFunc(slices.Clone(m.Rules), func(r *ast.Rule) bool {
			at := wholeRead(r, m.Package.Path)
			if at != nil {
				wrong := c.wrong(at.Location, "rego.recursion", "this reads all of %s, which contains this rule",
					strings.TrimPrefix(at.String(), "data."))
				wrong.Expected = "the path of the value that is needed, such as data.reviewer.risk"
			}
			return at != nil
		})
		modules[name] = &m
	}
	return modules
}

// wholeRead finds a reference to a document of packages; nil: there is none.
func wholeRead(r *ast.Rule, own ast.Ref) (found *ast.Term) {
	ast.WalkTerms(r, func(t *ast.Term) bool {
		ref, ok := t.Value.(ast.Ref)
		if ok && found == nil && ref.HasPrefix(ast.DefaultRootRef) && (own.HasPrefix(ref) || wholeRoot(ref)) {
			found = t
		}
		return ok && ref.HasPrefix(ast.DefaultRootRef)
	})
	return found
}

// wholeRoot reports whether a reference is to the document of a layer, or of
// several.
func wholeRoot(ref ast.Ref) bool {
	path := slashed(ref)
	return path == "data" || path == "data/reviewer" || path == "data/policies" ||
		strings.HasPrefix(path, "data/policies/") && len(ref) == 3
}

// simplest picks the recursion error to report: each rule of a cycle has its
// own, and all follow from the same mistake.
func simplest(errs ast.Errors) ast.Errors {
	var best *ast.Error
	rest := slices.DeleteFunc(slices.Clone(errs), func(e *ast.Error) bool {
		if e.Code != ast.RecursionErr {
			return false
		}
		if best == nil || steps(e) < steps(best) {
			best = e
		}
		return true
	})
	if best != nil {
		rest = append(rest, best)
	}
	return rest
}

// steps weighs a cycle: by its length, and one through tests comes last.
func steps(e *ast.Error) int {
	n := strings.Count(e.Message, " -> ")
	if strings.Contains(e.Message, "_test.") {
		n += 1000
	}
	return n
}
