package engine

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
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
