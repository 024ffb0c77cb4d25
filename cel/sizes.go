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
type sizes struct {
	names *Names // the settings, whose sizes are known
}

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

// EstimateSize bounds the size of a value by its type and by the number of lists around it. That of a setting is
// known.
func (s sizes) EstimateSize(n cost.AstNode) *cost.SizeEstimate {
	if most := s.setting(n.Path()); most > 0 {
		return &cost.SizeEstimate{Min: 0, Max: most}
	}
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

// setting returns the size of a setting, or the largest of its items, by the path to it; 0: it is not one.
func (s sizes) setting(path []string) uint64 {
	if s.names == nil || len(path) == 0 {
		return 0
	}
	of := path
	item := strings.HasPrefix(path[len(path)-1], "@")
	if item {
		of = path[:len(path)-1]
	}
	name, is := strings.CutPrefix(strings.Join(of, "."), "data.")
	if !is {
		return 0
	}
	v, _ := s.names.setting(name)
	list, isList := v.([]any)
	switch text, isText := v.(string); {
	case isText:
		return uint64(len(text)) + 1
	case !isList:
		return 0
	case !item:
		return uint64(len(list)) + 1
	}
	longest := 0
	for _, one := range list {
		text, _ := one.(string)
		longest = max(longest, len(text))
	}
	return uint64(longest) + 1
}
