package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is something wrong in a file of a policy: where, what, what was
// expected there, and what was probably meant. It is an error.
type Problem struct {
	File       string // slash-separated
	Line, Col  int    // from 1; 0: not known
	Warning    bool   // worth a look, and the policy works as it is written
	Code       string // what kind of problem, such as "rego.field"
	Message    string
	Found      string
	Expected   string
	Suggestion string // the nearest name that would do
}

// Error gives the problem as file:line:col: message; expected …, found …; did you mean "…"?
func (p *Problem) Error() string {
	var b strings.Builder
	for _, part := range []string{p.File, ordinal(p.Line), ordinal(p.Col)} {
		if part != "" {
			b.WriteString(part + ":")
		}
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString(p.Text())
	return b.String()
}

// Text is the problem without its place.
func (p *Problem) Text() string {
	text := p.Message
	switch {
	case p.Expected != "" && p.Found != "":
		text += fmt.Sprintf("; expected %s, found %s", p.Expected, p.Found)
	case p.Expected != "":
		text += "; expected " + p.Expected
	case p.Found != "":
		text += "; found " + p.Found
	}
	if p.Suggestion != "" {
		text += fmt.Sprintf("; did you mean %q?", p.Suggestion)
	}
	return text
}

func ordinal(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// SortProblems orders problems by place, and takes out those that are there
// twice.
func SortProblems(list []*Problem) []*Problem {
	slices.SortStableFunc(list, func(a, b *Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col),
			strings.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(list, func(a, b *Problem) bool { return *a == *b })
}

// NotOneOf fills in what was meant instead of a word: the nearest of those
// known, or all of them where they are few.
func (p *Problem) NotOneOf(word string, known []string) *Problem {
	const few = 12
	p.Found = fmt.Sprintf("%q", word)
	if p.Suggestion = Nearest(word, known); p.Suggestion == "" && len(known) > 0 && len(known) <= few {
		p.Expected = "one of " + strings.Join(known, ", ")
	}
	return p
}
