package cel

import (
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/agent-reviewer/reviewer/engine"
)

// plain rejects features that a condition does not need and that would make its result
// random or hide a mistake: map literals (their order is random), constructed objects,
// and dyn(), which disables type checking.
type plain struct{}

// Name names the check.
func (plain) Name() string { return "reviewer.plain" }

// Validate reports each place.
func (plain) Validate(_ *cel.Env, _ cel.ValidatorConfig, a *ast.AST, issues *cel.Issues) {
	visit(a.Expr(), func(e ast.Expr) {
		switch {
		case e.Kind() == ast.MapKind:
			issues.ReportErrorAtID(e.ID(), "a map cannot be written in a condition: compare with a list, or use ||")
		case e.Kind() == ast.StructKind:
			issues.ReportErrorAtID(e.ID(), "an object cannot be built in a condition")
		case isCall(e, "dyn"):
			issues.ReportErrorAtID(e.ID(), "dyn() is not available: it would hide misspelt fields")
		}
	})
}

// globs rejects patterns that are invalid for every path.
type globs struct{}

// Name names the check.
func (globs) Name() string { return "reviewer.glob" }

// Validate reports each place.
func (globs) Validate(_ *cel.Env, _ cel.ValidatorConfig, a *ast.AST, issues *cel.Issues) {
	visit(a.Expr(), func(e ast.Expr) {
		if !isCall(e, "glob") || len(e.AsCall().Args()) != 2 {
			return
		}
		arg := e.AsCall().Args()[1]
		if text, ok := literal(arg); ok {
			if err := checkGlob(strings.Split(text, "/")); err != nil {
				issues.ReportErrorAtID(arg.ID(), "%s", err)
			}
		}
	})
}

// words rejects comparisons of a field that has a closed vocabulary with a word
// outside it: they could never be true.
type words struct{ schema schema }

// Name names the check.
func (words) Name() string { return "reviewer.words" }

// Validate reports each place.
func (w words) Validate(_ *cel.Env, _ cel.ValidatorConfig, a *ast.AST, issues *cel.Issues) {
	c := comparison{schema: w.schema, ast: a, issues: issues, items: map[string][]string{}}
	visit(a.Expr(), c.bind)
	visit(a.Expr(), func(e ast.Expr) {
		if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
			return
		}
		args := e.AsCall().Args()
		switch e.AsCall().FunctionName() {
		case operators.Equals, operators.NotEquals, operators.In, "sets.contains", "sets.intersects", "sets.equivalent":
			c.compare(args[0], args[1])
			c.compare(args[1], args[0])
		}
	})
}

type comparison struct {
	schema schema
	ast    *ast.AST
	issues *cel.Issues
	items  map[string][]string // variable of a loop over a list of words -> the words
}

// bind records the possible values of a comprehension's variable. A name that is used
// for two vocabularies is not examined.
func (c *comparison) bind(e ast.Expr) {
	if e.Kind() != ast.ComprehensionKind {
		return
	}
	name := e.AsComprehension().IterVar()
	known, _ := c.vocabulary(e.AsComprehension().IterRange())
	if old, twice := c.items[name]; twice && !slices.Equal(old, known) {
		known = nil
	}
	c.items[name] = known
}

func (c *comparison) compare(field, other ast.Expr) {
	known, name := c.vocabulary(field)
	if known == nil {
		return
	}
	candidates := []ast.Expr{other}
	if other.Kind() == ast.ListKind {
		candidates = other.AsList().Elements()
	}
	for _, o := range candidates {
		if text, ok := literal(o); ok && !slices.Contains(known, text) {
			c.issues.ReportErrorAtID(o.ID(), "%s: unknown word %s", name, engine.Suggest(text, known))
		}
	}
}

// vocabulary returns the words that an expression can be, or contain if it is
// a list: object.field, the variable phase, and items of such a list.
func (c *comparison) vocabulary(e ast.Expr) (known []string, name string) {
	if e.Kind() == ast.IdentKind {
		if items, bound := c.items[e.AsIdent()]; bound {
			return items, e.AsIdent()
		}
		return c.schema["engine.Input"].words(e.AsIdent()), e.AsIdent()
	}
	if e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() {
		return nil, ""
	}
	s := e.AsSelect()
	st, ok := c.schema[c.ast.GetType(s.Operand().ID()).TypeName()]
	if !ok {
		return nil, ""
	}
	return st.words(s.FieldName()), s.FieldName()
}

// words lists the values that a field, or an item of a list in it, can have.
func (s structType) words(field string) []string {
	f, ok := s.fields[field]
	if !ok {
		return nil
	}
	known := engine.FieldValues(s.goType, f)
	if known != nil && f.Omit && f.Type.Kind() == reflect.String {
		known = append(slices.Clone(known), "") // absent
	}
	return known
}

func visit(e ast.Expr, see func(ast.Expr)) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(see))
}

func isCall(e ast.Expr, name string) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == name
}

func literal(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := ref.Val(e.AsLiteral()).(types.String)
	return string(s), ok
}
