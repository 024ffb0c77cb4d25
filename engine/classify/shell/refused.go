package shell

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Code that bash cannot parse is not harmless for that: the person's shell may
// be another one. But there are lines that none of them runs: the name of a key
// in angle brackets, a call as other languages write it. People and manuals
// write them down among commands.
var (
	keyNames   = engine.Regexp(`^(<[^<>|&;$()\x60\n]*>\s*)+$`)
	callOfCode = engine.Regexp(`^[\pL_][\pL\pN_.]*\([^|&;$<>\x60\n]*\);?$`)
)

// refused reports whether no shell runs anything of a text. zsh takes
// parentheses for a pattern: in a call without a slash only for names in the
// present directory.
func refused(src string) bool {
	src = strings.TrimSpace(src)
	return keyNames().MatchString(src) || callOfCode().MatchString(src) && !strings.Contains(src, "/")
}

// asPatterns is a line as zsh and fish read it, where parentheses are a pattern
// for names of files or the output of a command: not known in either case.
func asPatterns(src string) (string, bool) {
	src = strings.TrimSuffix(strings.TrimSpace(src), ";")
	word := strings.IndexAny(src, " \t")
	if word < 0 || strings.ContainsAny(src, "|&;$<>`\n\\'\"") || strings.ContainsAny(src[:word], "()") {
		return "", false
	}
	return strings.ReplaceAll(src, "(", "$("), strings.Contains(src, "(")
}
