package rego

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/mutant"
)

// Change is a mutant of one module, whose file is layer/path.
type Change struct {
	mutant.Mutant

	path      string     // of the rule that is changed
	reach     []spotKind // places of which one must be reached for the change to count
	otherwise []spotKind // the same if none of reach exists, because the compiler rewrote it
	do, undo  func()     // in the module
}

// spotKind is something that evaluation reaches.
type spotKind struct {
	spot
	kind byte // 'v' an expression is evaluated, 'e' a rule is entered, 'x' a rule is true
}

// changes lists the changes of a module that can be made, in the order in which
// the places are written.
func changes(name string, m *ast.Module) []*Change {
	g := &mutation{file: name, module: m}
	for _, r := range m.Rules {
		g.rule(r)
	}
	slices.SortStableFunc(g.all, func(a, b *Change) int { return a.Compare(b.Mutant) })
	return g.all
}

// mutation walks a module. The current position determines what must be reached for a
// change to count.
type mutation struct {
	file   string
	module *ast.Module
	about  string // the rule's id or path
	path   string
	facts  bool // the clause tests more than input.facts and the phase
	entry  []spotKind
	reach  []spotKind
	all    []*Change
}

func (g *mutation) add(operator string, at *ast.Location, before, after string, do, undo func()) {
	if before == after {
		return
	}
	g.all = append(g.all, &Change{
		Mutant: mutant.Mutant{File: g.file, Line: at.Row, Col: at.Col, Kind: mutant.Rego, Operator: operator, Rule: g.about, Before: before, After: after},
		path:   g.path, reach: g.reach, otherwise: g.entry, do: do, undo: undo,
	})
}

func (g *mutation) rule(r *ast.Rule) {
	g.about, g.path = aboutRule(g.module, r), groundPath(r).String()
	if r.Default {
		g.defaultRule(r)
		return
	}
	for e := r; e != nil; e = e.Else {
		g.entry = []spotKind{{spotOf(e.Loc()), 'e'}}
		g.clause(e)
		g.head(e)
		g.facts = slices.ContainsFunc(e.Body, func(e *ast.Expr) bool { return !saidBefore(e) && !asksPhase(e) })
		g.body(e.Body)
	}
}

// clause drops a clause, and its else branches.
func (g *mutation) clause(r *ast.Rule) {
	g.reach = []spotKind{{spotOf(r.Head.Location), 'x'}}
	body := r.Body
	before := headText(r)
	g.add(mutant.DropRule, r.Loc(), before, "(never)", func() {
		r.Body = append(ast.NewBody(literal(ast.Boolean(false), r.Loc())), body.Copy()...)
	}, func() { r.Body = body })
	if next := r.Else; next != nil {
		g.reach = []spotKind{{spotOf(next.Loc()), 'e'}}
		g.add(mutant.DropElse, next.Loc(), headText(next), "(nothing)", func() { r.Else = nil }, func() { r.Else = next })
	}
}

// defaultRule changes a default, which counts wherever the rule is evaluated.
func (g *mutation) defaultRule(r *ast.Rule) {
	g.entry = nil
	for _, other := range g.module.Rules {
		if other != r && other.Head.Ref().GroundPrefix().Equal(r.Head.Ref().GroundPrefix()) {
			g.entry = append(g.entry, spotKind{spotOf(other.Loc()), 'e'})
		}
	}
	g.reach = g.entry
	m, rules := g.module, g.module.Rules
	without := slices.DeleteFunc(slices.Clone(rules), func(o *ast.Rule) bool { return o == r })
	g.add(mutant.DropRule, r.Loc(), "default "+headText(r), "(nothing)", func() { m.Rules = without }, func() { m.Rules = rules })
	g.term(r.Head.Value)
}

// head changes the value of a rule. A constant key identifies the rule; that the rule
// is never true is a separate change.
func (g *mutation) head(r *ast.Rule) {
	if key := r.Head.Key; key != nil {
		if _, says := key.Value.(ast.Object); says {
			g.reach = g.entry
			g.term(key)
		}
	}
	if r.Head.Value == nil || r.Head.Value.Location == nil || r.Head.Value.Equal(ast.BooleanTerm(true)) {
		return
	}
	g.reach = g.entry
	if _, scalar := r.Head.Value.Value.(ast.Var); !scalar && ast.IsConstant(r.Head.Value.Value) {
		g.reach = []spotKind{{spotOf(r.Head.Location), 'x'}}
	}
	g.term(r.Head.Value)
}

func (g *mutation) body(b ast.Body) {
	for _, e := range b {
		g.expression(e)
	}
}

func (g *mutation) expression(e *ast.Expr) {
	if e.Location == nil || isTrue(e) {
		return
	}
	before := g.reach
	defer func() { g.reach = before }()
	g.reach = []spotKind{{spotOf(e.Location), 'v'}}
	switch terms := e.Terms.(type) {
	case *ast.SomeDecl:
		g.declaration(terms)
	case *ast.Every:
		g.drop(e)
		g.term(terms.Domain)
		g.body(terms.Body)
	case *ast.Term:
		g.drop(e)
		g.negate(e)
		g.term(terms)
	case []*ast.Term:
		g.call(e, terms)
	}
	for _, w := range e.With {
		g.term(w.Value)
	}
}

// declaration changes what some x in list walks over; the variables stay.
func (g *mutation) declaration(d *ast.SomeDecl) {
	for _, s := range d.Symbols {
		if call, ok := s.Value.(ast.Call); ok {
			g.term(call[len(call)-1])
		}
	}
}

func (g *mutation) call(e *ast.Expr, terms []*ast.Term) {
	if !e.IsAssignment() {
		if !g.facts || !saidBefore(e) {
			g.drop(e)
		}
		if !g.compare(terms, e.Location, func() string { return shownNode(e) }) {
			g.negate(e)
		}
	}
	for i, t := range terms[1:] {
		if i == 0 && (e.IsAssignment() || e.IsEquality() && isVar(t)) {
			continue // the name that gets the value
		}
		g.term(t)
	}
}

// factsRef is the list of facts that summarise an input. Rules test it first, so that
// the index can skip them.
var factsRef = ast.Ref{ast.InputRootDocument, ast.StringTerm("facts")}

// saidBefore reports whether an expression tests one of the facts: later lines test
// the same in detail, so without it only the time changes.
func saidBefore(e *ast.Expr) bool {
	return !e.Negated && e.IsCall() && e.Operator().String() == ast.Member.Name && e.Operand(1).Value.Compare(factsRef) == 0
}

func (g *mutation) drop(e *ast.Expr) {
	kept := *e
	g.add(mutant.DropExpression, e.Location, shownNode(e), "true", func() {
		*e = *literal(ast.Boolean(true), kept.Location)
		e.Index = kept.Index
	}, func() { *e = kept })
}

func (g *mutation) negate(e *ast.Expr) {
	was := e.Negated
	do, undo := func() { e.Negated = !was }, func() { e.Negated = was }
	g.add(mutant.Negate, e.Location, shownNode(e), shownWith(do, undo, func() string { return shownNode(e) }), do, undo)
}

// comparisons are the replacements for comparisons: the opposite of an equality; for
// an order only the boundary moves, since `not` is its opposite.
var comparisons = map[string]*ast.Builtin{
	ast.Equal.Name: ast.NotEqual, ast.NotEqual.Name: ast.Equal,
	ast.LessThan.Name: ast.LessThanEq, ast.LessThanEq.Name: ast.LessThan,
	ast.GreaterThan.Name: ast.GreaterThanEq, ast.GreaterThanEq.Name: ast.GreaterThan,
}

// compare swaps the operator of a call, and reports whether `not` has the same effect.
func (g *mutation) compare(terms []*ast.Term, at *ast.Location, text func() string) (negates bool) {
	name := terms[0].Value.String()
	other := comparisons[name]
	if other == nil {
		return false
	}
	was := terms[0]
	swapped := ast.NewTerm(other.Ref()).SetLocation(was.Location)
	do, undo := func() { terms[0] = swapped }, func() { terms[0] = was }
	g.add(mutant.SwapComparison, at, text(), shownWith(do, undo, text), do, undo)
	return name == ast.Equal.Name || name == ast.NotEqual.Name
}

// term changes what is written out in a term.
func (g *mutation) term(t *ast.Term) {
	if t == nil {
		return
	}
	was := t.Value
	g.value(t, hold{set: func(v ast.Value) { t.Value = v }, undo: func() { t.Value = was }})
}

// hold replaces a value. To change an item of a list, the list is replaced, since
// lists cache the hashes of their items.
type hold struct {
	set  func(ast.Value)
	undo func()
	item bool // of a written list or set, from which it is dropped
}

func (g *mutation) value(t *ast.Term, h hold) {
	at := t.Location
	if at == nil {
		return
	}
	switch v := t.Value.(type) {
	case ast.String, ast.Number, ast.Boolean:
		if !h.item {
			other := changed(v)
			g.add(mutant.ChangeLiteral, at, v.String(), other.String(), func() { h.set(other) }, h.undo)
		}
	case *ast.Array:
		g.array(v, h)
	case ast.Set:
		g.set(v, h)
	case ast.Object:
		g.object(v, h)
	case ast.Call:
		g.compare(v, at, func() string { return shownNode(ast.NewTerm(v).SetLocation(at)) })
		for _, arg := range v[1:] {
			g.term(arg)
		}
	case *ast.ArrayComprehension:
		g.term(v.Term)
		g.body(v.Body)
	case *ast.SetComprehension:
		g.term(v.Term)
		g.body(v.Body)
	case *ast.ObjectComprehension:
		g.term(v.Value)
		g.body(v.Body)
	case ast.Ref:
		g.reference(v)
	}
}

// reference changes calls and lists that a reference begins with or looks up;
// its names are not literals.
func (g *mutation) reference(ref ast.Ref) {
	for _, t := range ref {
		switch t.Value.(type) {
		case ast.String, ast.Var, ast.Number, ast.Boolean:
		default:
			g.term(t)
		}
	}
}

func (g *mutation) array(a *ast.Array, h hold) {
	var list []*ast.Term
	a.Foreach(func(t *ast.Term) { list = append(list, t) })
	for i, t := range list {
		g.dropItem(t, func() { h.set(ast.NewArray(slices.Delete(slices.Clone(list), i, i+1)...)) }, h.undo)
		g.value(t, hold{item: true, undo: h.undo, set: func(v ast.Value) {
			other := slices.Clone(list)
			other[i] = ast.NewTerm(v).SetLocation(t.Location)
			h.set(ast.NewArray(other...))
		}})
	}
}

func (g *mutation) set(s ast.Set, h hold) {
	list := s.Slice()
	for i, t := range list {
		g.dropItem(t, func() { h.set(ast.NewSet(slices.Delete(slices.Clone(list), i, i+1)...)) }, h.undo)
	}
}

func (g *mutation) object(o ast.Object, h hold) {
	var pairs [][2]*ast.Term
	o.Foreach(func(k, v *ast.Term) { pairs = append(pairs, [2]*ast.Term{k, v}) })
	for i, p := range pairs {
		g.dropItem(p[0], func() { h.set(ast.NewObject(slices.Delete(slices.Clone(pairs), i, i+1)...)) }, h.undo)
		g.value(p[1], hold{undo: h.undo, set: func(v ast.Value) {
			other := slices.Clone(pairs)
			other[i] = [2]*ast.Term{p[0], ast.NewTerm(v).SetLocation(p[1].Location)}
			h.set(ast.NewObject(other...))
		}})
	}
}

func (g *mutation) dropItem(t *ast.Term, do, undo func()) {
	if t.Location != nil {
		g.add(mutant.DropElement, t.Location, shownNode(t), "(removed)", do, undo)
	}
}

// changed is another value of the same kind.
func changed(v ast.Value) ast.Value {
	switch v := v.(type) {
	case ast.Boolean:
		return !v
	case ast.Number:
		if _, above, ok := mutant.Steps(string(v)); ok {
			return ast.Number(above)
		}
	case ast.String:
		return ast.String(otherWord(string(v)))
	}
	return v
}

// otherWord returns the next word of a vocabulary, else an unused one.
func otherWord(word string) string {
	for _, list := range [][]string{engine.Verdicts(), engine.Phases(), engine.Types(), engine.Signals()} {
		if i := slices.Index(list, word); i >= 0 {
			return list[(i+1)%len(list)]
		}
	}
	return word + "~"
}

func literal(v ast.Value, at *ast.Location) *ast.Expr {
	e := ast.NewExpr(ast.NewTerm(v).SetLocation(at))
	e.Location = at
	return e
}

func isTrue(e *ast.Expr) bool {
	t, ok := e.Terms.(*ast.Term)
	return ok && !e.Negated && t.Equal(ast.BooleanTerm(true))
}

func isVar(t *ast.Term) bool {
	_, is := t.Value.(ast.Var)
	return is
}

// shownWith returns the text of a node while it is changed.
func shownWith(do, undo func(), text func() string) string {
	do()
	defer undo()
	return text()
}

// shownNode is a part of a module in one line, as it would be formatted.
func shownNode(n ast.Node) string {
	text, err := format.AstWithOpts(n, format.Opts{RegoVersion: ast.RegoV1, ParserOptions: &ast.ParserOptions{RegoVersion: ast.RegoV1}})
	if err != nil {
		return fmt.Sprint(n)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// headText returns a head as it is written, with the word else for an else branch.
func headText(r *ast.Rule) string {
	return strings.Join(strings.Fields(string(r.Head.Location.Text)), " ")
}

// aboutRule names a rule by the id that it is about, else by its path.
func aboutRule(m *ast.Module, r *ast.Rule) string {
	if id := memberOf(r); id != "" {
		return id
	}
	ref := r.Head.Ref()
	if len(ref) > 1 {
		if s, ok := ref[len(ref)-1].Value.(ast.String); ok {
			return string(s)
		}
	}
	return strings.TrimPrefix(m.Package.Path.Extend(ref.GroundPrefix()).String(), "data.")
}
