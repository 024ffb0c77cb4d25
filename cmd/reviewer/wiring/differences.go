package wiring

import (
	"maps"

	"github.com/agent-reviewer/reviewer/rego"
)

// RegoDifferences compares modules, and parses them only if they differ, because that
// is slow.
func RegoDifferences(before, after map[string]string) (map[string][2][]string, error) {
	if maps.Equal(before, after) {
		return nil, nil
	}
	return rego.Differences(before, after)
}
