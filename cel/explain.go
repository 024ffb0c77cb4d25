package cel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/agent-reviewer/reviewer/engine"
)

// explain turns CEL's issues into errors with the position, and what was
// probably meant.
func (l *language) explain(e *expression, issues *cel.Issues) []*Error {
	owners := map[int64]*types.Type{}
	if parsed, bad := l.env.Parse(e.text); bad.Err() == nil {
		o := owner{l, owners}
		o.walk(parsed.NativeRep().Expr(), map[string]*types.Type{})
	}
	if found := l.foreign(e, issues); found != nil {
		return found
	}
	var problems []*Error
	for _, i := range issues.Errors() {
		p := &Error{ID: e.id, Part: e.part, Code: kindOf(i.Message), Message: i.Message}
		if i.Location.Line() > 0 {
			p.Line, p.Column = i.Location.Line(), i.Location.Column()+1
		}
		if field, ok := quoted(i.Message, "undefined field '"); ok {
			p.Message = l.undefined(field, owners[i.ExprID])
		}
		if name, ok := quoted(i.Message, "undeclared reference to '"); ok && (undeclaredHint(name) != "" ||
			engine.Nearest(name, l.types["engine.Input"].names) != "" || !strings.Contains(i.Message, "did you mean")) {
			p.Message = l.undeclared(name)
		}
		if strings.HasPrefix(i.Message, "invalid matches argument") {
			p.Message = cmp.Or(l.badRegexp(e.text, i), p.Message)
		}
		p.Message = applied(unparsed(p.Message))
		problems = append(problems, p)
	}
	return causes(problems)
}

// causes leaves out problems that follow from another one: what a parser reports after
// a syntax error, and the variables of an unknown macro such as any(x, …).
func causes(problems []*Error) []*Error {
	macro, syntax := false, false
	return slices.DeleteFunc(problems, func(p *Error) bool {
		after := syntax && p.Code == "cel.syntax" || macro && strings.HasPrefix(p.Message, "unknown name \"")
		macro = macro || strings.HasPrefix(p.Message, "unknown function ") && strings.Contains(p.Message, "(x, condition)")
		syntax = syntax || p.Code == "cel.syntax"
		return after
	})
}

// foreign reports operators of other languages instead of the parser's errors; nil if
// the text parses or contains none.
func (l *language) foreign(e *expression, issues *cel.Issues) []*Error {
	if !slices.ContainsFunc(issues.Errors(), func(i *cel.Error) bool { return strings.HasPrefix(i.Message, "Syntax error: ") }) {
		return nil
	}
	for _, m := range mistakes(e.text) {
		return []*Error{{ID: e.id, Part: e.part, Code: "cel.syntax", Line: m.line, Column: m.column, Message: m.message}}
	}
	return nil
}

// kindOf returns the code of a CEL error.
func kindOf(message string) string {
	for _, k := range []struct{ begin, code string }{
		{"Syntax error", "cel.syntax"}, {"undefined field", "cel.name"}, {"undeclared reference", "cel.name"},
		{"invalid matches argument", "cel.regex"}, {"comprehension exceeds", "cel.cost"},
	} {
		if strings.HasPrefix(message, k.begin) {
			return k.code
		}
	}
	if strings.Contains(message, ": unknown word ") {
		return "cel.word"
	}
	return "cel.type"
}

// unknownEscape is the end of a string up to an escape that CEL does not have.
var unknownEscape = engine.Regexp(`^token recognition error at: '.*?["'](?:[^\\]|\\.)*(\\[^\\])'$`)

// unparsed shortens the parser's list of expected tokens, and explains backslashes.
func unparsed(message string) string {
	rest, found := strings.CutPrefix(message, "Syntax error: ")
	if !found {
		return message
	}
	before, _, long := strings.Cut(rest, " expecting {")
	escape := unknownEscape().FindStringSubmatch(rest)
	switch {
	case escape != nil:
		return fmt.Sprintf(`%[1]s is not an escape in a string of CEL: write \%[1]s, or a raw string such as r"%[1]s"`, escape[1])
	case !long:
		return "syntax error: " + rest
	case strings.Contains(before, "'<EOF>'"):
		return "syntax error: the expression ends too early"
	}
	return "syntax error: " + before + ", expected a value or a name"
}

// applied rewords errors about incompatible operands and deeply nested comprehensions.
func applied(message string) string {
	if message == "comprehension exceeds nesting limit" {
		return fmt.Sprintf("exists, all, filter and map are nested more than %d deep; split the condition into several rules", maxNesting)
	}
	name, ok := quoted(message, "found no matching overload for '")
	_, operands, known := strings.Cut(message, "applied to '")
	if !ok || !known {
		return message
	}
	if hint := functionHints[name]; hint != "" {
		if name == "contains" && strings.HasPrefix(operands, "list(") {
			hint = "part in list"
		}
		return fmt.Sprintf("%s cannot be applied to %s: write %s", strings.Trim(name, "@"), strings.TrimSuffix(operands, "'"), hint)
	}
	if strings.Trim(name, "_") != name {
		name = strings.ReplaceAll(name, "_", "")
	}
	return fmt.Sprintf("%s cannot be applied to %s", name, strings.TrimSuffix(operands, "'"))
}

// quoted returns what CEL put between quotes after a known beginning.
func quoted(message, before string) (string, bool) {
	rest, ok := strings.CutPrefix(message, before)
	if !ok {
		return "", false
	}
	name, _, ok := strings.Cut(rest, "'")
	return name, ok
}

func (l *language) undefined(field string, owner *types.Type) string {
	if owner == nil {
		return fmt.Sprintf("unknown field %q", field)
	}
	names := l.types[owner.TypeName()].names
	if len(names) == 0 {
		return fmt.Sprintf("unknown field %q in a %s", field, owner)
	}
	if near := engine.Nearest(field, names); near != "" {
		return fmt.Sprintf("unknown field %q; did you mean %q?", field, near)
	}
	return fmt.Sprintf("unknown field %q; expected one of %s", field, strings.Join(names, ", "))
}

func (l *language) undeclared(name string) string {
	if hint := undeclaredHint(name); hint != "" {
		return hint
	}
	names := l.types["engine.Input"].names
	if near := engine.Nearest(name, names); near != "" {
		return fmt.Sprintf("unknown name %q; did you mean %q?", name, near)
	}
	return fmt.Sprintf("unknown name %q; expected one of the variables %s, or a function of the language", name, strings.Join(names, ", "))
}

// owner finds the type of the operand of each selection. The checker does not
// give the types of an expression that has an error, so the few forms that
// lead from a variable to a field are followed here.
type owner struct {
	*language
	of map[int64]*types.Type // selection -> type of its operand
}

// walk visits an expression and returns its type, nil if that is unknown.
func (o owner) walk(e ast.Expr, scope map[string]*types.Type) *types.Type {
	switch e.Kind() {
	case ast.IdentKind:
		if t, bound := scope[e.AsIdent()]; bound {
			return t
		}
		return o.variable(e.AsIdent())
	case ast.SelectKind:
		t := o.walk(e.AsSelect().Operand(), scope)
		o.of[e.ID()] = t
		return o.field(t, e.AsSelect().FieldName())
	case ast.CallKind:
		return o.call(e, scope)
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			o.walk(item, scope)
		}
	case ast.ComprehensionKind:
		o.comprehension(e.AsComprehension(), scope)
	}
	return nil
}

func (o owner) variable(name string) *types.Type {
	for _, v := range o.types.variables() {
		if v.name == name {
			return v.typ
		}
	}
	return nil
}

func (o owner) field(t *types.Type, name string) *types.Type {
	if t == nil {
		return nil
	}
	if t.Kind() == types.MapKind {
		return t.Parameters()[1]
	}
	if ft, ok := o.env.CELTypeProvider().FindStructFieldType(t.TypeName(), name); ok {
		return ft.Type
	}
	return nil
}

func (o owner) call(e ast.Expr, scope map[string]*types.Type) *types.Type {
	c := e.AsCall()
	if c.IsMemberFunction() {
		o.walk(c.Target(), scope)
	}
	var first *types.Type
	for i, arg := range c.Args() {
		if t := o.walk(arg, scope); i == 0 {
			first = t
		}
	}
	if c.FunctionName() == operators.OptSelect { // a.?b
		o.of[e.ID()] = first
	}
	if c.FunctionName() != operators.Index || first == nil || len(first.Parameters()) == 0 {
		return nil
	}
	return first.Parameters()[len(first.Parameters())-1] // of a list or a map
}

func (o owner) comprehension(c ast.ComprehensionExpr, scope map[string]*types.Type) {
	inner := maps.Clone(scope)
	inner[c.IterVar()] = nil
	if t := o.walk(c.IterRange(), scope); t != nil && len(t.Parameters()) > 0 {
		inner[c.IterVar()] = t.Parameters()[0] // an item, or a key
	}
	inner[c.AccuVar()] = nil
	for _, part := range []ast.Expr{c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()} {
		o.walk(part, inner)
	}
}
