package rego

import (
	"regexp/syntax"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
)

// patternArgument reports which argument of a function of regex is the pattern.
func patternArgument(function string) (at int, known bool) {
	switch function {
	case "regex.match", "regex.split", "regex.find_n", "regex.find_all_string_submatch_n":
		return 0, true
	case "regex.replace":
		return 1, true
	}
	return 0, false
}

// patterns reports regular expressions that are written out and do not compile.
func (c *checker) patterns(m *ast.Module) {
	check := func(terms []*ast.Term) {
		at, known := patternArgument(terms[0].Value.String())
		if !known || len(terms) <= at+1 {
			return
		}
		pattern, fixed := terms[at+1].Value.(ast.String)
		if !fixed {
			return
		}
		if _, err := syntax.Parse(string(pattern), syntax.Perl); err != nil {
			c.wrong(terms[at+1].Location, "rego.regex", "the pattern is not a regular expression (RE2): %v",
				engine.ExplainRegexp(err))
		}
	}
	ast.WalkExprs(m, func(e *ast.Expr) bool {
		if terms, isCall := e.Terms.([]*ast.Term); isCall {
			check(terms)
		}
		return false
	})
	ast.WalkTerms(m, func(t *ast.Term) bool {
		if call, isCall := t.Value.(ast.Call); isCall {
			check(call)
		}
		return false
	})
}

// conflicts reports complete rules that are true at the same time with different
// values.
func (c *checker) conflicts(m *ast.Module) {
	first := map[string]*ast.Rule{}
	for _, r := range m.Rules {
		if r.Default || r.Else != nil || len(r.Head.Args) > 0 || r.Head.Key != nil || r.Head.Value == nil ||
			!r.Head.Value.IsGround() || !r.Head.Ref().IsGround() || !scalar(r.Head.Value) {
			continue
		}
		key := pathOf(r) + "|" + r.Body.String()
		other := first[key]
		if other == nil {
			first[key] = r
			continue
		}
		if !other.Head.Value.Equal(r.Head.Value) {
			c.wrong(r.Location, "rego.conflict",
				"%s is %s here and %s in line %d, at the same time: this conflict at run time blocks the call; "+
					"keep one, or give each a condition that excludes the other", last(pathOf(r)), r.Head.Value,
				other.Head.Value, other.Location.Row)
		}
	}
}

// Where modified forms are defined: by the base layer's rules and by those of the
// others.
const (
	offersPath     = "data/reviewer/rewriting/offers"
	operationsName = "operations"
)

// operations reports operations that are written out and do not exist.
func (c *checker) operations(r *ast.Rule) {
	ast.WalkTerms(r, func(t *ast.Term) bool {
		if o, isObject := t.Value.(ast.Object); isObject {
			c.vocabulary(o, "op", engine.Operations())
		}
		return false
	})
}

// form records for which rule a definition offers a modified form, and reports whether
// it does.
func (s RuleSet) form(r *ast.Rule, layer string) bool {
	prefix := slashedRoot(layer) + "/" + operationsName
	if layer == "base" {
		prefix = offersPath
	}
	path := pathOf(r)
	switch {
	case path == prefix:
		s.Forms[layer+"/"] = true // ids that are not written out
	case above(path) == prefix:
		s.Forms[layer+"/"+last(path)] = true
	default:
		return false
	}
	return true
}

// HasForm reports whether a layer offers a modified form of the calls for which one of
// its rules fires.
func (s RuleSet) HasForm(layer, id string) bool {
	return layer != "project" && (s.Forms[layer+"/"] || s.Forms[layer+"/"+id] || s.Open[layer])
}

// NoForm explains what happens to calls of a rule with modify but without a modified
// form.
func NoForm(layer, id string) string {
	const asks = "the call is asked about, and blocked where nobody can be asked; "
	switch layer {
	case "project":
		return "rule " + id + " says modify, but a project's layer cannot define how to modify a call: " + asks + "write decision: ask"
	case "base":
		return "rule " + id + " says modify, but nothing defines how to modify its calls: " + asks +
			`define offers["` + id + `"] in package reviewer.rewriting, or write decision: ask`
	}
	return "rule " + id + " says modify, but nothing defines how to modify its calls: " + asks +
		`define operations["` + id + `"] in package policies.` + layer + ", or write decision: ask"
}
