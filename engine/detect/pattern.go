package detect

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
)

// pattern is a regular expression with what is known about all its matches.
type pattern struct {
	number  int
	words   []string // every match contains one of them, ASCII letters in either case; nil: unknown
	longest int      // longest match in bytes; unbounded: no limit is known
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
		return nil, errors.New("it matches the empty string, and so everywhere; require at least one character")
	}
	return &pattern{
		words: required(tree), longest: longest(tree),
		regexp: sync.OnceValues(func() (*regexp.Regexp, error) { return regexp.Compile(source) }),
	}, nil
}

// explain suggests a replacement for syntax that RE2 does not support.
func explain(err error) error {
	err = engine.ExplainRegexp(err)
	if engine.IsLookaround(err) {
		return fmt.Errorf("%w, or make two detectors and let a rule require one without the other", err)
	}
	return err
}

// span is a part of a string, in bytes.
type span struct{ from, to int }

// count reports how often the pattern matches a string, without overlaps, at most
// limit times. Where its required words are known, it searches only around
// them: far enough that no match touches the edge of what it sees, so that ^, $
// and \b mean what they mean in the whole text.
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

// margin is the text that a pattern sees on either side of the longest
// match: one character for \b, and one for a character that was cut in
// two.
const margin = 2 * utf8.UTFMax
