package cel

import (
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/parser"

	"github.com/agent-reviewer/reviewer/engine/mutant"
)

// Rewordings generates variants of an expression. It is not safe for concurrent use.
type Rewordings struct{ language *language }

// NewRewordings returns one for the language of conditions.
func NewRewordings(names *Names) (*Rewordings, error) {
	l, err := newLanguage(names, nil)
	if err != nil {
		return nil, err
	}
	env, err := l.env.Extend(cel.EnableMacroCallTracking())
	if err != nil {
		return nil, err
	}
	return &Rewordings{&language{env, l.types, l.names}}, nil
}

// Of returns variants of an expression, by place; none if it does not compile. Each
// variant compiles.
func (r *Rewordings) Of(text string) []mutant.Rewording {
	checked, issues := r.language.env.Compile(text)
	if issues.Err() != nil {
		return nil
	}
	w := &rewording{of: r, text: text, tree: checked.NativeRep()}
	for i := range w.count() {
		for _, c := range changes() {
			w.try(i, c)
		}
	}
	slices.SortStableFunc(w.all, func(a, b mutant.Rewording) int { return a.Compare(b.Mutant) })
	return w.all
}

// rewording is an expression while variants of it are generated.
type rewording struct {
	of   *Rewordings
	text string
	tree *ast.AST
	all  []mutant.Rewording
}

// count reports how many nodes the expression has, as it is written.
func (w *rewording) count() int {
	n := 0
	q := &questions{tree: w.tree}
	q.visit(w.tree.Expr(), nil, func(_, _ ast.Expr) { n++ })
	return n
}

// visit walks an expression as it is written, with the parent of each part.
func (q *questions) visit(e, above ast.Expr, see func(e, above ast.Expr)) {
	see(e, above)
	for _, child := range children(q.written(e)) {
		q.visit(child, q.written(e), see)
	}
}

// change replaces a node; false if it does not apply.
type change struct {
	operator string
	make     func(n *target) bool
}

// target is a node of a copy of the tree that may be changed.
type target struct {
	*questions
	at      ast.Expr // the node
	above   ast.Expr // its parent, as it is written; nil: none
	written ast.Expr
	make    ast.ExprFactory
}

// becomes replaces the node.
func (n *target) becomes(other ast.Expr) {
	n.tree.SourceInfo().ClearMacroCall(n.at.ID())
	if call, macro := n.tree.SourceInfo().GetMacroCall(other.ID()); macro {
		n.tree.SourceInfo().SetMacroCall(n.at.ID(), call)
	}
	n.at.SetKindCase(other)
}

// try changes the node with a number in a copy of the tree, and keeps the resulting
// text if it compiles.
func (w *rewording) try(number int, c change) {
	tree := ast.Copy(w.tree)
	q := &questions{expression: &expression{text: w.text}, tree: tree}
	n := &target{questions: q, make: ast.NewExprFactory()}
	i := 0
	q.visit(tree.Expr(), nil, func(e, above ast.Expr) {
		if i == number {
			n.at, n.above = e, above
		}
		i++
	})
	n.written = q.written(n.at)
	before := shownAs(n.written, tree)
	at := tree.SourceInfo().GetLocationByOffset(q.start(n.at.ID(), n.written))
	if !c.make(n) {
		return
	}
	text, err := parser.Unparse(q.written(tree.Expr()), tree.SourceInfo())
	if err != nil {
		return
	}
	if _, issues := w.of.language.env.Compile(text); issues.Err() != nil {
		return
	}
	w.all = append(w.all, mutant.Rewording{Text: text, Mutant: mutant.Mutant{
		Line: at.Line(), Col: at.Column() + 1, Kind: mutant.Conditions, Operator: c.operator, Before: before, After: shownAs(q.written(n.at), tree),
	}})
}

func shownAs(e ast.Expr, tree *ast.AST) string {
	text, err := parser.Unparse(e, tree.SourceInfo())
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(text), " ")
}

func changes() []change {
	list := []change{
		{mutant.SwapJoin, (*target).join},
		{mutant.DropOperand, func(n *target) bool { return n.operand(0) }},
		{mutant.DropOperand, func(n *target) bool { return n.operand(1) }},
		{mutant.NegateQuestion, (*target).negate},
		{mutant.SwapComparison, (*target).compare},
		{mutant.ChangeLiteral, (*target).literal},
		{mutant.SwapQuantifier, (*target).quantifier},
		{mutant.AssumePresent, (*target).present},
	}
	for i := range mostElements {
		list = append(list, change{mutant.DropElement, func(n *target) bool { return n.element(i) }})
	}
	return list
}

// mostElements is the number of items of a literal list that are left out, one at a
// time.
const mostElements = 5

func (n *target) name() string { return nameOf(n.written) }

// nameOf is the function or operator of a call; empty if it is not one.
func nameOf(e ast.Expr) string {
	if e == nil || e.Kind() != ast.CallKind {
		return ""
	}
	return e.AsCall().FunctionName()
}

func (n *target) call(name string) {
	c := n.written.AsCall()
	if c.IsMemberFunction() {
		n.written.SetKindCase(n.make.NewMemberCall(n.written.ID(), name, c.Target(), c.Args()...))
		return
	}
	n.written.SetKindCase(n.make.NewCall(n.written.ID(), name, c.Args()...))
}

// swapped are operators and functions that are swapped. For < and the like, only the
// boundary moves, since negation covers the opposite.
var swapped = map[string]string{
	operators.LogicalAnd: operators.LogicalOr, operators.LogicalOr: operators.LogicalAnd,
	operators.Equals: operators.NotEquals, operators.NotEquals: operators.Equals,
	operators.Less: operators.LessEquals, operators.LessEquals: operators.Less,
	operators.Greater: operators.GreaterEquals, operators.GreaterEquals: operators.Greater,
	operators.Exists: operators.All, operators.All: operators.Exists,
}

func (n *target) join() bool {
	name := n.name()
	if name != operators.LogicalAnd && name != operators.LogicalOr {
		return false
	}
	n.call(swapped[name])
	return true
}

func (n *target) operand(i int) bool {
	if name := n.name(); name != operators.LogicalAnd && name != operators.LogicalOr {
		return false
	}
	n.becomes(n.written.AsCall().Args()[1-i])
	return true
}

// negate skips nodes that another change covers already, and joined expressions, whose
// parts are negated.
func (n *target) negate() bool {
	switch n.name() {
	case operators.LogicalNot:
		n.becomes(n.written.AsCall().Args()[0])
		return true
	case operators.LogicalAnd, operators.LogicalOr, operators.Equals, operators.NotEquals:
		return false
	}
	if nameOf(n.above) == operators.LogicalNot || !n.asks(n.at.ID(), n.written) {
		return false
	}
	inner := n.make.CopyExpr(n.written) // one level lower
	const free = 1 << 30
	if n.written != n.at { // a macro is found by its id
		n.tree.SourceInfo().SetMacroCall(free, n.written)
		n.tree.SourceInfo().ClearMacroCall(n.at.ID())
		inner = n.make.NewUnspecifiedExpr(free)
	}
	n.at.SetKindCase(n.make.NewCall(n.at.ID(), operators.LogicalNot, inner))
	return true
}

func (n *target) compare() bool {
	switch name := n.name(); name {
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		n.call(swapped[name])
		return true
	}
	return false
}

func (n *target) quantifier() bool {
	switch name := n.name(); name {
	case operators.Exists, operators.All:
		n.call(swapped[name])
		return true
	}
	return false
}

func (n *target) present() bool {
	if n.name() != operators.Has {
		return false
	}
	n.becomes(n.make.NewLiteral(n.at.ID(), types.True))
	return true
}

// literal skips items of lists, which another change removes.
func (n *target) literal() bool {
	if n.at.Kind() != ast.LiteralKind || n.above != nil && n.above.Kind() == ast.ListKind {
		return false
	}
	other := otherLiteral(n.at.AsLiteral())
	if other == nil {
		return false
	}
	n.at.SetKindCase(n.make.NewLiteral(n.at.ID(), other))
	return true
}

func otherLiteral(v ref.Val) ref.Val {
	switch v := v.(type) {
	case types.String:
		return v + "~"
	case types.Int:
		return v + 1
	case types.Uint:
		return v + 1
	case types.Double:
		return v + 0.1
	case types.Bool:
		return !v
	}
	return nil
}

func (n *target) element(i int) bool {
	if n.at.Kind() != ast.ListKind || i >= n.at.AsList().Size() || n.at.AsList().Size() < 2 {
		return false
	}
	rest := slices.Delete(slices.Clone(n.at.AsList().Elements()), i, i+1)
	n.at.SetKindCase(n.make.NewList(n.at.ID(), rest, nil))
	return true
}
