package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Tools lists the tools of agents in the rows of a policy, each with the names of the
// arguments that have a meaning, sorted. MCP tools and patterns are left out.
func Tools(known engine.Rows) map[string][]string {
	set, all := setOf(known), map[string][]string{}
	for _, name := range set.NamesIn(rows.ToolsFolder) {
		if strings.HasPrefix(name, "mcp__") || strings.HasSuffix(name, "*") || !toolOf(set, name).known {
			continue
		}
		t := toolOf(set, name)
		args := append(slices.Clone(t.resource), t.contents...)
		for _, a := range t.args {
			args = append(args, a.name)
		}
		slices.Sort(args)
		all[name] = slices.Compact(args)
	}
	return all
}

// KnowsTool reports whether the rows of a policy contain a tool.
func KnowsTool(known engine.Rows, name string) bool { return toolOf(setOf(known), name).known }

// setOf returns the rows of a policy; nil: it has none.
func setOf(known engine.Rows) *rows.Set {
	set, _ := known.(*rows.Set)
	return set
}
