package cel

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/agent-reviewer/reviewer/engine"
)

// rangeOf returns the smallest and the largest number that a field has.
func (i *linter) rangeOf(e ast.Expr) (engine.Range, bool) {
	return engine.RangeOf(pathTo(e), i.lengths)
}

// pathTo is a field of the input, such as history.windows.recent.failed; empty: it is something else.
func pathTo(e ast.Expr) string {
	of, name := e, ""
	switch {
	case e.Kind() == ast.IdentKind:
		return e.AsIdent()
	case e.Kind() == ast.SelectKind:
		of, name = e.AsSelect().Operand(), e.AsSelect().FieldName()
	case isCall(e, operators.Index):
		of = e.AsCall().Args()[0]
		name, _ = literal(e.AsCall().Args()[1])
	}
	if name == "" {
		return ""
	}
	path := pathTo(of)
	if path == "" {
		return ""
	}
	return path + "." + name
}

// ranged warns about a comparison of a field with a number that it never reaches, or never falls below.
func (i *linter) ranged(e ast.Expr) {
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return
	}
	op, a, b := e.AsCall().FunctionName(), e.AsCall().Args()[0], e.AsCall().Args()[1]
	if a.Kind() == ast.LiteralKind {
		op, a, b = mirrored(op), b, a
	}
	r, known := i.rangeOf(a)
	if !known || signs[op] == "" || b.Kind() != ast.LiteralKind {
		return
	}
	n, err := number(b.AsLiteral())
	if err != nil {
		return
	}
	opposite := map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<", "!=": "=="}[signs[op]]
	holds := ""
	switch {
	case opposite != "" && !r.Allows(opposite, n):
		holds = "always"
	case signs[op] != "!=" && !r.Allows(signs[op], n):
		holds = "never"
	default:
		return
	}
	i.wrong(e, "cel.range", "`%s` is %s true, since %s is %s; correct the number", i.written(e), holds, pathTo(a), r).Warning = true
}

// confidence warns about a constant that cannot be a share.
func (i *linter) confidence(checked *cel.Ast) {
	v := i.alone(checked)
	if v == nil {
		return
	}
	if n, err := number(v); err == nil && (n < 0 || n > 1) {
		i.wrong(i.ast.Expr(), "cel.range", "confidence is %v, and is a number from 0 to 1", n).Warning = true
	}
}

// thresholds warns about thresholds and levels that a measure never reaches.
func (h *Host) thresholds(l *language, lengths map[string]int) (found []*Error) {
	for _, c := range h.conditions {
		if c.measure == nil {
			continue
		}
		p, wrong := c.measure.compile()
		if len(wrong) > 0 {
			continue
		}
		i := linter{expression: c.measure, language: l, lengths: lengths, ast: p.checked.NativeRep()}
		r, known := i.rangeOf(i.ast.Expr())
		if !known {
			continue
		}
		add := func(part string, at float64) {
			found = append(found, &Error{ID: c.ID, Part: part, Code: "cel.range", Warning: true,
				Message: fmt.Sprintf("%s: %v is never reached, since %s is %s; correct the number", part, at, pathTo(i.ast.Expr()), r)})
		}
		at := slices.IndexFunc(c.Levels, func(l Level) bool { return l.At > r.High })
		if c.Threshold > r.High {
			add("threshold", c.Threshold)
		} else if at >= 0 {
			add("levels", c.Levels[at].At)
		}
	}
	return found
}

// matched warns about what the rule's match excludes: another phase, tool or action, and a field that is absent in the
// phases of match.
func (i *linter) matched(e ast.Expr) {
	if e.Kind() == ast.SelectKind {
		i.absentIn(e)
		return
	}
	if !isCall(e, operators.Equals) && !isCall(e, operators.In) {
		return
	}
	field, other := e.AsCall().Args()[0], e.AsCall().Args()[1]
	name := pathTo(field)
	key, listed := "", []string{}
	switch name {
	case "phase":
		key, listed = "phases", i.match.Phases
	case "event.tool":
		key, listed = "tools", i.match.Tools
	case "action.name":
		key, listed = "actions", i.match.Actions
	}
	words := textsOf(other)
	if len(listed) == 0 || len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return fitsAny(w, listed) }) {
		return
	}
	i.wrong(e, "cel.match", "%s is never %q, since match limits the rule to %s %s; correct one of the two",
		name, words[0], key, strings.Join(listed, ", ")).Warning = true
}

// textsOf lists the texts that an expression or a list is written as; nil: it is something else.
func textsOf(e ast.Expr) (list []string) {
	items := []ast.Expr{e}
	if e.Kind() == ast.ListKind {
		items = e.AsList().Elements()
	}
	for _, item := range items {
		text, ok := literal(item)
		if !ok {
			return nil
		}
		list = append(list, text)
	}
	return list
}

// fitsAny reports whether a word is one of a match; one that ends in * stands for all with this beginning.
func fitsAny(word string, listed []string) bool {
	return slices.ContainsFunc(listed, func(l string) bool {
		begin, open := strings.CutSuffix(l, "*")
		return l == word || open && strings.HasPrefix(word, begin)
	})
}

// absentIn warns about a field that no event of the rule's phases has, once.
func (i *linter) absentIn(e ast.Expr) {
	field := pathTo(e)
	phases := i.match.Phases
	for _, part := range conjuncts(i.ast.Expr()) {
		if isCall(part, operators.Equals) && pathTo(part.AsCall().Args()[0]) == "phase" {
			phases = textsOf(part.AsCall().Args()[1])
		}
	}
	there, limited := engine.Present[field]
	said := slices.ContainsFunc(i.found, func(f *Error) bool { return f.Code == "cel.match" })
	if !limited || said || len(phases) == 0 || slices.Contains(phases, there) {
		return
	}
	i.wrong(e, "cel.match", "%s is only present in phase %s, and the rule is about phase %s; write phases: [%[2]s], or ask for something else",
		field, there, strings.Join(phases, ", ")).Warning = true
}

// control warns about a text with a backspace or another such character, which \b and the like are in quotes.
func (i *linter) control(e ast.Expr) {
	text, ok := literal(e)
	if c := engine.ControlIn(text); ok && c != "" {
		i.wrong(e, "text.control", engine.ControlMessage, c, `r"`+c+`" in single quotes of YAML`).Warning = true
	}
}
