package permissions

import (
	"fmt"
	"path"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/foreign"
	"github.com/agent-reviewer/reviewer/engine"
)

// command is the pattern of a rule for Bash: * matches anything, and a space before a
// final * requires the end of a word.
type command struct {
	text string // without a final " *" or ":*"
	open bool   // anything may follow, as further words
}

func commandOf(spec string) command {
	for _, end := range []string{" *", ":*"} {
		if text, ok := strings.CutSuffix(spec, end); ok {
			return command{strings.TrimRight(text, " "), true}
		}
	}
	return command{spec, false}
}

func (r rule) shell() (match, string) {
	c := commandOf(r.spec)
	if strings.Trim(c.text, "* ") == "" {
		return match{}, "it matches every command: write Bash"
	}
	if r.allow {
		return match{[]string{"Bash"}, c.alone()}, ""
	}
	return match{[]string{"Bash", "Monitor"}, c.found() + " || " + c.written()}, ""
}

// joints are the operators between and around commands, and redirections. Within
// quotes they are harmless, but refused anyway.
const joints = "[;&|<>`\\n\\r]|\\$\\(|…$"

// alone returns a condition for a call that is only this one command.
func (c command) alone() string {
	re := "^" + stars(c.text)
	if c.open {
		re += `(?:\s(?s:.*))?`
	}
	return "size(action.commands) == 1 && size(action.opaque) == 0 && size(action.commands[0].wrappers) == 0 && " +
		"size(action.commands[0].via) == 0" +
		" && !action.resource.matches(" + foreign.Quote(joints) + ")" +
		" && action.resource.matches(" + foreign.Quote(re+"$") + ")"
}

// written returns a condition on the text at places where a command can begin. It
// finds text that the parser does not report as a command, such as a script by its
// path.
func (c command) written() string {
	re := "(?:^|[;&|({!`\\n]|\\$\\()\\s*(?:[A-Za-z_]\\w*=\\S*\\s+)*" + stars(c.text)
	if c.open {
		re += "(?:$|[\\s;&|)}`<>])"
	} else {
		re += "\\s*(?:$|[;&|)}`<>#\\n])"
	}
	return "action.resource.matches(" + foreign.Quote(re) + ")"
}

// found returns a condition on each command of the call, even under sudo and sh -c:
// the program and all words of the pattern, in any order.
func (c command) found() string {
	words := strings.Fields(c.text)
	tests := []string{}
	if name := program(words[0]); name != "" {
		tests = append(tests, name)
	}
	var literal []string
	for _, w := range words[1:] {
		if !odd().MatchString(w) {
			literal = append(literal, w)
		}
	}
	if len(literal) > 0 {
		tests = append(tests, foreign.Quotes(literal)+".all(w, w in c.sub || w in c.operands || w == c.name || w in c.wrappers"+
			` || c.flags.exists(f, f == w || f.startsWith(w + "=") || f.endsWith("=" + w)))`)
	}
	if len(tests) == 0 {
		return "false"
	}
	if len(words) > 1 && plainWord().MatchString(words[0]) && plainWord().MatchString(words[1]) {
		tests = append(tests, fmt.Sprintf("(c.name != %s || size(c.sub) == 0 || c.sub[0] == %s)", foreign.Quote(words[0]),
			foreign.Quote(words[1])))
	}
	if !c.open && !strings.Contains(c.text, "*") {
		tests = append(tests, fmt.Sprintf("size(c.sub) + size(c.flags) + size(c.operands) <= %d", len(words)-1)) // no more words
	}
	return "action.commands.exists(c, " + strings.Join(tests, " && ") + ")"
}

// odd matches words that the shell expands or unquotes.
var odd = engine.Regexp("[*'\"\\\\$`{}<>;&|()]")

// plainWord matches the name of a program or a subcommand, but not a flag.
var plainWord = engine.Regexp(`^[A-Za-z][A-Za-z0-9_-]*$`)

// program returns a condition on a command's name; empty if any name matches, or only
// the text is tested.
func program(word string) string {
	before, _, open := strings.Cut(word, "*")
	name := path.Base(before)
	if before == "" || strings.HasSuffix(before, "/") || odd().MatchString(before) {
		return ""
	}
	q := foreign.Quote(name)
	if open {
		return "c.name.startsWith(" + q + ")"
	}
	return "(c.name == " + q + " || " + q + " in c.wrappers || c.via.exists(v, v == " + q + " || v.startsWith(" +
		foreign.Quote(name+"-") + ")))"
}
