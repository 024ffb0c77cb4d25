package cel

import (
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/agent-reviewer/reviewer/engine"
)

// CodeLifted and CodeLate are warnings that are right only about a rule that holds up calls: whoever
// knows the decision of a condition's rule removes the others.
const (
	CodeLifted = "cel.lifted"
	CodeLate   = "rule.late"
)

// lifted warns about a demand on all parts of a call: an agent that adds another command, host or file
// to the call is no longer refused.
func (i *linter) lifted(match Match) {
	if slices.ContainsFunc(i.found, func(f *Error) bool { return !f.Warning }) {
		return
	}
	parts := conjuncts(i.ast.Expr())
	for _, part := range parts {
		if field := wholeCall(part); field != "" {
			i.wrong(part, CodeLifted, "any other %s in the same call lifts this rule: put the condition into one "+
				"action.%s.exists(…) about the %s that the rule is about", singular[field], field, singular[field]).Warning = true
		}
		if len(match.Phases) == 0 && isPhase(part, string(engine.PhasePost)) {
			i.wrong(part, CodeLate, "%s", Late).Warning = true
		}
	}
}

// Late is what is wrong with a rule that denies or asks after the call.
const Late = "the call has run when this rule is evaluated, so it cannot be stopped: write phases: [pre], or decision: warn"

var singular = map[string]string{"commands": "command", "hosts": "host", "effects": "effect", "types": "type"}

func isPhase(e ast.Expr, phase string) bool {
	if !isCall(e, operators.Equals) {
		return false
	}
	a, b := e.AsCall().Args()[0], e.AsCall().Args()[1]
	word, ok := literal(b)
	return ok && word == phase && a.Kind() == ast.IdentKind && a.AsIdent() == "phase"
}

// wholeCall returns the list of the action of which a condition demands something that one more item can
// make false; empty: none.
func wholeCall(e ast.Expr) string {
	negated := isCall(e, operators.LogicalNot)
	if negated {
		e = e.AsCall().Args()[0]
	}
	if e.Kind() == ast.ComprehensionKind {
		c := e.AsComprehension()
		field := partsOf(c.IterRange())
		if all := isCall(c.LoopStep(), operators.LogicalAnd); field != "" && all != negated && isNamed(c.LoopStep(), c.IterVar()) {
			return field
		}
		return ""
	}
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return ""
	}
	a, b := e.AsCall().Args()[0], e.AsCall().Args()[1]
	switch op := e.AsCall().FunctionName(); {
	case op == operators.In && negated:
		if field := partsOf(b); field == "hosts" {
			return field
		}
	case negated:
	case op == operators.Equals && b.Kind() == ast.ListKind && b.AsList().Size() > 0:
		return partsOf(a)
	case isCall(a, "size") && b.Kind() == ast.LiteralKind && slices.Contains([]string{"==", "<", "<="}, signs[op]):
		n, _ := b.AsLiteral().(types.Int)
		if args := a.AsCall().Args(); len(args) == 1 && n > 0 && partsOf(args[0]) == "commands" {
			return "commands"
		}
	}
	return ""
}

// partsOf returns the field if an expression is action.commands, hosts, effects or types.
func partsOf(e ast.Expr) string {
	if e.Kind() != ast.SelectKind || e.AsSelect().Operand().Kind() != ast.IdentKind || e.AsSelect().Operand().AsIdent() != "action" {
		return ""
	}
	if field := e.AsSelect().FieldName(); singular[field] != "" {
		return field
	}
	return ""
}

// naming lists the fields that say which command, host or file an item is.
var naming = []string{"name", "location", "host", "target", "short"}

// isNamed reports whether the condition of a loop compares the item's name, host or place with a text.
func isNamed(step ast.Expr, item string) bool {
	found := false
	visit(step, func(e ast.Expr) {
		if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
			return
		}
		about := e.AsCall().Args()[0]
		if about.Kind() == ast.SelectKind && slices.Contains(naming, about.AsSelect().FieldName()) {
			about = about.AsSelect().Operand()
		} else if about.Kind() == ast.SelectKind {
			return
		}
		_, text := literal(e.AsCall().Args()[1])
		list := e.AsCall().Args()[1].Kind() == ast.ListKind
		found = found || (text || list) && about.Kind() == ast.IdentKind && about.AsIdent() == item
	})
	return found
}
