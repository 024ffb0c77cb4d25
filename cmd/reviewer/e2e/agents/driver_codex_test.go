//go:build e2e && linux

package agents

import (
	"fmt"
	"path/filepath"
)

func codexDriver() driver {
	return driver{
		pre:       "PreToolUse",
		configure: configureCodex,
		args: func(*stage) []string {
			return []string{"exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "do it"}
		},
		env:   func(*stage) []string { return []string{"MODEL_KEY=k"} },
		shell: func(command string) Call { return Call{Tool: "exec_command", Input: fields{"cmd": command}} },
	}
}

func configureCodex(s *stage) {
	s.writeJSON(".codex/hooks.json", fields{"hooks": claudeHooks(s,
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart", "SubagentStop", "Stop", "SessionEnd")})
	s.write(filepath.Join(s.home, ".codex/config.toml"), fmt.Sprintf(`model = "gpt-5.5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "MODEL_KEY"
[projects.%q]
trust_level = "trusted"
`, s.model.URL(), s.project))
}

// claudeHooks are hooks in the form of Claude Code, which several clients share.
func claudeHooks(s *stage, events ...string) fields {
	hooks := fields{}
	for _, event := range events {
		hook := fields{"type": "command", "command": s.hook(event), "timeout": 30}
		if event == s.driver.pre {
			hook["timeout"] = s.timeout
		}
		if event == "SessionEnd" {
			hook["timeout"] = 3
		}
		hooks[event] = []fields{{"matcher": ".*", "hooks": []fields{hook}}}
	}
	return hooks
}
