package mutant

// The names of the operators. Some change both Rego and conditions.
const (
	DropRule       = "rule.drop"       // a clause is never true; a default is removed
	DropElse       = "else.drop"       // an else branch is removed
	DropExpression = "expression.drop" // a line of a body is true
	Negate         = "expression.not"  // not is added in front, or removed

	SwapComparison = "comparison"   // == and !=, and the boundary of < <= > >=
	ChangeLiteral  = "literal"      // another word or text, a number one step up, true and false
	DropElement    = "element.drop" // an item of a written list, set or object

	SwapJoin       = "join"         // && and ||
	DropOperand    = "operand.drop" // one side of && or || is removed
	NegateQuestion = "not"          // ! is added in front, or removed
	SwapQuantifier = "quantifier"   // exists and all
	AssumePresent  = "has"          // has(x) is true

	DropRow      = "row.drop"  // a rule, an access rule or a detector is removed
	DropItem     = "item.drop" // an item of a list; the last one of a list takes the list with it
	SwapVerdict  = "verdict"   // a decision, an effect or a cell one milder, one stricter
	ChangeNumber = "number"    // a number one step up, one step down
	ChangeWord   = "word"      // the previous or next word, where a fixed list of words is known
	FlipTruth    = "truth"     // true and false
)

// Operator is a way of changing a policy.
type Operator struct {
	In            string // a kind, or "rows, data"
	Name          string
	Does          string
	Before, After string // an example
}

// Operators lists all ways in which a policy is changed.
func Operators() []Operator {
	const rows = "rows, data"
	return []Operator{
		{Rego, DropRule, "a clause is never true; a default is removed", `delete_broad if {…}`, "(never)"},
		{Rego, DropElse, "an else and what follows it are removed", `else := "low"`, "(nothing)"},
		{Rego, DropExpression, "an expression of a body (including that of a comprehension or an every) becomes true", `input.phase == "pre"`, "true"},
		{Rego, Negate, "not is added, or removed", "e.recursive", "not e.recursive"},
		{Rego, SwapComparison, "== and != are swapped; the boundary of < <= > >= is included or excluded", "score >= 0.6", "score > 0.6"},
		{Rego, ChangeLiteral, "a word becomes the next of its vocabulary, or an unused one; a number is incremented; true becomes false", `"block"`, `"allow"`},
		{Rego, DropElement, "an item of a literal list, set or object is removed", `{"R0", "R1"}`, `{"R1"}`},
		{Conditions, SwapJoin, "&& and || are swapped", "a && b", "a || b"},
		{Conditions, DropOperand, "one side of && or || is removed", "a && b", "b"},
		{Conditions, NegateQuestion, "! is added, or removed", `"x" in c.flags`, `!("x" in c.flags)`},
		{Conditions, SwapComparison, "== and != are swapped; the boundary of < <= > >= is included or excluded", "n > 2", "n >= 2"},
		{Conditions, ChangeLiteral, "a string is changed, a number incremented, true and false swapped", `"kubectl"`, `"kubectl~"`},
		{Conditions, SwapQuantifier, "exists and all are swapped", "list.exists(x, …)", "list.all(x, …)"},
		{Conditions, AssumePresent, "has(x) is true", "has(history.call)", "true"},
		{Conditions, DropElement, "one of the first five items of a literal list is removed", `["a", "b"]`, `["b"]`},
		{rows, DropRow, "a rule, an access rule or a detector is removed, with its examples", "- id: shop.kubectl", "(removed)"},
		{rows, DropItem, "an item of a list is removed (of more than five: the first, the middle or the last; a single item with its key), or a level of a measure", "[prod, production]", "[production]"},
		{rows, SwapVerdict, "a decision, an effect or a cell of the matrix becomes one step milder, or stricter", "decision: ask", "decision: warn"},
		{rows, ChangeNumber, "a threshold, a weight or a level goes one step up, or down: by one, or by one in its last digit", "high_threshold: 0.8", "0.9"},
		{rows, ChangeWord, "a word of a fixed list becomes the one before it, or after it", "level: medium", "level: high"},
		{rows, FlipTruth, "true and false are swapped", "always: true", "always: false"},
	}
}
