package classify

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// Whatever tool is called, its action has a name that is listed.
func TestActionsListsEveryName(t *testing.T) {
	set := classifytest.Rows()
	names := Actions(set)
	listed := func(name string) bool {
		return slices.ContainsFunc(names, func(n string) bool {
			family, open := strings.CutSuffix(n, "*")
			return n == name || open && strings.HasPrefix(name, family)
		})
	}
	tools := []string{"mcp__github__create_issue", "mcp__x", "NoSuchTool", ""}
	for name := range Tools(set) {
		tools = append(tools, name)
	}
	for _, tool := range tools {
		if got := read(tool, map[string]any{}, shell.Input{Rows: set}).tool.action; !listed(got) {
			t.Errorf("%s: the action %q is not listed", tool, got)
		}
	}
	if listed("filesytem.write") || len(names) < 10 {
		t.Errorf("Actions() = %v", names)
	}
}
