package safeclaw

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
)

// Spaces and line ends are other characters for JavaScript than for RE2.
const (
	spaces  = `\s\v\pZ\x{feff}`
	anyChar = `[^\n\r\x{2028}\x{2029}]`
)

// translate returns the pattern of RE2 that matches the texts which a pattern of
// JavaScript (without flags) matches. It accepts syntax with the same meaning in both,
// and the dot, \s, \S and \uXXXX; everything else is refused. Characters beyond U+FFFF
// are one character for RE2 and two for JavaScript.
func translate(source string) (string, error) {
	p := pattern{rest: source}
	for p.rest != "" {
		if err := p.next(); err != nil {
			return "", err
		}
	}
	made := p.out.String()
	if _, err := regexp.Compile(made); err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return made, nil
}

type pattern struct {
	rest  string
	class bool // within [ and ]
	out   strings.Builder
}

var (
	assertion = engine.Regexp(`^(\^|\$|\\[bB])([*+?]|\{\d+(,\d*)?\})`)
	looking   = engine.Regexp(`^\(\?<?[=!]`)
	odd       = engine.Regexp(`^\[\^?\]`)
	escapes   = engine.Regexp(`^\\(?:[dDwWbBtnvfr]|x[0-9A-Fa-f]{2}|[!-/:-@[-` + "`" + `{-~ ])`)
	unicodes  = engine.Regexp(`^\\u[0-9A-Fa-f]{4}`)
)

// next reads the next character, or the construct that begins with it.
func (p *pattern) next() error {
	r, width := utf8.DecodeRuneInString(p.rest)
	switch {
	case r > 0xFFFF:
		return fmt.Errorf("%q counts as two characters in JavaScript", r)
	case r == '\\':
		return p.escape()
	case p.class && strings.HasPrefix(p.rest, "[:"):
		return errors.New("[: in a class has another meaning in RE2; write [ as \\[")
	case p.class:
		p.class = r != ']'
	case odd().MatchString(p.rest):
		return errors.New("RE2 has no empty class")
	case assertion().MatchString(p.rest):
		return errors.New("JavaScript has nothing to repeat there")
	case looking().MatchString(p.rest):
		return fmt.Errorf("%s…) is a lookaround, which RE2 does not support", looking().FindString(p.rest))
	case strings.HasPrefix(p.rest, "(?") && !strings.HasPrefix(p.rest, "(?:"):
		return fmt.Errorf("a group starts with %.3s; write (?:…) or (…)", p.rest)
	case r == '.':
		p.put(1, anyChar)
		return nil
	default:
		p.class = r == '['
	}
	p.put(width, p.rest[:width])
	return nil
}

func (p *pattern) escape() error {
	switch {
	case assertion().MatchString(p.rest) && !p.class:
		return errors.New("JavaScript has nothing to repeat there")
	case strings.HasPrefix(p.rest, `\s`) && p.class:
		p.put(2, spaces)
	case strings.HasPrefix(p.rest, `\s`):
		p.put(2, "["+spaces+"]")
	case strings.HasPrefix(p.rest, `\S`) && !p.class:
		p.put(2, "[^"+spaces+"]")
	case escapes().MatchString(p.rest):
		text := escapes().FindString(p.rest)
		p.put(len(text), text)
	case unicodes().MatchString(p.rest):
		n, _ := strconv.ParseUint(p.rest[2:6], 16, 32)
		if n >= 0xD800 && n <= 0xDFFF {
			return fmt.Errorf("%s is half of a surrogate pair", p.rest[:6])
		}
		p.put(6, `\x{`+p.rest[2:6]+"}")
	default:
		return fmt.Errorf("%.2s has another meaning in RE2", p.rest)
	}
	return nil
}

// put writes text for the next n bytes.
func (p *pattern) put(n int, text string) {
	p.out.WriteString(text)
	p.rest = p.rest[n:]
}

// guarded matches the patterns that SafeClaw's guard against slow patterns refuses. It
// looks at the text only: it refuses a repeated group whose last character is + or *,
// as in (a+)+, and accepts ((a)+)+ and (\w+\s?)*.
var guarded = engine.Regexp(`\([^)]*[+*]\)[+*{]`)

// maybeGuarded matches further patterns that the guard may refuse.
var maybeGuarded = engine.Regexp(`\([^)]*[+*][^)]*\)[+*{]`)
