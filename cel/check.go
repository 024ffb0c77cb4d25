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

// Inspect returns everything that Check does, and problems that cannot be
// detected when the expression is compiled alone: unknown windows and
// detectors, and conditions that can never be true.
func (h *Host) Inspect(words engine.Vocabulary) []*Error {
	problems := h.Check()
	language, err := h.language()
	if err != nil {
		return problems
	}
	keys := keysOf(words)
	for _, e := range h.expressions() {
		p, wrong := e.compile()
		if len(wrong) > 0 {
			continue
		}
		i := linter{expression: e, language: language, keys: keys, lengths: words.Lengths, subcommand: words.Subcommand, misspelt: words.Misspelt}
		problems = append(problems, i.inspect(p.checked)...)
	}
	return append(problems, h.thresholds(language, words.Lengths)...)
}

// keysOf lists the maps of an input whose keys are known, by type and field.
func keysOf(words engine.Vocabulary) map[string][]string {
	return map[string][]string{
		"engine.HistoryFacts.windows":        words.Windows,
		"engine.HistoryFacts.fired":          words.Findings,
		"engine.Action.detected":             words.Detectors,
		"engine.SessionFacts.counts_by_type": engine.Types(),
		"engine.WindowFacts.by_type":         engine.Types(),
	}
}

type linter struct {
	*expression
	*language
	keys    map[string][]string
	lengths map[string]int // of windows
	ast     *ast.AST

	subcommand func(program, word string) bool // nil: programs are not known
	misspelt   func(program string) string     // the known program that was probably meant; nil: programs are not known
	facts      []int64                         // lists of words of facts
	loops      map[string]ast.Expr             // what a loop's variable iterates over
	found      []*Error
}

func (i *linter) inspect(checked *cel.Ast) []*Error {
	i.ast = checked.NativeRep()
	visit(i.ast.Expr(), i.key)
	visit(i.ast.Expr(), i.operands)
	visit(i.ast.Expr(), i.loop)
	visit(i.ast.Expr(), i.value)
	visit(i.ast.Expr(), i.targets)
	visit(i.ast.Expr(), i.program)
	if i.part != "text" { // of a definition
		visit(i.ast.Expr(), i.spelling)
		visit(i.ast.Expr(), i.swapped)
		visit(i.ast.Expr(), i.list)
	}
	visit(i.ast.Expr(), i.control)
	visit(i.ast.Expr(), i.ranged)
	visit(i.ast.Expr(), i.matched)
	if i.part == "confidence" {
		i.confidence(checked)
	}
	before := len(i.found)
	visit(i.ast.Expr(), i.chain)
	if len(i.found) == before && i.part == "when" {
		i.constant(checked)
	}
	if len(i.found) == before {
		i.constants()
	}
	if i.part == "when" {
		i.elements()
		i.lifted(i.match)
	}
	return i.found
}

func (i *linter) wrong(at ast.Expr, code, format string, args ...any) *Error {
	e := &Error{ID: i.id, Part: i.part, Code: code, Message: fmt.Sprintf(format, args...)}
	if loc := i.ast.SourceInfo().GetStartLocation(at.ID()); loc.Line() > 0 {
		e.Line, e.Column = loc.Line(), loc.Column()+1
	}
	i.found = append(i.found, e)
	return e
}

// key rejects a key that a map with known keys never has.
func (i *linter) key(e ast.Expr) {
	if e.Kind() == ast.SelectKind {
		i.member(e, e.AsSelect().Operand(), e.AsSelect().FieldName())
		return
	}
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return
	}
	first, second := e.AsCall().Args()[0], e.AsCall().Args()[1]
	switch e.AsCall().FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect: // also a[?"b"] and a.?b
		if word, ok := literal(second); ok {
			i.member(second, first, word)
		}
	case operators.In:
		if word, ok := literal(first); ok {
			i.member(first, second, word)
		}
	}
}

func (i *linter) member(at, of ast.Expr, word string) {
	if of.Kind() != ast.SelectKind {
		return
	}
	owner := i.ast.GetType(of.AsSelect().Operand().ID()).TypeName()
	known, closed := i.keys[owner+"."+of.AsSelect().FieldName()]
	if closed && !slices.Contains(known, word) {
		i.wrong(at, "cel.word", "%s: unknown word %s", of.AsSelect().FieldName(), engine.Suggest(word, known))
	}
}

// constant reports a condition that is the same for every input.
func (i *linter) constant(checked *cel.Ast) {
	switch v := i.alone(checked); {
	case v == types.False:
		i.wrong(i.ast.Expr(), "cel.never", "this is always false, so the rule can never fire")
	case v == types.True && i.open:
		i.wrong(i.ast.Expr(), "cel.always", "this is always true, so the rule fires for everything; "+
			"compare something, or write match: {phases: [pre]} if every call is meant")
	case v == types.True:
		i.wrong(i.ast.Expr(), "cel.always", "this is always true; remove when: match is sufficient").Warning = true
	}
}

// alone returns the value of an expression that does not depend on the input; nil if
// it does.
func (i *linter) alone(checked *cel.Ast) ref.Val {
	var unknown []*cel.AttributePatternType
	for _, v := range i.types.variables() {
		unknown = append(unknown, cel.AttributePattern(v.name))
	}
	vars, err := cel.PartialVars(map[string]any{}, unknown...)
	if err != nil {
		return nil
	}
	program, err := i.env.Program(checked, cel.EvalOptions(cel.OptPartialEval))
	if err != nil {
		return nil
	}
	v, _, err := program.Eval(vars)
	if err != nil {
		return nil
	}
	return v
}

// chain checks the demands on each value by expressions that must all be true.
func (i *linter) chain(e ast.Expr) {
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
			i.wrong(part, "cel.never", "`%s` and `%s` exclude each other, so this can never be true", written, d.first)
			return
		}
		d.first = cmp.Or(d.first, written)
	}
}

type demand struct {
	*engine.Demand
	first string // the first comparison with it
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

// ask adds a comparison with a constant to the demands on the value; nil if it is
// something else.
func (i *linter) ask(e ast.Expr, asked map[string]*demand) (*demand, string) {
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

// askBool records that an expression must be true, or false.
func (i *linter) askBool(e ast.Expr, asked map[string]*demand) *demand {
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

// demand returns the demands on a value so far; nil if it cannot be identified.
func (i *linter) demand(e ast.Expr, asked map[string]*demand) *demand {
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
func (i *linter) written(e ast.Expr) string {
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
