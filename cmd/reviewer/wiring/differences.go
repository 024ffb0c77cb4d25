package wiring

import (
	"maps"

	"github.com/agent-reviewer/reviewer/rego"
)

// RegoDifferences compares modules, and reads them only where they differ: that
// takes longer than to compare all else of two policies.
func RegoDifferences(before, after map[string]string) (map[string][2][]string, error) {
	if maps.Equal(before, after) {
		return nil, nil
	}
	return rego.Differences(before, after)
}
