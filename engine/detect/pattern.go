package detect

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
)

// pattern is a regular expression with what can be said of all that it matches.
type pattern struct {
	number  int
	words   []string // every match holds one of them, letters of ASCII in either case; nil: nothing is known
	longest int      // bytes of a match at most; unbounded: no end is known
	regexp  func() (*regexp.Regexp, error)
}

// unbounded is a length beyond that of any text.
const unbounded = 1 << 30

func newPattern(source string) (*pattern, error) {
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, explain(err)
	}
	if shortest(tree) == 0 {
		return nil, errors.New("it matches the empty text, and so everywhere; ask for at least one character")
	}
	return &pattern{
		words: required(tree), longest: longest(tree),
		regexp: sync.OnceValues(func() (*regexp.Regexp, error) { return regexp.Compile(source) }),
	}, nil
}

// explain says of what other engines have, and RE2 has not, what to write
// instead.
func explain(err error) error {
	var wrong *syntax.Error
	if !errors.As(err, &wrong) {
		return err
	}
	switch expr := wrong.Expr; {
	case strings.HasPrefix(expr, "(?=") || strings.HasPrefix(expr, "(?!") || strings.HasPrefix(expr, "(?<"):
		return fmt.Errorf("%s: RE2 does not look ahead or behind; match the text around it too, "+
			"or make two detectors and let a rule ask for one without the other", expr)
	case wrong.Code == syntax.ErrInvalidEscape && backreference().MatchString(expr):
		return fmt.Errorf("%s: RE2 has no references to groups; write the group out again", expr)
	case strings.HasPrefix(expr, "(?>") || wrong.Code == syntax.ErrInvalidRepeatOp:
		return fmt.Errorf("%s: RE2 has no atomic groups and no possessive repetitions, and needs none, since it never goes back; "+
			"write a plain group or repetition", expr)
	}
	return fmt.Errorf("%s: %s", wrong.Code, wrong.Expr)
}

var backreference = engine.Regexp(`^\\[1-9k]`)

// span is a stretch of a text, in bytes.
type span struct{ from, to int }

// count says how often the pattern matches a text, without overlaps, at most
// limit times. Where the words that it needs are known, it looks around them
// only: far enough that no match touches the edge of what it sees, so that ^,
// $ and \b mean what they mean in the whole text.
func (p *pattern) count(text string, found *found, limit int64) int64 {
	if p.words == nil {
		return p.countIn(text, limit)
	}
	var n int64
	for _, s := range found.of(p) {
		if n == limit {
			break
		}
		n += p.countIn(text[s.from:s.to], limit-n)
	}
	return n
}

func (p *pattern) countIn(text string, limit int64) int64 {
	re, err := p.regexp()
	if err != nil {
		return limit // not reached, since it was parsed before; else it counts as found
	}
	return int64(len(re.FindAllStringIndex(text, int(limit))))
}

// margin is what a pattern sees on either side of the longest match: one
// character for \b, and one for a character that was cut in two.
const margin = 2 * utf8.UTFMax
