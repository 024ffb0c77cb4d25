package classify

import (
	"maps"
	"slices"
)

// Actions lists the dotted names that actions have. One that ends in * stands
// for all that begin so: the tools of MCP servers, and those that are not known.
func Actions() []string {
	names := map[string]bool{"mcp.*": true, "unknown.*": true}
	for _, t := range builtins {
		names[t.action] = true
	}
	return slices.Sorted(maps.Keys(names))
}
