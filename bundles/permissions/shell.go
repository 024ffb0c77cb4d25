package permissions

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// quoted matches the quoted parts of a command.
var quoted = engine.Regexp(`"[^"]*(?:"|$)|'[^']*(?:'|$)`)

// shell reads the pattern of a rule for Bash: * matches anything, and a space before a
// final * requires the end of a word. A final :* is the same.
func (r rule) shell() match {
	pattern := r.spec
	if command, ok := strings.CutSuffix(pattern, ":*"); ok {
		if strings.Contains(command, "*") {
			return match{why: "the meaning of another * besides :* at the end is unknown: write a space and * there"}
		}
		pattern = command + " *"
	}
	bare := quoted().ReplaceAllString(pattern, "")
	switch {
	case strings.Trim(pattern, "* ") == "":
		return match{why: "it matches every command: write Bash"}
	case strings.TrimSpace(pattern) != pattern:
		return match{why: "it begins or ends with a space, and no command does: remove it"}
	case strings.Contains(pattern, `\`):
		return match{why: `the meaning of \ in a rule is unknown`}
	case strings.ContainsFunc(pattern, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return match{why: "it contains a control character"}
	case strings.ContainsAny(bare, ";&|<>`") || strings.Contains(bare, "$("):
		return match{why: "Claude Code compares each command of a compound one by itself, without redirections: write a rule for each"}
	case r.allow:
		return match{tools: []string{"Bash"}, commands: []string{pattern}}
	}
	return match{tools: []string{"Bash", "Monitor"}, commands: []string{pattern}} // Monitor runs commands too
}
