package classify

import (
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Actions lists the dotted names that actions have. One that ends in * stands
// for all that begin so: the tools of MCP servers, and those that are not known.
func Actions(known engine.Rows) []string {
	set := setOf(known)
	names := map[string]bool{"mcp.*": true, "unknown.*": true}
	for _, name := range set.NamesIn(rows.ToolsFolder) {
		if action := toolOf(set, name).action; action != "" {
			names[action] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
