package wiring

import (
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
)

// UnknownTool returns an error if no tool has the name, without a place; nil: a tool has it, it is
// an MCP server's, or the event has no tool. A test of a misspelt tool tests nothing.
func UnknownTool(known engine.Rows, tool string) *engine.Problem {
	if tool == "" || classify.KnowsTool(known, tool) || strings.HasPrefix(tool, "mcp__") {
		return nil
	}
	names := slices.Sorted(maps.Keys(classify.Tools(known)))
	if len(names) == 0 {
		return nil // a policy of its own that knows no tools
	}
	w := &engine.Problem{Code: "case.tool", Message: "no known tool has this name"}
	w.ExpectOneOf(tool, names)
	if w.Suggestion == "" {
		w.Expected = "a tool of the agent such as Bash, or mcp__server__tool"
	}
	return w
}
