package wiring

import (
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
)

// UnknownTool says that no tool is called so, without a place; nil: one is, it is
// a server's, or the event has none. A test of a misspelt tool tests nothing.
func UnknownTool(rows engine.Rows, tool string) *engine.Problem {
	if tool == "" || classify.KnowsTool(rows, tool) || strings.HasPrefix(tool, "mcp__") {
		return nil
	}
	known := slices.Sorted(maps.Keys(classify.Tools(rows)))
	if len(known) == 0 {
		return nil // a policy of its own that knows no tools
	}
	w := &engine.Problem{Code: "case.tool", Message: "no tool that is known has this name"}
	w.NotOneOf(tool, known)
	if w.Suggestion == "" {
		w.Expected = "a tool of the agent such as Bash, or mcp__server__tool"
	}
	return w
}
