package cel

import (
	"fmt"
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
)

// operands warns about a condition on a command of a known program that looks for a
// subcommand among the operands: c.name == "kubectl" && "apply" in c.operands.
func (i *linter) operands(e ast.Expr) {
	if i.subcommand == nil || !isCall(e, operators.LogicalAnd) {
		return
	}
	parts := conjuncts(e)
	for _, part := range parts {
		command, word, ok := i.operand(part)
		if !ok || i.asksField(parts, command+".sub") {
			continue
		}
		program := i.named(parts, command)
		if program == "" || !i.subcommand(program, word) || i.saidAt(part) {
			continue
		}
		i.wrong(part, "cel.sub", "%q is a subcommand of %s, so it is in %s.sub and not in %s.operands: write %q in %s.sub",
			word, program, command, command, word, command).Warning = true
	}
}

// operand splits "word" in c.operands, and c.operands[0] == "word".
func (i *linter) operand(e ast.Expr) (command, word string, ok bool) {
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return "", "", false
	}
	a, b := e.AsCall().Args()[0], e.AsCall().Args()[1]
	switch e.AsCall().FunctionName() {
	case operators.In:
		word, ok = literal(a)
	case operators.Equals:
		if word, ok = literal(b); !ok || !isCall(a, operators.Index) {
			return "", "", false
		}
		b = a.AsCall().Args()[0]
	}
	if !ok || b.Kind() != ast.SelectKind || b.AsSelect().FieldName() != "operands" {
		return "", "", false
	}
	command = i.written(b.AsSelect().Operand())
	return command, word, command != ""
}

// named returns the program that a condition requires of a command; empty: none, or
// several.
func (i *linter) named(parts []ast.Expr, command string) string {
	for _, part := range parts {
		if !isCall(part, operators.Equals) {
			continue
		}
		if name, ok := literal(part.AsCall().Args()[1]); ok && i.written(part.AsCall().Args()[0]) == command+".name" {
			return name
		}
	}
	return ""
}

// asksField reports whether some part refers to a field: what follows another
// subcommand can be an operand.
func (i *linter) asksField(parts []ast.Expr, field string) bool {
	found := false
	for _, part := range parts {
		visit(part, func(e ast.Expr) {
			found = found || e.Kind() == ast.SelectKind && i.written(e) == field
		})
	}
	return found
}

// saidAt reports whether a problem of an expression was already reported: each part of
// a chain of && is visited several times.
func (i *linter) saidAt(e ast.Expr) bool {
	loc := i.ast.SourceInfo().GetStartLocation(e.ID())
	place := fmt.Sprint(loc.Line(), loc.Column()+1)
	return slices.ContainsFunc(i.found, func(f *Error) bool { return fmt.Sprint(f.Line, f.Column) == place })
}
