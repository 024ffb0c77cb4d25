package trial

import (
	"github.com/agent-reviewer/reviewer/bundles/mutate"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/rego"
)

// Operator is a way of changing a policy.
type Operator struct {
	In            string // rego, conditions, or rows and data
	Name          string
	Does          string
	Before, After string // an example
}

// Operators lists all ways in which a policy is changed, as docs/mutation.md
// does.
func Operators() []Operator {
	const rows = "rows, data"
	return []Operator{
		{mutantRego, rego.DropRule, "a clause never holds; a default is gone", `speaks contains "x" if {…}`, "(never)"},
		{mutantRego, rego.DropElse, "what follows an else is gone", `else := "low"`, "(nothing)"},
		{mutantRego, rego.DropExpression, "a line of a body, also of a comprehension or an every, is true", `input.phase == "pre"`, "true"},
		{mutantRego, rego.Negate, "not is put in front, or taken away", "e.recursive", "not e.recursive"},
		{mutantRego, rego.SwapComparison, "== and != for each other; of < <= > >= the boundary", "score >= 0.6", "score > 0.6"},
		{mutantRego, rego.ChangeLiteral, "a word becomes the next of its vocabulary, or one that nobody uses; a number one step more; true and false", `"block"`, `"allow"`},
		{mutantRego, rego.DropElement, "an item of a written list, set or object is left out", `{"R0", "R1"}`, `{"R1"}`},
		{mutantCondition, cel.SwapJoin, "&& and || for each other", "a && b", "a || b"},
		{mutantCondition, cel.DropOperand, "one side of && or || is left out", "a && b", "b"},
		{mutantCondition, cel.NegateQuestion, "! is put in front, or taken away", `"x" in c.flags`, `!("x" in c.flags)`},
		{mutantCondition, cel.SwapComparison, "== and != for each other; of < <= > >= the boundary", "n > 2", "n >= 2"},
		{mutantCondition, cel.ChangeLiteral, "another text, a number one more, true and false", `"kubectl"`, `"kubectl~"`},
		{mutantCondition, cel.SwapQuantifier, "exists and all for each other", "list.exists(x, …)", "list.all(x, …)"},
		{mutantCondition, cel.AssumePresent, "has(x) is true", "has(history.call)", "true"},
		{mutantCondition, cel.DropElement, "an item of a written list is left out, of the first five", `["a", "b"]`, `["b"]`},
		{rows, mutate.DropRow, "a rule, an access rule or a detector is gone, with its examples", "- id: shop.kubectl", "(left out)"},
		{rows, mutate.DropItem, "an item of a list is left out, of a list of more than five the first, the middle and the last; with the only one its key; a level of a measure", "[prod, production]", "[production]"},
		{rows, mutate.SwapVerdict, "a decision, an effect or a cell of the matrix one milder, one stricter", "decision: ask", "decision: warn"},
		{rows, mutate.ChangeNumber, "a threshold, a weight or a level one step up, one step down: by one, or by the last digit that is written", "high_threshold: 0.8", "0.9"},
		{rows, mutate.ChangeWord, "a word for which there is a fixed list: the one before it, the one after it", "level: medium", "level: high"},
		{rows, mutate.FlipTruth, "true and false", "always: true", "always: false"},
	}
}
