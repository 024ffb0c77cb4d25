package classify

import (
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Places reports what the texts of a tool's argument are, at whatever depth it
// stands. A tool that is not known may write any of its arguments. The text
// that an edit replaces is in no place: it is there already, and goes.
func Places(known engine.Rows) func(name, argument string) []engine.Place {
	set := setOf(known)
	return func(name, argument string) []engine.Place {
		t := toolOf(set, name)
		content := slices.Contains(t.contents, argument) || slices.ContainsFunc(t.args, func(a toolArg) bool {
			return a.name == argument && (a.role == rows.RoleText || a.role == rows.RolePrivate || a.role == rows.RoleCode)
		})
		switch {
		case !t.known:
			return []engine.Place{engine.PlaceArguments, engine.PlaceContents}
		case content && argument == "old_string":
			return nil
		case content:
			return []engine.Place{engine.PlaceContents}
		}
		return []engine.Place{engine.PlaceArguments}
	}
}

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
