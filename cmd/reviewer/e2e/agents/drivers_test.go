//go:build e2e && linux

package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A driver is how one client is started and configured.
type driver struct {
	pre string // the name of the event before a call, as in the hook's command

	configure func(s *stage) // makes the client use the scripted model
	file      string         // in the home, with the time-out of the hook before a call; empty: there is none

	// hooks writes the hooks of a client that `reviewer install` does not know yet.
	hooks func(s *stage)

	args  []string
	env   func(s *stage) []string
	shell func(command string) Call
}

// drivers contains one for each row of clients.
func drivers() map[string]driver {
	return map[string]driver{"claude-code": claudeDriver(), "codex": codexDriver(), "gemini": geminiDriver(), "copilot": copilotDriver(), "opencode": openCodeDriver(),
		"qwen": qwenDriver(), "kimi": kimiDriver(), "droid": droidDriver(), "cline": clineDriver(), "pi": piDriver()}
}

// shell makes a call of a tool that runs a command.
func shell(tool string, more fields) func(string) Call {
	return func(command string) Call { return Call{Tool: tool, Input: with(more, fields{"command": command})} }
}

func claudeDriver() driver {
	return driver{
		pre: "PreToolUse", file: ".claude/settings.json",
		configure: func(*stage) {},
		args:      []string{"-p", "do it", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"},
		env: func(s *stage) []string {
			return []string{"ANTHROPIC_API_KEY=scripted", "ANTHROPIC_BASE_URL=" + s.model.URL(), "IS_SANDBOX=1", // root may not bypass permissions otherwise
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1"}
		},
		shell: shell("Bash", fields{"description": "mark"}),
	}
}

func codexDriver() driver {
	return driver{
		pre: "PreToolUse", file: ".codex/hooks.json",
		configure: func(s *stage) {
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
		},
		args:  []string{"exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "do it"},
		env:   func(*stage) []string { return []string{"MODEL_KEY=k"} },
		shell: func(command string) Call { return Call{Tool: "exec_command", Input: fields{"cmd": command}} },
	}
}

func geminiDriver() driver {
	return driver{
		pre: "BeforeTool", file: ".gemini/settings.json",
		configure: func(s *stage) {
			s.writeJSON(".gemini/settings.json", geminiSettings("gemini-api-key"))
		},
		args: []string{"--yolo", "-m", "gemini-2.5-flash", "--output-format", "stream-json", "-p", "do it"},
		env: func(s *stage) []string {
			return []string{"GEMINI_API_KEY=k", "GOOGLE_GEMINI_BASE_URL=" + s.model.URL(), "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true"}
		},
		shell: shell("run_shell_command", fields{"description": "mark"}),
	}
}

// geminiSettings choose the kind of key, and switch off what would use a network.
func geminiSettings(key string) fields {
	return fields{"security": fields{"auth": fields{"selectedType": key}}, "privacy": fields{"usageStatisticsEnabled": false},
		"general": fields{"disableAutoUpdate": true, "enableAutoUpdate": false}, "telemetry": fields{"enabled": false}}
}

func qwenDriver() driver {
	return driver{
		pre: "PreToolUse", file: ".qwen/settings.json",
		configure: func(s *stage) { s.writeJSON(".qwen/settings.json", geminiSettings("openai")) },
		args:      []string{"--approval-mode", "yolo", "-m", modelName, "--output-format", "stream-json", "do it"},
		env: func(s *stage) []string {
			return []string{"OPENAI_API_KEY=scripted-key-0001", "OPENAI_BASE_URL=" + s.model.URL() + "/v1", "OPENAI_MODEL=" + modelName}
		},
		shell: shell("run_shell_command", fields{"description": "mark", "is_background": false}),
	}
}

func copilotDriver() driver {
	return driver{
		pre: "preToolUse", file: ".copilot/hooks/reviewer.json",
		configure: func(s *stage) {
			// The client unpacks itself there: once for all runs, not once for each.
			shared := filepath.Join(s.client.Dir, "unpacked")
			s.must(os.MkdirAll(shared, 0o755))
			s.must(os.MkdirAll(filepath.Join(s.home, ".cache"), 0o755))
			s.must(os.Symlink(shared, filepath.Join(s.home, ".cache/copilot")))
		},
		args: []string{"-p", "do it", "--no-auto-update", "--output-format", "json", "--trust-folder", "--allow-all-tools", "--allow-all-paths"},
		env: func(s *stage) []string {
			return []string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + s.model.URL() + "/v1", "COPILOT_PROVIDER_API_KEY=scripted-key-0001",
				"COPILOT_MODEL=" + modelName, "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=100000", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS=8000"}
		},
		shell: shell("bash", fields{"description": "mark", "mode": "sync", "initial_wait": 10}),
	}
}

func openCodeDriver() driver {
	return driver{
		pre: "PreToolUse", file: ".config/opencode/plugins/reviewer.js",
		configure: func(s *stage) {
			model := fields{"name": modelName, "tool_call": true, "limit": fields{"context": 100000, "output": 8000}}
			s.writeJSON(".config/opencode/opencode.json", fields{"autoupdate": false, "share": "disabled",
				"model": "scripted/" + modelName, "small_model": "scripted/" + modelName,
				"provider": fields{"scripted": fields{"npm": "@ai-sdk/openai-compatible", "name": "scripted",
					"options": fields{"baseURL": s.model.URL() + "/v1", "apiKey": "k"}, "models": fields{modelName: model}}}})
			s.giveModules(".config/opencode", "@opencode-ai/plugin", s.client.Version)
		},
		hooks: func(s *stage) { s.plugin("opencode.js", "import { resolve } from \"node:path\";\n") },
		args:  []string{"run", "--format", "json", "--auto", "do it"},
		env: func(s *stage) []string {
			return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
				"OPENCODE_DISABLE_DEFAULT_PLUGINS=1"}
		},
		shell: shell("bash", fields{"description": "mark"}),
	}
}

// giveModules puts a package from the cache into a folder of the home. The client would fetch
// it at each start, and wait for it.
func (s *stage) giveModules(folder, pkg, version string) {
	s.Helper()
	modules, err := fetch(s.Context(), strings.ReplaceAll(strings.TrimPrefix(pkg, "@"), "/", "-"), pkg, version)
	s.must(err)
	s.must(os.Symlink(modules, filepath.Join(s.home, folder, "node_modules")))
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(modules), name))
		s.must(err)
		s.write(filepath.Join(s.home, folder, name), string(text))
	}
}

// plugin writes the module of a client that loads code of its own.
func (s *stage) plugin(name, imports string) {
	s.Helper()
	s.write(filepath.Join(s.state, "policy", "settings.yaml"), "enforcement: enforce\n")
	const folder = "../../../../engine/harness/plugin/"
	hook, err := os.ReadFile(folder + "hook.js")
	s.must(err)
	code, err := os.ReadFile(folder + name)
	s.must(err)
	limits := `{"PreToolUse":60000,"PostToolUse":60000,"PostToolUseFailure":60000,"SessionStart":30000,"UserPromptSubmit":30000,` +
		`"SubagentStart":30000,"SubagentStop":30000,"Stop":30000,"SessionEnd":5000}`
	s.write(filepath.Join(s.home, s.driver.file), fmt.Sprintf("import { spawn } from \"node:child_process\";\n%sconst command = [%q, \"hook\", %q, \"--home\", %q];\n"+
		"const deadlines = %s;\n%s%s", imports, s.reviewer, s.client.Name, s.state, limits, hook, code))
}

func kimiDriver() driver {
	return driver{
		pre: "PreToolUse", file: ".kimi-code/config.toml",
		configure: func(s *stage) {
			s.write(filepath.Join(s.home, ".kimi-code/config.toml"), fmt.Sprintf(`default_model = "scripted"
telemetry = false
[providers.scripted]
type = "openai"
base_url = "%s/v1"
api_key = "scripted-key-0001"
[models.scripted]
provider = "scripted"
model = "%s"
max_context_size = 100000
`, s.model.URL(), modelName))
		},
		args:  []string{"--output-format", "stream-json", "-p", "do it"},
		env:   func(s *stage) []string { return []string{"KIMI_DISABLE_TELEMETRY=1"} },
		shell: shell("Bash", nil),
	}
}

func droidDriver() driver {
	return driver{
		pre: "PreToolUse", file: ".factory/hooks.json",
		configure: func(s *stage) {
			s.writeJSON(".factory/settings.json", fields{"customModels": []fields{{"model": modelName, "displayName": "scripted",
				"baseUrl": s.model.URL() + "/v1", "apiKey": "scripted-key-0001", "provider": "generic-chat-completion-api", "maxOutputTokens": 8000}}})
		},
		args:  []string{"exec", "--skip-permissions-unsafe", "-m", "custom:" + modelName, "-o", "json", "do it"},
		env:   func(*stage) []string { return []string{"FACTORY_DROID_AUTO_UPDATE_ENABLED=false"} },
		shell: shell("Execute", fields{"summary": "x", "riskLevelReason": "x", "riskLevel": "low"}),
	}
}

func clineDriver() driver {
	return driver{
		pre: "PreToolUse", // there is no time-out
		configure: func(s *stage) {
			out, err := s.command("auth", "-p", "openai-compatible", "-k", "scripted-key-0001", "-b", s.model.URL()+"/v1", "-m", modelName).CombinedOutput()
			if err != nil {
				s.Fatalf("choose the model: %v\n%s", err, out)
			}
		},
		args: []string{"--json", "-P", "openai-compatible", "-m", modelName, "do it"},
		env:  func(*stage) []string { return []string{"CLINE_TELEMETRY_DISABLED=1", "CLINE_NO_AUTO_UPDATE=1"} },
		shell: func(command string) Call {
			return Call{Tool: "run_commands", Input: fields{"commands": []string{command}}}
		},
	}
}

func piDriver() driver {
	return driver{
		pre: "PreToolUse", file: ".pi/agent/extensions/reviewer.ts",
		configure: func(s *stage) {
			model := fields{"id": modelName, "name": modelName, "reasoning": false, "input": []string{"text"}, "contextWindow": 100000, "maxTokens": 8000,
				"cost": fields{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
			s.writeJSON(".pi/agent/models.json", fields{"providers": fields{"scripted": fields{"baseUrl": s.model.URL() + "/v1",
				"api": "openai-completions", "apiKey": "scripted-key-0001", "models": []fields{model}}}})
		},
		hooks: func(s *stage) { s.plugin("pi.js", "") },
		args:  []string{"--provider", "scripted", "--model", modelName, "--mode", "json", "-p", "do it"},
		env:   func(*stage) []string { return []string{"PI_OFFLINE=1"} },
		shell: shell("bash", nil),
	}
}
