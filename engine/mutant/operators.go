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
