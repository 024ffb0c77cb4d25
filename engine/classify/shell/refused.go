package shell

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Code that bash cannot parse is not necessarily harmless: the user's shell may be
// another one. But some lines run in no shell, such as the name of a key in angle
// brackets or a call in another language, which appear among commands in notes and
// manuals.
var (
	keyNames   = engine.Regexp(`^(<[^<>|&;$()\x60\n]*>\s*)+$`)
	callOfCode = engine.Regexp(`^[\pL_][\pL\pN_.]*\([^|&;$<>\x60\n]*\);?$`)
)

// refused reports whether no shell runs anything of a string. zsh treats parentheses as
// a pattern: in a call without a slash only for names in the current directory.
func refused(src string) bool {
	src = strings.TrimSpace(src)
	return keyNames().MatchString(src) || callOfCode().MatchString(src) && !strings.Contains(src, "/")
}

// asPatterns is a line as zsh and fish read it, where parentheses are a pattern for
// names of files or the output of a command: unknown in either case.
func asPatterns(src string) (string, bool) {
	src = strings.TrimSuffix(strings.TrimSpace(src), ";")
	word := strings.IndexAny(src, " \t")
	if word < 0 || strings.ContainsAny(src, "|&;$<>`\n\\'\"") || strings.ContainsAny(src[:word], "()") {
		return "", false
	}
	return strings.ReplaceAll(src, "(", "$("), strings.Contains(src, "(")
}
