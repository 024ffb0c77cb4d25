package cel

import (
	"fmt"
	"slices"
	"strconv"
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

// order are the functions whose arguments are easily swapped: a text of the call, and a text or a pattern of the policy.
var order = map[string]string{
	"startsWith": "%[1]s.startsWith(x) asks whether the text begins with x; write x.startsWith(%[1]s)",
	"endsWith":   "%[1]s.endsWith(x) asks whether the text ends with x; write x.endsWith(%[1]s)",
	"matches":    "%[1]s.matches(x) takes x as the pattern; write x.matches(%[1]s)",
	"glob":       "glob(%[1]s, x) takes x as the pattern; write glob(x, %[1]s)",
	"domain":     "domain(%[1]s, x) asks whether the text is below x; write domain(x, %[1]s)",
}

// swapped warns about a text of the policy in the place of one of the call, and the other way round.
func (i *linter) swapped(e ast.Expr) {
	if e.Kind() != ast.CallKind || order[e.AsCall().FunctionName()] == "" {
		return
	}
	args := e.AsCall().Args()
	if e.AsCall().IsMemberFunction() {
		args = append([]ast.Expr{e.AsCall().Target()}, args...)
	}
	text, constant := literal(args[0])
	if _, both := literal(args[1]); constant && !both && !i.ofPolicy(args[1]) {
		i.wrong(e, "cel.swapped", order[e.AsCall().FunctionName()], strconv.Quote(text)).Warning = true
	}
}

// ofPolicy reports whether a value is a setting, or an item of one.
func (i *linter) ofPolicy(e ast.Expr) bool {
	switch {
	case e.Kind() == ast.SelectKind:
		return i.ofPolicy(e.AsSelect().Operand())
	case isCall(e, operators.Index):
		return i.ofPolicy(e.AsCall().Args()[0])
	case e.Kind() != ast.IdentKind:
		return e.Kind() == ast.ListKind
	}
	list, looped := i.loops[e.AsIdent()]
	return e.AsIdent() == "data" || strings.HasPrefix(e.AsIdent(), "data.") || looped && (list == nil || i.ofPolicy(list))
}

// spelling warns about a condition that compares the words of flags with an option: it may be written
// in other ways, such as in a cluster, shortened, or with a value.
func (i *linter) spelling(e ast.Expr) {
	switch {
	case isCall(e, operators.In) && isFlags(e.AsCall().Args()[1]):
		i.spelled(e.AsCall().Args()[0])
	case e.Kind() == ast.ComprehensionKind && isFlags(e.AsComprehension().IterRange()):
		visit(e.AsComprehension().LoopStep(), i.spelled)
	case isCall(e, "has"):
		i.valued(e.AsCall().Args())
	}
}

// valued warns about an option with its value where only names of options are compared.
func (i *linter) valued(names []ast.Expr) {
	for _, arg := range names {
		if arg.Kind() == ast.ListKind {
			i.valued(arg.AsList().Elements())
			continue
		}
		text, _ := literal(arg)
		if at := strings.IndexAny(text, "= "); at > 0 && strings.HasPrefix(text, "-") {
			i.wrong(arg, "cel.option", `has takes names of options, and %q is one with its value: write "%s=%s" in c.flags`, text,
				text[:at], text[at+1:]).Warning = true
		}
	}
}

func isFlags(e ast.Expr) bool {
	return e.Kind() == ast.SelectKind && e.AsSelect().FieldName() == "flags"
}

func (i *linter) spelled(e ast.Expr) {
	if text, ok := literal(e); ok && option(text) {
		if name, value, two := strings.Cut(strings.Trim(text, "^$ "), " "); two {
			i.wrong(e, "cel.option", `%q is two words, and no item of flags has a blank: write "%s=%s" in c.flags for a program that `+
				`reviewer knows, else c.has("%s") && %q in c.operands`, text, name, value, name, value).Warning = true
			return
		}
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

// elements warns about two conditions on commands of a call where one is meant: exists(c, c.name == "git") and
// exists(c, c.sub("push")).
func (i *linter) elements() {
	var named, other ast.Expr
	for _, part := range conjuncts(i.ast.Expr()) {
		list := existsOver(part)
		if list == nil || partsOf(list) != "commands" {
			continue
		}
		step, item := part.AsComprehension().LoopStep(), part.AsComprehension().IterVar()
		names, options := false, false
		visit(step, func(e ast.Expr) {
			field := ""
			if e.Kind() == ast.SelectKind && i.written(e.AsSelect().Operand()) == item {
				field = e.AsSelect().FieldName()
			}
			names = names || field == "name"
			options = options || slices.Contains([]string{"flags", "operands", "sub"}, field) || isCall(e, "has") || isCall(e, "sub")
		})
		if names {
			named = part
		} else if options {
			other = part
		}
	}
	if named != nil && other != nil {
		i.wrong(other, "cel.elements", "this is about any command of the call, and not the one whose name is asked for: "+
			"put both into one exists(…)").Warning = true
	}
}
