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

// idsPath is the set of those that fire, as the base layer writes it: whatever is true in any of these packages.
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

// dispatch replaces the set of the rules that fire by rules that say the same, so that OPA need not evaluate
// each rule of each family: one for each body of such a rule, with the body's tests by which OPA can look it up.
func dispatch(modules map[string]*ast.Module) {
	for _, m := range modules {
		at := slices.IndexFunc(m.Rules, func(r *ast.Rule) bool { return pathOf(r) == idsPath && memberOf(r) == "" })
		if at < 0 {
			continue
		}
		var rules []*ast.Rule
		eachFamilyRule(modules, func(r *ast.Rule, id string) { rules = append(rules, firing(m.Rules[at], r, id)) })
		m.Rules = slices.Replace(m.Rules, at, at+1, rules...)
	}
}

func eachFamilyRule(modules map[string]*ast.Module, each func(r *ast.Rule, id string)) {
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		for _, r := range modules[name].Rules {
			if id := familyRule(r); id != "" {
				each(r, id)
			}
		}
	}
}

// firing is the rule that adds an id to the set if a body of its rule can be true, and the rule is.
func firing(set, r *ast.Rule, id string) *ast.Rule {
	made := &ast.Rule{Head: ast.NewHead("ids", ast.StringTerm(id)), Module: set.Module, Location: set.Location}
	made.Head.Location = set.Head.Location
	add := func(e *ast.Expr) {
		e.Location = set.Location
		made.Body.Append(e)
	}
	for _, e := range r.Body {
		if looksUp(e) {
			add(ast.NewExpr([]*ast.Term{ast.NewTerm(e.Operator()), ast.NewTerm(e.Operand(0).Value), ast.NewTerm(e.Operand(1).Value)}))
		}
	}
	add(ast.NewExpr(ast.NewTerm(r.Module.Package.Path.Append(ast.StringTerm(id)))))
	return made
}

// looksUp reports whether an expression is one that OPA's index of rules can use: a constant that a part of
// the input is, or contains.
func looksUp(e *ast.Expr) bool {
	if e.Negated || len(e.With) > 0 || !e.IsCall() && !e.IsEquality() || len(e.Operands()) != 2 {
		return false
	}
	constant, part := e.Operand(0), e.Operand(1)
	switch e.Operator().String() {
	case ast.Member.Name:
	case ast.Equal.Name, ast.Equality.Name:
		if ofInput(constant) {
			constant, part = part, constant
		}
	default:
		return false
	}
	_, is := constant.Value.(ast.String)
	return is && ofInput(part)
}

func ofInput(t *ast.Term) bool {
	ref, is := t.Value.(ast.Ref)
	return is && ref.HasPrefix(ast.InputRootRef) && !slices.ContainsFunc(ref[1:], func(t *ast.Term) bool {
		_, constant := t.Value.(ast.String)
		return !constant
	})
}
