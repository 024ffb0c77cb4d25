package engine

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode"
)

// Regexp returns a function that compiles a regular expression on first use: a
// process that answers one hook needs only a few of them. An invalid expression
// panics then; expressions are literals, and a test compiles them all.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// errLookaround is the explanation for lookahead and lookbehind.
var errLookaround = errors.New("RE2 has no lookahead or lookbehind; match the surrounding text as well")

// IsLookaround reports whether an explained error is about lookahead or
// lookbehind.
func IsLookaround(err error) bool { return errors.Is(err, errLookaround) }

// ExplainRegexp explains an error of a regular expression: for features of
// other engines that RE2 lacks, what to write instead.
func ExplainRegexp(err error) error {
	var wrong *syntax.Error
	if !errors.As(err, &wrong) {
		return err
	}
	switch expr := wrong.Expr; {
	case strings.HasPrefix(expr, "(?=") || strings.HasPrefix(expr, "(?!") || strings.HasPrefix(expr, "(?<"):
		return fmt.Errorf("%s: %w", expr, errLookaround)
	case wrong.Code == syntax.ErrInvalidEscape && backreference().MatchString(expr):
		return fmt.Errorf("%s: RE2 has no backreferences; repeat the group's expression", expr)
	case strings.HasPrefix(expr, "(?>") || wrong.Code == syntax.ErrInvalidRepeatOp:
		return fmt.Errorf("%s: RE2 has no atomic groups or possessive quantifiers and never backtracks; "+
			"write a plain group or quantifier", expr)
	}
	return fmt.Errorf("%s: %s", wrong.Code, wrong.Expr)
}

var backreference = Regexp(`^\\[1-9k]`)

// MaxNames is the number of names that a list in a condition can have. A longer one is knowledge, which other
// layers want to add to.
const MaxNames = 5

// NamesIn returns the number of names in the longest list among the alternatives of a regular expression: 3 for
// [.](md|txt|rst)$. An option, and an alternative without two letters in a row, is not a name.
func NamesIn(pattern string) int {
	type group struct{ names, letters, most int }
	groups := []group{{}}
	longest := 0
	end := func() (g *group) { // of an alternative
		g = &groups[len(groups)-1]
		if g.most > 1 {
			g.names++
		}
		longest = max(longest, g.names)
		g.letters, g.most = 0, 0
		return g
	}
	pattern = classes().ReplaceAllString(pattern, ".")
	for i, r := range pattern {
		g := &groups[len(groups)-1]
		switch {
		case r == '(':
			groups = append(groups, group{})
		case r == '|':
			end()
		case r == ')' && len(groups) > 1:
			if named := end().names > 0; named {
				groups[len(groups)-2].most = 2
			}
			groups = groups[:len(groups)-1]
		case r == '-' && (i == 0 || strings.ContainsRune("(|^", rune(pattern[i-1]))):
			g.letters = -len(pattern) // an option
		case unicode.IsLetter(r):
			g.letters++
			g.most = max(g.most, g.letters)
		default:
			g.letters = min(g.letters, 0)
		}
	}
	end()
	return longest
}

var classes = Regexp(`\\.|\[(\\.|[^\]])*\]|\(\?[a-zA-Z-]+\)|\?[a-zA-Z-]*:|\?P?<\w+>`)

// Verbs counts the verbs of a format; it is not known for one that numbers its values.
func Verbs(format string) (n int, known bool) {
	for rest := format; ; n++ {
		_, after, more := strings.Cut(rest, "%")
		after = strings.TrimLeft(after, "+-# 0123456789.")
		switch {
		case !more:
			return n, true
		case strings.HasPrefix(after, "["), strings.HasPrefix(after, "*"), after == "":
			return 0, false
		case after[0] == '%':
			n--
		}
		rest = after[1:]
	}
}
