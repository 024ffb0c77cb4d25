package cel

import (
	"path"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/agent-reviewer/reviewer/engine"
)

// formOf returns the form of an expression's values, or of the items if it is a list; the list's item
// in a loop has it too.
func (i *linter) formOf(e ast.Expr) (f engine.Form, name string, ok bool) {
	if e.Kind() == ast.IdentKind {
		if list := i.loops[e.AsIdent()]; list != nil {
			f, name, ok = i.formOf(list)
		}
		return f, name, ok
	}
	if isCall(e, operators.Index) {
		return i.formOf(e.AsCall().Args()[0])
	}
	if e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() {
		return engine.Form{}, "", false
	}
	s := e.AsSelect()
	f, ok = engine.Forms[i.ast.GetType(s.Operand().ID()).TypeName()+"."+s.FieldName()]
	return f, s.FieldName(), ok
}

// loop records what a variable of a loop iterates over. A name that is used for two lists is not examined.
func (i *linter) loop(e ast.Expr) {
	if e.Kind() != ast.ComprehensionKind {
		return
	}
	c := e.AsComprehension()
	if i.loops == nil {
		i.loops = map[string]ast.Expr{}
	}
	if old, twice := i.loops[c.IterVar()]; twice && (old == nil || i.written(old) != i.written(c.IterRange())) {
		i.loops[c.IterVar()] = nil
		return
	}
	i.loops[c.IterVar()] = c.IterRange()
}

// value rejects a comparison with a text that the field never has.
func (i *linter) value(e ast.Expr) {
	if e.Kind() != ast.CallKind {
		return
	}
	call := e.AsCall()
	args := call.Args()
	if call.IsMemberFunction() {
		args = append([]ast.Expr{call.Target()}, args...)
	}
	if len(args) < 2 {
		return
	}
	switch call.FunctionName() {
	case operators.Equals, operators.NotEquals, operators.In:
		i.compared(args[0], args[1])
		i.compared(args[1], args[0])
	case "startsWith", "domain":
		i.compared(args[0], args[1])
	case "has":
		i.compareAll("flags", engine.Forms["engine.Command.flags"], args[1:])
	case "matches":
		i.begins(args[0], args[1])
	case "glob":
		i.globbed(args[0], args[1])
	}
}

func (i *linter) compared(field, other ast.Expr) {
	f, name, ok := i.formOf(field)
	if !ok {
		return
	}
	i.compareAll(name, f, []ast.Expr{other})
}

func (i *linter) compareAll(name string, f engine.Form, others []ast.Expr) {
	for _, other := range others {
		if other.Kind() == ast.ListKind {
			i.compareAll(name, f, other.AsList().Elements())
			continue
		}
		if text, ok := literal(other); ok && !f.Fits(text) {
			i.neverA(other, name, text, f)
			return
		}
	}
}

func (i *linter) neverA(at ast.Expr, name, text string, f engine.Form) {
	instead := ""
	if f.Advice != nil {
		if better := f.Advice(text); better != "" && better != text && f.Fits(better) {
			instead = ": write \"" + better + "\""
		}
	}
	if !i.saidAt(at) {
		i.wrong(at, "cel.word", "%s is never %q, since %s%s", name, text, f.Says, instead)
	}
}

// targets rejects a relative path as the target of an effect on files: what is compared in the same condition
// shows that the effect is one.
func (i *linter) targets(e ast.Expr) {
	if !isCall(e, operators.LogicalAnd) {
		return
	}
	parts := conjuncts(e)
	files := map[string]bool{}
	for _, part := range parts {
		if isCall(part, operators.Equals) {
			field, kind := part.AsCall().Args()[0], part.AsCall().Args()[1]
			if word, ok := literal(kind); ok && strings.HasPrefix(word, "file_") && i.typed(field, "engine.Effect", "kind") {
				files[i.written(field.AsSelect().Operand())] = true
			}
		}
	}
	for _, part := range parts {
		if !isCall(part, operators.Equals) && !isCall(part, "glob") {
			continue
		}
		field, other := part.AsCall().Args()[0], part.AsCall().Args()[1]
		text, ok := literal(other)
		if !ok || !i.typed(field, "engine.Effect", "target") || !files[i.written(field.AsSelect().Operand())] || i.saidAt(other) {
			continue
		}
		if first, _, _ := strings.Cut(text, "/"); first != "" && !strings.ContainsAny(first, "*?:[{") {
			i.wrong(other, "cel.word", "target is never %q, since the target of a file is its absolute path: compare short with %q", text, "./"+
				strings.TrimPrefix(text, "./"))
		}
	}
}

// typed reports whether an expression is a field of a type.
func (i *linter) typed(e ast.Expr, typeName, field string) bool {
	return e.Kind() == ast.SelectKind && e.AsSelect().FieldName() == field && i.ast.GetType(e.AsSelect().Operand().ID()).TypeName() == typeName
}

// fixedStart is the part of a pattern that begins at the text's first character and is plain text.
var fixedStart = engine.Regexp(`^\^((?:[A-Za-z0-9_]|\\[./-])+)`)

// begins examines a pattern that is bound to the beginning of a field.
func (i *linter) begins(field, pattern ast.Expr) {
	text, ok := literal(pattern)
	f, name, known := i.formOf(field)
	if !ok || !known || strings.ContainsAny(text, "|?*{") {
		return
	}
	found := fixedStart().FindStringSubmatch(text)
	if found == nil {
		return
	}
	if start := strings.ReplaceAll(found[1], `\`, ""); !f.Fits(start) {
		i.neverA(pattern, name, start, f)
	}
}

// globbed examines a pattern for a short path, whose first part is ., ~, a drive or empty.
func (i *linter) globbed(field, pattern ast.Expr) {
	text, ok := literal(pattern)
	f, name, known := i.formOf(field)
	if !ok || !known || name != "short" {
		return
	}
	first, _, _ := strings.Cut(text, "/")
	matches := func(start string) bool { yes, err := path.Match(first, start); return yes || err != nil }
	if first == "**" || strings.Contains(first, "{") || slices.ContainsFunc([]string{"", ".", "~", "C:"}, matches) || i.saidAt(pattern) {
		return
	}
	better := "./" + text
	if strings.HasPrefix(text, "*") {
		better = "**/" + text
	}
	i.wrong(pattern, "cel.word", "%s never matches %q, since %s: write %q", name, text, f.Says, better)
}

// program warns about a comparison with a name that is nearly that of a known program.
func (i *linter) program(e ast.Expr) {
	if i.misspelt == nil || !isCall(e, operators.Equals) && !isCall(e, operators.In) {
		return
	}
	field, other := e.AsCall().Args()[0], e.AsCall().Args()[1]
	if !i.typed(field, "engine.Command", "name") {
		return
	}
	candidates := []ast.Expr{other}
	if other.Kind() == ast.ListKind {
		candidates = other.AsList().Elements()
	}
	for _, o := range candidates {
		if name, ok := literal(o); ok {
			if near := i.misspelt(name); near != "" {
				i.wrong(o, "rule.program", "no known program is called %q; did you mean %q?", name, near).Warning = true
			}
		}
	}
}
