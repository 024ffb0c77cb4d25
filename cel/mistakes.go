package cel

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"

	"github.com/agent-reviewer/reviewer/engine"
)

// mistake is an operator or word of another language in an expression, and its
// CEL equivalent. The parser's own message would only name tokens.
type mistake struct {
	line, column int // from 1, the column in characters
	message      string
}

// operatorHints has the replacements for operators of other languages.
var operatorHints = map[string]string{
	"=":   `= is not an operator of CEL: write == to compare`,
	"===": `=== is not an operator of CEL: write ==`,
	"!==": `!== is not an operator of CEL: write !=`,
	"<>":  `<> is not an operator of CEL: write !=`,
	"=~":  `=~ is not an operator of CEL: write text.matches("pattern")`,
	"&":   `& is not an operator of CEL: write && for "and"`,
	"|":   `| is not an operator of CEL: write || for "or"`,
	"=>":  `=> is not an operator of CEL: write list.exists(x, condition)`,
	"->":  `-> is not an operator of CEL: write list.exists(x, condition)`,
	":=":  `:= is not an operator of CEL: write == to compare; to name a value, write cel.bind(name, value, expression)`,
	"**":  `** is not an operator of CEL: write the product out`,
}

// wordHints has the replacements for words.
var wordHints = map[string]string{
	"and": `and is not an operator of CEL: write &&`,
	"or":  `or is not an operator of CEL: write ||`,
	"not": `not is not an operator of CEL: write ! before what is to be false; "not in" is !(x in list)`,
	"is":  `is is not an operator of CEL: write ==`,
	"if":  `CEL has no if: write condition ? one : other`,
}

// functionHints has the replacements for functions of other languages.
var functionHints = map[string]string{
	"len": "size(x)", "length": "size(x)", "count": "size(x)", "contains": "text.contains(part)", "startsWith": "text.startsWith(begin)",
	"startswith": "text.startsWith(begin)", "endswith": "text.endsWith(end)", "endsWith": "text.endsWith(end)",
	"matches": `text.matches("pattern")`, "lower": "text.lowerAscii()", "upper": "text.upperAscii()", "toLowerCase": "text.lowerAscii()",
	"any": "list.exists(x, condition)", "some": "list.exists(x, condition)", "every": "list.all(x, condition)",
	"includes": "x in list", "@in": "text.contains(part); in is for lists and maps", "regex": `text.matches("pattern")`,
}

// mistakes finds them in an expression, outside its texts.
func mistakes(text string) []mistake {
	var found []mistake
	s := scanner{rest: text, line: 1, column: 1}
	for s.next() {
		hint := operatorHints[s.token]
		if s.word {
			hint = wordHints[s.token]
		}
		if hint != "" {
			found = append(found, mistake{s.atLine, s.atColumn, hint})
		}
	}
	return found
}

// scanner splits an expression into words, runs of operators and the rest.
type scanner struct {
	rest         string
	line, column int // of what comes next
	token        string
	word         bool
	atLine       int // of the token
	atColumn     int
}

func (s *scanner) next() bool {
	if s.rest == "" {
		return false
	}
	s.atLine, s.atColumn = s.line, s.column
	s.token, s.word = s.cut()
	for _, r := range s.token {
		s.column++
		if r == '\n' {
			s.line, s.column = s.line+1, 1
		}
	}
	s.rest = s.rest[len(s.token):]
	return true
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '.' }

func (s *scanner) cut() (token string, word bool) {
	first := rune(s.rest[0])
	run := func(in func(rune) bool) string {
		if end := strings.IndexFunc(s.rest, func(r rune) bool { return !in(r) }); end > 0 {
			return s.rest[:end]
		}
		return s.rest
	}
	switch {
	case first == '"' || first == '\'':
		return s.rest[:textEnd(s.rest)], false
	case strings.HasPrefix(s.rest, "//"):
		return run(func(r rune) bool { return r != '\n' }), false
	case isWord(first):
		return run(isWord), true
	case strings.ContainsRune("=!<>&|~:-*", first):
		return s.operator(), false
	}
	_, size := firstRune(s.rest)
	return s.rest[:size], false
}

// operator is the longest operator that a string begins with: a minus or an
// exclamation mark after another is a separate one.
func (s *scanner) operator() string {
	for _, known := range []string{"===", "!==", "==", "!=", "<=", ">=", "&&", "||", "<>", "=~", "=>", "->", ":=", "**"} {
		if strings.HasPrefix(s.rest, known) {
			return known
		}
	}
	return s.rest[:1]
}

func firstRune(s string) (rune, int) {
	for i, r := range s {
		if i > 0 {
			return r, i
		}
	}
	return 0, len(s)
}

// textEnd is where the text literal at the beginning of s ends.
func textEnd(s string) int {
	for _, quote := range []string{`"""`, `'''`} {
		if strings.HasPrefix(s, quote) {
			if end := strings.Index(s[3:], quote); end >= 0 {
				return end + 6
			}
			return len(s)
		}
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}

// undeclaredHint reports what to write instead of a function or an operator
// that CEL does not have; empty: nothing is known.
func undeclaredHint(name string) string {
	if hint := wordHints[name]; hint != "" {
		return hint
	}
	if name == "input" {
		return "CEL has no input: its fields are variables, so write action.commands for input.action.commands"
	}
	if hint := functionHints[name]; hint != "" {
		return fmt.Sprintf("unknown function %s: write %s", name, hint)
	}
	return ""
}

// badRegexp reports what is wrong with the pattern that an issue is about.
func (l *language) badRegexp(text string, issue *cel.Error) string {
	parsed, bad := l.env.Parse(text)
	if bad.Err() != nil {
		return ""
	}
	why := ""
	visit(parsed.NativeRep().Expr(), func(e ast.Expr) {
		pattern, isText := literal(e)
		if e.ID() != issue.ExprID || !isText {
			return
		}
		if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
			why = fmt.Sprintf("the pattern %q is not a regular expression (RE2): %v", pattern, engine.ExplainRegexp(err))
		} else {
			why = fmt.Sprintf("the pattern is too large: %v", errors.New(issue.Message))
		}
	})
	return why
}
