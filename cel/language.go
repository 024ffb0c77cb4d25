package cel

import (
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"
)

// EvalLimit stops an expression whose cost has no static limit, in CEL's units:
// about 2.5 ms. Reaching it is an error of the condition.
const EvalLimit = 50_000

// refuseCost is the static cost limit from which an expression is rejected:
// with EvalLimit it would fail on ordinary inputs. Two nested loops over lists
// of engine.MaxFacts stay below, three do not.
const refuseCost = 10_000_000

// Limits of an expression's text: far above what people write.
const (
	maxText     = 8 << 10 // characters
	maxNodes    = 2000
	maxDepth    = 60   // nesting of expressions
	maxNesting  = 4    // nested comprehensions, or comprehensions over each other's results
	maxRecovery = 4    // syntax errors after which the parser gives up
	maxRegex    = 2000 // instructions of a compiled RE2 pattern
)

// language is the typed environment of all expressions.
type language struct {
	env   *cel.Env
	types schema
	names *Names
}

// newLanguage declares the variables and functions, and those names that some texts use, or all. The versions of the libraries are
// pinned: a later one could interpret a shipped policy differently.
func newLanguage(names *Names, texts []string) (*language, error) {
	l := &language{types: newSchema(), names: names}
	options := []cel.EnvOption{
		cel.OptionalTypes(cel.OptionalTypesVersion(2)),
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		ext.Strings(ext.StringsVersion(4)),
		ext.Lists(ext.ListsVersion(3), ext.ListsMaxRangeSize(1000)),
		ext.Sets(ext.SetsVersion(0)),
		ext.Math(ext.MathVersion(2)),
		ext.Bindings(ext.BindingsVersion(1)),
		l.types.declare(),
		functions(),
		cel.ParserExpressionSizeLimit(maxText),
		cel.ExpressionNodeLimit(maxNodes),
		cel.ExpressionNestingDepthLimit(maxDepth),
		cel.ParserRecursionLimit(2 * maxDepth),
		cel.ParserErrorRecoveryLimit(maxRecovery),
		cel.RegexProgramSizeLimit(maxRegex),
		cel.ASTValidators(
			cel.ValidateRegexLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateDurationLiterals(),
			cel.ValidateHomogeneousAggregateLiterals(), cel.ValidateComprehensionNestingLimit(maxNesting),
			plain{}, words{l.types}, globs{},
		),
	}
	for _, f := range l.types.variables() {
		options = append(options, cel.Variable(f.name, f.typ))
	}
	env, err := cel.NewEnv(append(options, names.declare(texts)...)...)
	if err != nil {
		return nil, fmt.Errorf("declare the language of conditions: %w", err)
	}
	l.env = env
	return l, nil
}

// compile parses, checks, bounds and plans an expression.
func (l *language) compile(e *expression) (*program, []*Error) {
	ast, issues := l.env.Compile(e.text)
	if issues.Err() != nil {
		return nil, l.explain(e, issues)
	}
	fail := func(code, format string, args ...any) (*program, []*Error) {
		return nil, []*Error{{ID: e.id, Part: e.part, Code: code, Message: fmt.Sprintf(format, args...)}}
	}
	if !e.wants(ast.OutputType()) {
		return fail("cel.type", "expected %s, got %s", e.expected(), ast.OutputType())
	}
	cost, err := l.env.EstimateCost(ast, sizes{l.names})
	if err != nil {
		return fail("cel.cost", "estimate cost: %v", err)
	}
	if tooCostly(cost.Max) {
		return fail("cel.cost", "could cost %d units, the limit is %d: avoid nested loops over lists", cost.Max, refuseCost)
	}
	p, err := l.plan(ast, cost.Max)
	if err != nil {
		return fail("cel.type", "plan expression: %v", err)
	}
	return p, nil
}

// wants reports whether an expression may have a type: any, if it does not say which.
func (e *expression) wants(t *types.Type) bool {
	if len(e.want) == 0 {
		return true
	}
	for _, w := range e.want {
		if t.IsExactType(w) {
			return true
		}
	}
	return false
}

func (e *expression) expected() string {
	switch e.part {
	case "when":
		return "a bool (compare the value with something)"
	case "details":
		return "a string (such as string(n) + \" times\")"
	case "is":
		return e.want[0].String()
	}
	return "a number (such as size(list), or double(value))"
}
