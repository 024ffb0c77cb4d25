package rego

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// commonFields are the facts whose values many unrelated calls share, so that a match
// is not specific to a call.
var commonFields = map[string]bool{"phase": true, "facts": true, "types": true, "kind": true, "verb": true}

// about counts the true lines before the one that failed that are specific to this
// call, in the body and in the helpers that its last line refers to.
func (f *frame) about() int {
	n := 0
	for ; f != nil && f.stop != nil && f.rule != nil; f = f.inner() {
		rows := map[int]bool{}
		for _, e := range f.rule.Body[:min(f.depth, len(f.rule.Body))] {
			if e.Location != nil && e.Location.Row < f.stop.Location.Row && specific(e, f.rule.Module) {
				rows[e.Location.Row] = true
			}
		}
		n += len(rows)
	}
	return n
}

// specific reports whether an expression compares a fact of the call with a string or
// with a list of the policy's data. Something that must not be true, a setting, or a
// list whose members are only tried one by one is not specific. The expression is read
// as it is written, since the compiler moves references to lines of their own.
func specific(e *ast.Expr, m *ast.Module) bool {
	text := string(e.Location.Text)
	body, err := ast.ParseBodyWithOpts(text, ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err != nil || e.Negated || strings.HasPrefix(text, "some ") || !compares(body[0]) {
		return false
	}
	constant, fact := false, false
	look := func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.String:
			constant = true
		case ast.Ref:
			constant = constant || v.HasPrefix(ast.DefaultRootRef)
			fact = fact || ofCall(v, m)
			return true // the fields of a reference are texts, too
		case ast.Var:
			fact = true
		}
		return false
	}
	for _, operand := range body[0].Operands() {
		ast.WalkTerms(operand, look)
	}
	return constant && fact
}

// compares reports whether an expression is a call of a built-in that is true or false.
func compares(e *ast.Expr) bool {
	if !e.IsCall() {
		return false
	}
	b := ast.BuiltinMap[e.Operator().String()]
	return b != nil && b.Decl.Result().String() == "boolean"
}

// ofCall reports whether a reference is to a fact that is not common: not to data, and
// not to what a rule of the module results in.
func ofCall(ref ast.Ref, m *ast.Module) bool {
	name, _ := ref[len(ref)-1].Value.(ast.String)
	if commonFields[string(name)] || ref.HasPrefix(ast.DefaultRootRef) {
		return false
	}
	return !slices.ContainsFunc(m.Rules, func(r *ast.Rule) bool { return r.Head.Ref()[0].Value.Compare(ref[0].Value) == 0 })
}
