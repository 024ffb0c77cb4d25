package cel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/parser"

	"github.com/agent-reviewer/reviewer/engine"
)

// Answer is the result of a condition for an input, part by part.
type Answer struct {
	ID        string      `json:"id"`
	Holds     bool        `json:"holds"`
	Error     string      `json:"error,omitempty"`     // the condition could not be evaluated
	Match     []UnmetList `json:"match,omitempty"`     // lists that exclude the input
	Parts     []Question  `json:"parts,omitempty"`     // parts of when: all that must be true, in their order
	Measure   *float64    `json:"measure,omitempty"`   // what was measured
	Threshold float64     `json:"threshold,omitempty"` // of Measure

	listsMatched bool // the lists accept the input, and name more than phases and facts
}

// UnmetList is a list of a Match that contains none of the input's words.
type UnmetList struct {
	List   string   `json:"list"`
	Wanted []string `json:"wanted"`
	Got    []string `json:"got"`
}

// Question is an expression that is true or false, with its parts.
type Question struct {
	Text   string     `json:"text"`
	Line   int        `json:"line"` // in the text of when, from 1
	Column int        `json:"column"`
	Holds  bool       `json:"holds"`
	Error  string     `json:"error,omitempty"`
	Values []Value    `json:"values,omitempty"` // what it compares
	Within []Question `json:"within,omitempty"` // inside a macro such as exists: whether it was true for any item
}

// Value is an operand and its value.
type Value struct {
	Text  string `json:"text"`
	Value string `json:"value"`
}

// Missing counts the parts that would have to change for the condition to be true: one is a near
// miss.
func (a *Answer) Missing() int {
	n := len(a.Match)
	for _, p := range a.Parts {
		if !p.Holds {
			n++
		}
	}
	if a.Measure != nil && *a.Measure < a.Threshold {
		n++
	}
	return n
}

// Answers evaluates every condition for an input, by id, and every part of
// those that at most one of their match lists excludes.
func (h *Host) Answers(in *engine.Input) []Answer {
	var all []Answer
	language := h.tracking()
	for i := range h.conditions {
		c := &h.conditions[i]
		a := Answer{ID: c.ID, Match: c.Match.unmet(in), Threshold: c.Threshold * c.factor(in)}
		a.listsMatched = len(a.Match) == 0 && c.Match.specific()
		if language != nil && len(a.Match) <= 1 {
			a.ask(language, c, &variables{in: in, host: h})
		}
		f, found := c.find(&variables{in: in, host: h})
		if len(a.Match) == 0 { // otherwise details has nothing to describe
			a.Holds, a.Error = found, f.Error
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b Answer) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func (a *Answer) ask(l *language, c *condition, vars *variables) {
	if c.when != nil {
		a.Parts = l.parts(c.when, vars)
	}
	if c.measure == nil {
		return
	}
	if v, err := c.measure.eval(vars); err == nil {
		if n, err := number(v); err == nil {
			a.Measure = &n
		}
	}
}

// unmet lists what keeps an input out.
func (m *Match) unmet(in *engine.Input) []UnmetList {
	var commands []string
	for _, c := range in.Action.Commands {
		commands = append(commands, c.Name)
	}
	var detected []string
	for id := range in.Action.Detected {
		detected = append(detected, id)
	}
	slices.Sort(detected)
	var all []UnmetList
	for _, list := range []struct {
		name       string
		only       Match
		words, got []string
	}{
		{"phases", Match{Phases: m.Phases}, m.Phases, []string{string(in.Phase)}},
		{"tools", Match{Tools: m.Tools}, m.Tools, []string{in.Event.Tool}},
		{"types", Match{Types: m.Types}, m.Types, texts(in.Action.Types)},
		{"signals", Match{Signals: m.Signals}, m.Signals, texts(in.Action.Signals)},
		{"commands", Match{Commands: m.Commands}, m.Commands, commands},
		{"facts", Match{Facts: m.Facts}, m.Facts, in.Facts},
		{"detected", Match{Detected: m.Detected}, m.Detected, detected},
		{"actions", Match{Actions: m.Actions}, m.Actions, []string{in.Action.Name}},
		{"commands", Match{Written: m.Written, Every: m.Every}, m.Written, []string{in.Action.Resource}},
		{"weekdays", Match{Weekdays: m.Weekdays}, m.Weekdays, []string{in.Time.Weekday}},
		{"hours", Match{Hours: m.Hours}, hours(m.Hours), []string{fmt.Sprint(in.Time.Hour)}},
		{"before", Match{Before: m.Before}, []string{"before " + moment(m.Before)}, []string{moment(in.Time.MS)}},
	} {
		if !list.only.admits(in) {
			all = append(all, UnmetList{list.name, list.words, list.got})
		}
	}
	return all
}

// hours describes a schedule; empty: there is none.
func hours(h []int64) []string {
	if len(h) != 2 {
		return nil
	}
	return []string{fmt.Sprintf("%d to %d", h[0], h[1])}
}

func texts[S ~string](list []S) []string {
	words := []string{}
	for _, v := range list {
		words = append(words, string(v))
	}
	return words
}

// explainer splits an expression. Each part is evaluated separately, so that
// one that is false hides none of the others.
type explainer struct {
	*questions
	language *language
	vars     *variables
}

// parts lists the subexpressions that all must be true.
func (l *language) parts(e *expression, vars *variables) []Question {
	checked, issues := l.env.Compile(e.text)
	if issues.Err() != nil {
		return nil // evaluation reports it
	}
	q := &explainer{&questions{expression: e, tree: checked.NativeRep()}, l, vars}
	return q.conjuncts(q.tree.Expr())
}

// conjuncts are the parts of `a && b && c`.
func (q *explainer) conjuncts(e ast.Expr) []Question {
	written := q.written(e)
	if !isCall(written, operators.LogicalAnd) {
		return []Question{q.question(e)}
	}
	var all []Question
	for _, arg := range written.AsCall().Args() {
		all = append(all, q.conjuncts(arg)...)
	}
	return all
}

func (q *explainer) question(e ast.Expr) Question {
	written := q.written(e)
	at := q.tree.SourceInfo().GetLocationByOffset(q.start(e.ID(), written))
	one := Question{Text: q.textOf(written), Line: at.Line(), Column: at.Column() + 1}
	v, err := q.eval(one.Text)
	one.Holds = v == types.True
	if err != nil {
		one.Error = err.Error()
	}
	one.Values = q.values(written)
	if _, macro := q.tree.SourceInfo().GetMacroCall(e.ID()); macro {
		one.Within = q.inside(written)
	}
	return one
}

func (q *explainer) textOf(written ast.Expr) string {
	text, err := parser.Unparse(written, q.tree.SourceInfo())
	if err != nil {
		return q.text
	}
	return strings.Join(strings.Fields(text), " ")
}

func (q *explainer) eval(text string) (ref.Val, error) {
	checked, issues := q.language.env.Compile(text)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	program, err := q.language.env.Program(checked, cel.CostLimit(EvalLimit))
	if err != nil {
		return nil, err
	}
	v, _, err := program.Eval(q.vars)
	return v, err
}

// inside records for each question in a macro such as list.exists(x, …) whether
// it is true of any item.
func (q *explainer) inside(written ast.Expr) []Question {
	call := written.AsCall()
	if !call.IsMemberFunction() || len(call.Args()) != 2 || call.Args()[0].Kind() != ast.IdentKind {
		return nil
	}
	list, item := q.textOf(q.written(call.Target())), call.Args()[0].AsIdent()
	var all []Question
	for _, part := range q.questionsIn(call.Args()[1]) {
		text := q.textOf(q.written(part))
		v, err := q.eval(fmt.Sprintf("%s.exists(%s, %s)", list, item, text))
		if err != nil {
			continue // it is reported with the whole macro, or is not a Boolean macro
		}
		at := q.tree.SourceInfo().GetLocationByOffset(q.start(part.ID(), q.written(part)))
		all = append(all, Question{Text: text, Line: at.Line(), Column: at.Column() + 1, Holds: v == types.True})
	}
	return all
}

// questionsIn lists the operands of && and ||.
func (q *explainer) questionsIn(e ast.Expr) []ast.Expr {
	written := q.written(e)
	if !isCall(written, operators.LogicalAnd) && !isCall(written, operators.LogicalOr) {
		return []ast.Expr{e}
	}
	var all []ast.Expr
	for _, arg := range written.AsCall().Args() {
		all = append(all, q.questionsIn(arg)...)
	}
	return all
}

// values returns the operands that an expression compares, except for literals.
func (q *explainer) values(written ast.Expr) []Value {
	if written.Kind() != ast.CallKind {
		return nil
	}
	c := written.AsCall()
	if _, macro := parserMacros[c.FunctionName()]; macro && c.IsMemberFunction() {
		return q.value(c.Target())
	}
	var all []Value
	for _, operand := range children(written) {
		inner := q.written(operand)
		switch {
		case isCall(inner, operators.LogicalAnd), isCall(inner, operators.LogicalOr), isCall(inner, operators.LogicalNot), compares(inner):
			all = append(all, q.values(inner)...)
		default:
			all = append(all, q.value(inner)...)
		}
	}
	return all
}

// compares reports whether the operands of an expression are more informative than its
// result.
func compares(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return false
	}
	switch e.AsCall().FunctionName() {
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.In:
		return true
	}
	return false
}

// parserMacros walk a list: what is inside them is not an expression by
// itself.
var parserMacros = map[string]bool{
	operators.All: true, operators.Exists: true, operators.ExistsOne: true, operators.Filter: true, operators.Map: true,
	"existsOne": true,
}

// value evaluates an expression; nothing for literals.
func (q *explainer) value(written ast.Expr) []Value {
	if k := written.Kind(); k == ast.LiteralKind || k == ast.ListKind {
		return nil
	}
	text := q.textOf(written)
	v, err := q.eval(text)
	if err != nil {
		return nil // a local name of an enclosing macro
	}
	return []Value{{text, shown(v)}}
}

// shown is a short text for a value.
func shown(v ref.Val) string {
	const most = 60
	text := fmt.Sprintf("%v", v.Value())
	if doc, err := json.Marshal(v.Value()); err == nil {
		text = string(doc)
	}
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return text
}

// Specific reports whether a characteristic part of the condition is true: a
// list that names more than phases and facts, a part, or for some item a question inside
// a part.
func (a *Answer) Specific() bool {
	return a.listsMatched || slices.ContainsFunc(a.Parts, func(p Question) bool {
		return p.Holds || slices.ContainsFunc(p.Within, func(q Question) bool { return q.Holds })
	})
}

// specific reports whether a list of a Match names more than phases and facts, which
// many calls share.
func (m Match) specific() bool {
	m.Phases, m.Facts = nil, nil
	return !m.empty()
}

// moment formats a time.
func moment(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
