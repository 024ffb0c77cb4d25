package safeclaw

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/foreign"
)

// Renamed maps tools that are unknown to SafeClaw, and so named unknown.X there, to
// the names of their actions here.
func Renamed() map[string]string {
	return map[string]string{
		"PowerShell": "code.exec", "Monitor": "code.exec", "KillShell": "code.exec.kill", "KillBash": "code.exec.kill",
		"NotebookRead": "safe.read.file", "LSP": "safe.read.file", "LS": "safe.read.glob", "BashOutput": "safe.read.meta",
		"TaskCreate": "safe.read.meta", "TaskUpdate": "safe.read.meta", "TaskGet": "safe.read.meta", "TaskList": "safe.read.meta",
		"ToolSearch": "safe.read.meta", "ListAgents": "safe.read.meta", "ReadMcpResourceDirTool": "safe.read.meta",
		"MultiEdit": "filesystem.write", "EnterWorktree": "filesystem.write", "ExitWorktree": "filesystem.write",
		"Agent": "agent.subagent", "Workflow": "agent.workflow", "SendMessage": "agent.message", "SendUserMessage": "agent.message",
		"CronCreate": "agent.schedule", "CronDelete": "agent.schedule", "ScheduleWakeup": "agent.schedule", "RemoteTrigger": "agent.schedule",
		"Artifact": "network.share", "SendUserFile": "network.share", "PushNotification": "network.message",
	}
}

// names notes predicates on action.type with a name that is different here.
func (m *importer) names(rule string, v foreign.Value) {
	for _, word := range words(v) {
		if strings.HasPrefix(word, "mcp.") && strings.Count(word, ".") > 2 {
			m.deepMCP = true
		}
		tool, ok := strings.CutPrefix(word, "unknown.")
		if name := Renamed()[tool]; name != "" {
			m.policy.Note(rule, v.Line, "calls of %s are named %s here, not %s: add that name if the rule is meant for them", tool, name, word)
		} else if (ok || word == "unknown") && unknownTools(word) != "" && !m.unknown {
			m.unknown = true
			m.policy.Note(rule, v.Line,
				"some tools that SafeClaw calls unknown have names of their own here, and the rule does not apply to them: %s", unknownTools(word))
		}
	}
}

func words(v foreign.Value) []string {
	items, ok := v.List()
	if !ok {
		items = []foreign.Value{v}
	}
	var out []string
	for _, item := range items {
		text, _ := item.Text()
		for _, part := range strings.Split(text, ",") {
			out = append(out, strings.Trim(part, " ^$"))
		}
	}
	return out
}

// unknownTools lists tools that begin with a word in SafeClaw, with their names
// here.
func unknownTools(word string) string {
	var list []string
	for _, tool := range slices.Sorted(maps.Keys(Renamed())) {
		if strings.HasPrefix("unknown."+tool, word) {
			list = append(list, fmt.Sprintf("%s (%s)", tool, Renamed()[tool]))
		}
	}
	return strings.Join(list, ", ")
}
