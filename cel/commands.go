package cel

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/agent-reviewer/reviewer/engine"
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

// swapped warns about a text of the policy that is asked whether it begins or ends with something of the call.
func (i *linter) swapped(e ast.Expr) {
	for _, name := range []string{"startsWith", "endsWith"} {
		if !isCall(e, name) || !e.AsCall().IsMemberFunction() {
			continue
		}
		text, of := literal(e.AsCall().Target())
		if _, constant := literal(e.AsCall().Args()[0]); of && !constant {
			i.wrong(e, "cel.swapped", "%q.%s(x) asks whether the text begins or ends with x; write x.%s(%q)", text, name, name, text).Warning = true
		}
	}
}

// spelling warns about a condition that compares the words of flags with an option: it may be written
// in other ways, such as in a cluster, shortened, or with a value.
func (i *linter) spelling(e ast.Expr) {
	switch {
	case isCall(e, operators.In) && isFlags(e.AsCall().Args()[1]):
		i.spelled(e.AsCall().Args()[0])
	case e.Kind() == ast.ComprehensionKind && isFlags(e.AsComprehension().IterRange()):
		visit(e.AsComprehension().LoopStep(), i.spelled)
	}
}

func isFlags(e ast.Expr) bool {
	return e.Kind() == ast.SelectKind && e.AsSelect().FieldName() == "flags"
}

func (i *linter) spelled(e ast.Expr) {
	if text, ok := literal(e); ok && option(text) {
		i.wrong(e, "cel.option", `%q is one way to write an option: write c.has("-n", "--name"), with all names of the option`,
			text).Warning = true
	}
}

// option reports whether a text looks like an option, or a pattern of one, without a value.
func option(text string) bool {
	name := strings.TrimLeft(strings.TrimPrefix(text, "^"), "-")
	dashes := len(strings.TrimPrefix(text, "^")) - len(name)
	return (dashes == 1 || dashes == 2) && name != "" && !strings.Contains(text, "=") && !strings.HasSuffix(text, "-")
}

// list warns about a long list of texts, unless they are all words of facts, and about one in a regular expression.
func (i *linter) list(e ast.Expr) {
	const problem = "a list of more than %d names in a condition: no other layer can add to it. Write it in data.yaml or a row, " +
		"or name it in definitions.yaml"
	if isCall(e, "matches") {
		args := e.AsCall().Args()
		if text, ok := literal(args[len(args)-1]); ok && engine.NamesIn(text) > engine.MaxNames {
			i.wrong(e, "cel.list", problem, engine.MaxNames).Warning = true
		}
	}
	if isCall(e, operators.In) {
		c := comparison{schema: i.types, ast: i.ast, items: map[string][]string{}}
		visit(i.ast.Expr(), c.bind)
		if known, _ := c.vocabulary(e.AsCall().Args()[0]); known != nil {
			i.facts = append(i.facts, e.AsCall().Args()[1].ID())
		}
	}
	if e.Kind() != ast.ListKind || len(e.AsList().Elements()) <= engine.MaxNames || slices.Contains(i.facts, e.ID()) {
		return
	}
	for _, item := range e.AsList().Elements() {
		if _, ok := literal(item); !ok {
			return
		}
	}
	i.wrong(e, "cel.list", problem, engine.MaxNames).Warning = true
}
