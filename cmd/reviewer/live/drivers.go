package live

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/scripted"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// modelKey is long, since some agents mask each place where their key is in a string.
const modelKey = "scripted-key-0001"

// fields is a JSON object.
type fields map[string]any

// Drivers lists the agents that can be started without an account.
func Drivers() []Driver {
	return []Driver{claudeCode(), codex(), gemini(), copilot(), qwen(), kimi(), droid(), cline(), openCode(), pi()}
}

// shell makes a call of a tool whose command is in the argument of that name.
func shell(tool string, more fields) func(string) scripted.Call {
	return func(command string) scripted.Call {
		input := fields{"command": command}
		for name, value := range more {
			input[name] = value
		}
		return scripted.Call{Tool: tool, Input: input}
	}
}

// write makes a file in the home.
func (p Place) write(name, text string) error {
	path := filepath.Join(p.Home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("configure the agent: %w", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("configure the agent: %w", err)
	}
	return nil
}

func (p Place) writeJSON(name string, doc any) error {
	raw, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("configure the agent: %w", err)
	}
	return p.write(name, string(raw))
}

func claudeCode() Driver {
	return Driver{Agent: harness.ClaudeCode,
		Args: []string{"-p", "do it", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"},
		Env: func(p Place) []string {
			return []string{"ANTHROPIC_API_KEY=scripted", "ANTHROPIC_BASE_URL=" + p.URL, "IS_SANDBOX=1", // root may not bypass permissions otherwise
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1"}
		},
		Shell: shell("Bash", fields{"description": "mark"}),
	}
}

func codex() Driver {
	return Driver{Agent: harness.Codex,
		Configure: func(p Place) error {
			return p.write(".codex/config.toml", fmt.Sprintf(`model = "gpt-5.5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "MODEL_KEY"
[projects.%q]
trust_level = "trusted"
`, p.URL, p.Project))
		},
		Args: []string{"exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "do it"},
		Env:  func(Place) []string { return []string{"MODEL_KEY=k"} },
		Shell: func(command string) scripted.Call {
			return scripted.Call{Tool: "exec_command", Input: fields{"cmd": command}}
		},
	}
}

func gemini() Driver {
	return Driver{Agent: harness.Gemini,
		Configure: func(p Place) error { return p.writeJSON(".gemini/settings.json", geminiSettings("gemini-api-key")) },
		Args:      []string{"--yolo", "-m", "gemini-2.5-flash", "--output-format", "stream-json", "-p", "do it"},
		Env: func(p Place) []string {
			return []string{"GEMINI_API_KEY=k", "GOOGLE_GEMINI_BASE_URL=" + p.URL, "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true"}
		},
		Shell: shell("run_shell_command", fields{"description": "mark"}),
	}
}

// geminiSettings choose the kind of key, and turn off what would use a network.
func geminiSettings(key string) fields {
	return fields{"security": fields{"auth": fields{"selectedType": key}}, "privacy": fields{"usageStatisticsEnabled": false},
		"general": fields{"disableAutoUpdate": true, "enableAutoUpdate": false}, "telemetry": fields{"enabled": false}}
}

func qwen() Driver {
	return Driver{Agent: harness.Qwen,
		Configure: func(p Place) error { return p.writeJSON(".qwen/settings.json", geminiSettings("openai")) },
		Args:      []string{"--approval-mode", "yolo", "-m", scripted.ModelName, "--output-format", "stream-json", "do it"},
		Env: func(p Place) []string {
			return []string{"OPENAI_API_KEY=" + modelKey, "OPENAI_BASE_URL=" + p.URL + "/v1", "OPENAI_MODEL=" + scripted.ModelName}
		},
		Shell: shell("run_shell_command", fields{"description": "mark", "is_background": false}),
	}
}

func copilot() Driver {
	return Driver{Agent: harness.Copilot,
		Args: []string{"-p", "do it", "--no-auto-update", "--output-format", "json", "--trust-folder", "--allow-all-tools", "--allow-all-paths"},
		Env: func(p Place) []string {
			return []string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + p.URL + "/v1", "COPILOT_PROVIDER_API_KEY=" + modelKey,
				"COPILOT_MODEL=" + scripted.ModelName, "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=100000", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS=8000"}
		},
		Shell: shell("bash", fields{"description": "mark", "mode": "sync", "initial_wait": 10}),
	}
}

func openCode() Driver {
	return Driver{Agent: harness.OpenCode,
		Configure: func(p Place) error {
			// It installs a package for its plugins at each start. Here there is no network, so that fails; each
			// further attempt would take up to a minute.
			if err := p.write(".npmrc", "fetch-retries=0\n"); err != nil {
				return err
			}
			model := fields{"name": scripted.ModelName, "tool_call": true, "limit": fields{"context": 100000, "output": 8000}}
			return p.writeJSON(".config/opencode/opencode.json", fields{"autoupdate": false, "share": "disabled",
				"model": "scripted/" + scripted.ModelName, "small_model": "scripted/" + scripted.ModelName,
				"provider": fields{"scripted": fields{"npm": "@ai-sdk/openai-compatible", "name": "scripted",
					"options": fields{"baseURL": p.URL + "/v1", "apiKey": "k"}, "models": fields{scripted.ModelName: model}}}})
		},
		Args: []string{"run", "--format", "json", "--auto", "do it"},
		Env: func(Place) []string {
			return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
				"OPENCODE_DISABLE_DEFAULT_PLUGINS=1"}
		},
		Shell: shell("bash", fields{"description": "mark"}),
	}
}

func kimi() Driver {
	return Driver{Agent: harness.Kimi,
		Configure: func(p Place) error {
			return p.write(".kimi-code/config.toml", fmt.Sprintf(`default_model = "scripted"
telemetry = false
[providers.scripted]
type = "openai"
base_url = "%s/v1"
api_key = "%s"
[models.scripted]
provider = "scripted"
model = "%s"
max_context_size = 100000
`, p.URL, modelKey, scripted.ModelName))
		},
		Args:  []string{"--output-format", "stream-json", "-p", "do it"},
		Env:   func(Place) []string { return []string{"KIMI_DISABLE_TELEMETRY=1"} },
		Shell: shell("Bash", nil),
	}
}

func droid() Driver {
	return Driver{Agent: harness.Droid,
		Configure: func(p Place) error {
			return p.writeJSON(".factory/settings.json", fields{"customModels": []fields{{"model": scripted.ModelName, "displayName": "scripted",
				"baseUrl": p.URL + "/v1", "apiKey": modelKey, "provider": "generic-chat-completion-api", "maxOutputTokens": 8000}}})
		},
		Args:  []string{"exec", "--skip-permissions-unsafe", "-m", "custom:" + scripted.ModelName, "-o", "json", "do it"},
		Env:   func(Place) []string { return []string{"FACTORY_DROID_AUTO_UPDATE_ENABLED=false"} },
		Shell: shell("Execute", fields{"summary": "x", "riskLevelReason": "x", "riskLevel": "low"}),
	}
}

func cline() Driver {
	return Driver{Agent: harness.Cline,
		Setup: func(p Place) []string {
			return []string{"auth", "-p", "openai-compatible", "-k", modelKey, "-b", p.URL + "/v1", "-m", scripted.ModelName}
		},
		Args: []string{"--json", "-P", "openai-compatible", "-m", scripted.ModelName, "do it"},
		Env:  func(Place) []string { return []string{"CLINE_TELEMETRY_DISABLED=1", "CLINE_NO_AUTO_UPDATE=1"} },
		Shell: func(command string) scripted.Call {
			return scripted.Call{Tool: "run_commands", Input: fields{"commands": []string{command}}}
		},
	}
}

func pi() Driver {
	return Driver{Agent: harness.Pi,
		Configure: func(p Place) error {
			model := fields{"id": scripted.ModelName, "name": scripted.ModelName, "reasoning": false, "input": []string{"text"},
				"contextWindow": 100000, "maxTokens": 8000, "cost": fields{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
			return p.writeJSON(".pi/agent/models.json", fields{"providers": fields{"scripted": fields{"baseUrl": p.URL + "/v1",
				"api": "openai-completions", "apiKey": modelKey, "models": []fields{model}}}})
		},
		Args:  []string{"--provider", "scripted", "--model", scripted.ModelName, "--mode", "json", "-p", "do it"},
		Env:   func(Place) []string { return []string{"PI_OFFLINE=1"} },
		Shell: shell("bash", nil),
	}
}
