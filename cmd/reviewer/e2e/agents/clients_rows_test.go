package agents

// Reasons that hold for several clients.
const (
	silent  = "the client runs a call when a hook prints nothing that it can read and ends with status 0"
	fixed   = "the client ignores a changed input, so reviewer denies the call, or asks about it"
	slow    = "the client runs a call whose hook exceeds the timeout"
	aborts  = "the only denial that the client always obeys, `cancel`, ends its run"
	endless = "the turn continues whatever the hook answers; each later call is denied"
	ignored = "the client does not show the model what a hook says about a call that runs"
)

// clients lists the rows.
func clients() []Client {
	const tested, again = "2026-11-24", "2026-11-29"
	return []Client{
		{Name: "claude-code", Package: "@anthropic-ai/claude-code", Version: "2.1.332", Tested: again, CI: true,
			Program: "@anthropic-ai/claude-code-linux-x64/claude",
			Differs: map[string]Difference{
				"silent-0": ran(silent), "malformed": ran(silent),
			}},
		{Name: "codex", Package: "@openai/codex", Version: "0.171.0", Tested: again, CI: true,
			Program: "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
			Differs: map[string]Difference{
				"stop":     {Blocked, endless},
				"silent-0": ran(silent), "malformed": ran(silent), "text-before": ran(silent), "timeout": ran(slow),
			}},
		{Name: "gemini", Package: "@google/gemini-cli", Version: "0.61.0", Tested: tested, CI: true,
			Program: "@google/gemini-cli/bundle/gemini.js", Node: true,
			Differs: map[string]Difference{
				"ask":      {Ended, "the client ends its run when a hook asks and nobody is there to answer"},
				"context":  {Ran, ignored},
				"silent-0": ran(silent), "malformed": ran(silent), "text-before": ran(silent), "timeout": ran(slow),
			}},
		{Name: "copilot", Package: "@github/copilot", Version: "1.0.102", Tested: tested, CI: true,
			Program: "@github/copilot-linux-x64/copilot",
			Differs: map[string]Difference{
				"stop":     {Blocked, endless},
				"silent-0": ran(silent), "malformed": ran(silent), "text-before": ran(silent), "timeout": ran(slow),
			}},
		{Name: "opencode", Package: "opencode-ai", Version: "1.18.33", Tested: tested, CI: true,
			Program: "opencode-linux-x64/bin/opencode",
			Differs: map[string]Difference{"stop": {Blocked, endless}}},
		{Name: "qwen", Package: "@qwen-code/qwen-code", Version: "0.24.4", Tested: tested,
			Program: "@qwen-code/qwen-code/cli-entry.js", Node: true,
			Differs: map[string]Difference{
				"rewrite": {Told, fixed}, "context": {Ran, ignored}, "stop": {Blocked, endless},
				"silent-0": ran(silent), "malformed": ran(silent), "text-before": ran(silent), "timeout": ran(slow),
			}},
		{Name: "kimi", Package: "@moonshot-ai/kimi-code", Version: "2.1.0", Tested: tested,
			Program: "@moonshot-ai/kimi-code/dist/main.mjs", Node: true,
			Differs: map[string]Difference{
				"rewrite": {Told, fixed}, "context": {Ran, ignored}, "stop": {Blocked, endless},
				"silent-0": ran(silent), "malformed": ran(silent), "text-before": ran(silent), "timeout": ran(slow),
			}},
		{Name: "droid", Package: "@factory/cli-linux-x64", Version: "0.225.2", Tested: tested,
			Program: "@factory/cli-linux-x64/bin/droid",
			Differs: map[string]Difference{
				"context":  {Ran, ignored},
				"silent-0": ran(silent), "malformed": ran(silent), "text-before": ran(silent), "timeout": ran(slow),
			}},
		{Name: "cline", Package: "cline", Version: "3.0.65", Tested: tested, Program: "@cline/cli-linux-x64/bin/cline",
			Differs: map[string]Difference{
				"deadline": {Ended, aborts}, "missing": {Ended, aborts}, "killed": {Ended, aborts}, "exit-1": {Ended, aborts}, "silent-2": {Ended, aborts},
				"silent-0": ran(silent), "malformed": {Ended, aborts}, "text-before": {Ended, aborts},
				"timeout": ran("the client does not end a slow hook; it waits, and a program that then prints nothing lets the call run"),
			}},
		{Name: "pi", Package: "@mariozechner/pi-coding-agent", Version: "0.73.1", Tested: tested,
			Program: "@mariozechner/pi-coding-agent/dist/cli.js", Node: true,
			Differs: map[string]Difference{"stop": {Blocked, endless}}},
	}
}
