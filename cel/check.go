package cel

import (
	"cmp"
	"fmt"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/parser"

	"github.com/agent-reviewer/reviewer/engine"
)

// Inspect returns all that Check does, and what only shows beside the rest of a
// policy or cannot be seen while an expression runs: windows and detectors that
// there are not, and conditions that can never hold.
func (h *Host) Inspect(words engine.Vocabulary) []*Error {
	problems := h.Check()
	language, err := h.language()
	if err != nil {
		return problems
	}
	for _, e := range h.expressions() {
		if _, wrong := e.compile(); len(wrong) > 0 {
			continue
		}
		i := inspection{expression: e, language: language, keys: keysOf(words)}
		problems = append(problems, i.inspect()...)
	}
	return problems
}

// keysOf lists the maps of an input whose keys are known, by type and field.
func keysOf(words engine.Vocabulary) map[string][]string {
	return map[string][]string{
		"engine.HistoryFacts.windows":        words.Windows,
		"engine.Action.detected":             words.Detectors,
		"engine.SessionFacts.counts_by_type": engine.Types(),
		"engine.WindowFacts.by_type":         engine.Types(),
	}
}

type inspection struct {
	*expression
	*language
	keys  map[string][]string
	ast   *ast.AST
	found []*Error
}

func (i *inspection) inspect() []*Error {
	checked, issues := i.env.Compile(i.text)
	if issues.Err() != nil {
		return nil // said already
	}
	i.ast = checked.NativeRep()
	visit(i.ast.Expr(), i.key)
	before := len(i.found)
	visit(i.ast.Expr(), i.chain)
	if len(i.found) == before && i.part == "when" && i.constantlyFalse(checked) {
		i.wrong(i.ast.Expr(), "this is always false, so the rule can never speak")
	}
	return i.found
}

func (i *inspection) wrong(at ast.Expr, format string, args ...any) {
	e := &Error{ID: i.id, Part: i.part, Message: fmt.Sprintf(format, args...)}
	if loc := i.ast.SourceInfo().GetStartLocation(at.ID()); loc.Line() > 0 {
		e.Line, e.Column = loc.Line(), loc.Column()+1
	}
	i.found = append(i.found, e)
}

// key refuses a key that a map with known keys never has.
func (i *inspection) key(e ast.Expr) {
	if e.Kind() == ast.SelectKind {
		i.member(e, e.AsSelect().Operand(), e.AsSelect().FieldName())
		return
	}
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return
	}
	first, second := e.AsCall().Args()[0], e.AsCall().Args()[1]
	switch e.AsCall().FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect:
		if word, ok := literal(second); ok {
			i.member(second, first, word)
		}
	case operators.In:
		if word, ok := literal(first); ok {
			i.member(first, second, word)
		}
	}
}

func (i *inspection) member(at, of ast.Expr, word string) {
	if of.Kind() != ast.SelectKind {
		return
	}
	owner := i.ast.GetType(of.AsSelect().Operand().ID()).TypeName()
	known, closed := i.keys[owner+"."+of.AsSelect().FieldName()]
	if closed && !slices.Contains(known, word) {
		i.wrong(at, "%s: unknown word %s", of.AsSelect().FieldName(), engine.Meant(word, known))
	}
}

// constantlyFalse says that an expression is false whatever the input is.
func (i *inspection) constantlyFalse(checked *cel.Ast) bool {
	var unknown []*cel.AttributePatternType
	for _, v := range i.types.variables() {
		unknown = append(unknown, cel.AttributePattern(v.name))
	}
	vars, err := cel.PartialVars(map[string]any{}, unknown...)
	if err != nil {
		return false
	}
	program, err := i.env.Program(checked, cel.EvalOptions(cel.OptPartialEval))
	if err != nil {
		return false
	}
	v, _, err := program.Eval(vars)
	return err == nil && v == types.False
}

// chain looks at what is asked of each value by expressions that must all hold.
func (i *inspection) chain(e ast.Expr) {
	if !isCall(e, operators.LogicalAnd) {
		return
	}
	asked := map[string]*demand{}
	for _, part := range conjuncts(e) {
		d, written := i.ask(part, asked)
		if d == nil {
			continue
		}
		if !d.Possible() {
			i.wrong(part, "`%s` and `%s` exclude each other, so this can never hold", written, d.first)
			return
		}
		d.first = cmp.Or(d.first, written)
	}
}

type demand struct {
	*engine.Demand
	first string // how it was asked first
}

func conjuncts(e ast.Expr) []ast.Expr {
	if !isCall(e, operators.LogicalAnd) {
		return []ast.Expr{e}
	}
	var all []ast.Expr
	for _, arg := range e.AsCall().Args() {
		all = append(all, conjuncts(arg)...)
	}
	return all
}

// ask adds a comparison with a constant to what is asked of the value; nil: it
// is something else.
func (i *inspection) ask(e ast.Expr, asked map[string]*demand) (*demand, string) {
	written := i.written(e)
	if isCall(e, operators.LogicalNot) || e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return i.askBool(e, asked), written
	}
	op, a, b := e.AsCall().FunctionName(), e.AsCall().Args()[0], e.AsCall().Args()[1]
	if op == operators.In {
		list, constant := constantsOf(b)
		if d := i.demand(a, asked); constant && d != nil {
			d.OneOf(list...)
			return d, written
		}
		return i.askBool(e, asked), written
	}
	if a.Kind() == ast.LiteralKind {
		op, a, b = mirrored(op), b, a
	}
	sign := signs[op]
	d := i.demand(a, asked)
	if d == nil || sign == "" || b.Kind() != ast.LiteralKind {
		return nil, ""
	}
	d.compare(sign, b.AsLiteral())
	return d, written
}

var signs = map[string]string{
	operators.Equals: "==", operators.NotEquals: "!=", operators.Less: "<", operators.LessEquals: "<=",
	operators.Greater: ">", operators.GreaterEquals: ">=",
}

func mirrored(op string) string {
	switch op {
	case operators.Less:
		return operators.Greater
	case operators.LessEquals:
		return operators.GreaterEquals
	case operators.Greater:
		return operators.Less
	case operators.GreaterEquals:
		return operators.LessEquals
	}
	return op
}

func (d *demand) compare(sign string, with ref.Val) {
	if f, err := number(with); err == nil && sign != "!=" {
		d.Number(sign, f)
		return
	}
	switch value := fmt.Sprintf("%T %v", with, with); sign {
	case "==":
		d.OneOf(value)
	case "!=":
		d.NoneOf(value)
	}
}

// askBool takes down that an expression is to hold, or not to.
func (i *inspection) askBool(e ast.Expr, asked map[string]*demand) *demand {
	holds := true
	for isCall(e, operators.LogicalNot) {
		e, holds = e.AsCall().Args()[0], !holds
	}
	d := i.demand(e, asked)
	if d != nil {
		d.OneOf(fmt.Sprintf("%T %v", types.Bool(holds), types.Bool(holds)))
	}
	return d
}

// demand returns what is asked of a value so far; nil: it cannot be told from
// others.
func (i *inspection) demand(e ast.Expr, asked map[string]*demand) *demand {
	key := i.written(e)
	if key == "" || e.Kind() == ast.LiteralKind {
		return nil
	}
	if asked[key] == nil {
		asked[key] = &demand{Demand: engine.NewDemand()}
	}
	return asked[key]
}

// written is an expression as text; empty for what was a macro.
func (i *inspection) written(e ast.Expr) string {
	text, err := parser.Unparse(e, i.ast.SourceInfo())
	if err != nil {
		return ""
	}
	return text
}

func constantsOf(e ast.Expr) (list []string, all bool) {
	if e.Kind() != ast.ListKind {
		return nil, false
	}
	for _, item := range e.AsList().Elements() {
		if item.Kind() != ast.LiteralKind {
			return nil, false
		}
		list = append(list, fmt.Sprintf("%T %v", item.AsLiteral(), item.AsLiteral()))
	}
	return list, true
}
