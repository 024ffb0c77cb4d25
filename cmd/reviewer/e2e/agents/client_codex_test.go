package agents

func codexClient() Client {
	silent := "the client runs a call when a hook prints nothing, or something that it cannot read, and ends with status 0"
	return Client{Name: "codex", Package: "@openai/codex", Version: "0.169.0", Tested: "2026-11-23", CI: true,
		Program: "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
		Differs: map[string]Difference{
			stopCell:      {Blocked, "`continue: false` does not end the turn; each later call is denied"},
			"silent-0":    ran(silent),
			"malformed":   ran(silent),
			"text-before": ran(silent),
			"timeout":     ran("the client runs a call whose hook exceeds the time-out"),
		}}
}
