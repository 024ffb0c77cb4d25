package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is a defect in a policy file: where it is, what is wrong, what was
// expected, and what was probably meant. It is an error.
type Problem struct {
	File         string // slash-separated
	Line, Col    int    // from 1; 0: unknown
	Warning      bool   // a warning: the policy works as written
	Code         string // what kind of problem, such as "rego.field"
	Message      string
	Found        string
	Expected     string
	Suggestion   string // the closest valid name
	About        string // the id or package that it is about; empty: none
	Consequences int    // number of other problems that only follow from this one and are left out
}

// Error formats the problem as file:line:col: message; expected …, found …; did
// you mean "…"?
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

// Text returns the problem without its position.
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
	if p.Consequences > 0 {
		text += " (" + ConsequencesText(p.Consequences) + ")"
	}
	return text
}

// ConsequencesText reports how many problems are left out, since they follow from
// another.
func ConsequencesText(n int) string {
	if n == 1 {
		return "1 more follows from this"
	}
	return fmt.Sprintf("%d more follow from this", n)
}

func ordinal(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// SortProblems returns the problems in the order of their positions, without
// duplicates. The list itself is not changed: slices.CompactFunc would leave nil in it.
func SortProblems(list []*Problem) []*Problem {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col),
			strings.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(list, func(a, b *Problem) bool { return *a == *b })
}

// ExpectOneOf fills in what was probably meant instead of a word: the closest
// known word, or all of them where they are few.
func (p *Problem) ExpectOneOf(word string, known []string) *Problem {
	const few = 12
	p.Found, p.About = fmt.Sprintf("%q", word), word
	if p.Suggestion = Nearest(word, known); p.Suggestion == "" && len(known) > 0 && len(known) <= few {
		p.Expected = "one of " + strings.Join(known, ", ")
	}
	return p
}
