package mutant

// The names of the operators. Some change both Rego and conditions.
const (
	DropRule       = "rule.drop"       // a clause never holds; a default is gone
	DropElse       = "else.drop"       // what follows an else is gone
	DropExpression = "expression.drop" // a line of a body is true
	Negate         = "expression.not"  // not is put in front, or taken away

	SwapComparison = "comparison"   // == and !=, and the boundary of < <= > >=
	ChangeLiteral  = "literal"      // another word or text, a number one step up, true and false
	DropElement    = "element.drop" // an item of a written list, set or object

	SwapJoin       = "join"         // && and ||
	DropOperand    = "operand.drop" // one side of && or || is gone
	NegateQuestion = "not"          // ! is put in front, or taken away
	SwapQuantifier = "quantifier"   // exists and all
	AssumePresent  = "has"          // has(x) is true

	DropRow      = "row.drop"  // a rule, an access rule or a detector is gone
	DropItem     = "item.drop" // an item of a list; the last one of a list takes the list with it
	SwapVerdict  = "verdict"   // a decision, an effect or a cell one milder, one stricter
	ChangeNumber = "number"    // a number one step up, one step down
	ChangeWord   = "word"      // the word before or after it, where a fixed list of words is known
	FlipTruth    = "truth"     // true and false
)

// Operator is a way of changing a policy.
type Operator struct {
	In            string // a kind, or "rows, data"
	Name          string
	Does          string
	Before, After string // an example
}

// Operators lists all ways in which a policy is changed, as docs/mutation.md
// does.
func Operators() []Operator {
	const rows = "rows, data"
	return []Operator{
		{Rego, DropRule, "a clause never holds; a default is gone", `speaks contains "x" if {…}`, "(never)"},
		{Rego, DropElse, "what follows an else is gone", `else := "low"`, "(nothing)"},
		{Rego, DropExpression, "a line of a body, also of a comprehension or an every, is true", `input.phase == "pre"`, "true"},
		{Rego, Negate, "not is put in front, or taken away", "e.recursive", "not e.recursive"},
		{Rego, SwapComparison, "== and != for each other; of < <= > >= the boundary", "score >= 0.6", "score > 0.6"},
		{Rego, ChangeLiteral, "a word becomes the next of its vocabulary, or one that nobody uses; a number one step more; true and false", `"block"`, `"allow"`},
		{Rego, DropElement, "an item of a written list, set or object is left out", `{"R0", "R1"}`, `{"R1"}`},
		{Conditions, SwapJoin, "&& and || for each other", "a && b", "a || b"},
		{Conditions, DropOperand, "one side of && or || is left out", "a && b", "b"},
		{Conditions, NegateQuestion, "! is put in front, or taken away", `"x" in c.flags`, `!("x" in c.flags)`},
		{Conditions, SwapComparison, "== and != for each other; of < <= > >= the boundary", "n > 2", "n >= 2"},
		{Conditions, ChangeLiteral, "another text, a number one more, true and false", `"kubectl"`, `"kubectl~"`},
		{Conditions, SwapQuantifier, "exists and all for each other", "list.exists(x, …)", "list.all(x, …)"},
		{Conditions, AssumePresent, "has(x) is true", "has(history.call)", "true"},
		{Conditions, DropElement, "an item of a written list is left out, of the first five", `["a", "b"]`, `["b"]`},
		{rows, DropRow, "a rule, an access rule or a detector is gone, with its examples", "- id: shop.kubectl", "(left out)"},
		{rows, DropItem, "an item of a list is left out, of a list of more than five the first, the middle and the last; with the only one its key; a level of a measure", "[prod, production]", "[production]"},
		{rows, SwapVerdict, "a decision, an effect or a cell of the matrix one milder, one stricter", "decision: ask", "decision: warn"},
		{rows, ChangeNumber, "a threshold, a weight or a level one step up, one step down: by one, or by the last digit that is written", "high_threshold: 0.8", "0.9"},
		{rows, ChangeWord, "a word for which there is a fixed list: the one before it, the one after it", "level: medium", "level: high"},
		{rows, FlipTruth, "true and false", "always: true", "always: false"},
	}
}
