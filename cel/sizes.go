package cel

import (
	"strings"

	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"

	"github.com/agent-reviewer/reviewer/engine"
)

// sizes limits the size of inputs, for the static cost of an expression. Event
// and action share engine.MaxFacts bytes, and so do all strings in all items of
// a list: a string in an item is assumed to be as long as it can be on average
// when there are maxItems of them.
type sizes struct{}

const (
	maxItems = 256 // of a list or map of facts: an item takes at least 20 bytes of a record
	maxInner = 4   // of a list inside such an item, on average
)

// maxNumber is the maximum number of characters of a number.
const maxNumber = 24

// EstimateCallCost estimates the length of a number as a string, and leaves other calls to their own
// models.
func (sizes) EstimateCallCost(_, overload string, _ *cost.AstNode, _ []cost.AstNode) *cost.CallEstimate {
	switch overload {
	case overloads.IntToString, overloads.UintToString, overloads.DoubleToString, overloads.BoolToString:
		return cost.NewCallEstimate(cost.Estimate{Min: 1, Max: 1}, &cost.SizeEstimate{Min: 1, Max: maxNumber})
	}
	return nil
}

// EstimateSize bounds the size of a value by its type and by the number of lists around it.
func (sizes) EstimateSize(n cost.AstNode) *cost.SizeEstimate {
	depth := 0
	for _, step := range n.Path() {
		if strings.HasPrefix(step, "@") {
			depth++
		}
	}
	if len(n.Path()) == 0 || depth > 2 {
		return nil // nothing is known; the expression gets a limit at run time
	}
	most := uint64(engine.MaxFacts)
	switch n.Type().Kind() {
	case types.ListKind, types.MapKind:
		most = [...]uint64{maxItems, maxInner, 1}[depth]
	default:
		most /= [...]uint64{1, maxItems, maxItems * maxInner}[depth]
	}
	return &cost.SizeEstimate{Min: 0, Max: most}
}
