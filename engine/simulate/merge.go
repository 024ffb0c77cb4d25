package simulate

// Add adds the sessions of another Impact of the same comparison.
func (m *Impact) Add(part *Impact) {
}

// Merge puts the shards of one comparison together again. The result does not
// depend on their order. It refuses parts of other comparisons, and an
// incomplete set.
func Merge(parts []*Impact) (*Impact, error) {
	return nil, nil
}
