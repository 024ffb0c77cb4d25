package settings

import _ "embed" // the admin policy

// geminiPolicyMark is in the admin policy that reviewer writes for Gemini CLI.
const geminiPolicyMark = "# written by `reviewer install gemini --managed`"

// geminiRules is an admin policy of Gemini CLI.
//
//go:embed gemini_policy.toml
var geminiRules string

func geminiPolicy(HookCommand) (string, error) { return geminiRules, nil }
