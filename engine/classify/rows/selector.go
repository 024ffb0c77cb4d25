package rows

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Selector describes which words of a call a step concerns.
type Selector struct {
	Kind    string    // of the Select words
	From    int       // for operands: the first
	To      int       // for operands: the last; -1: up to the end
	Options string    // for options: whose values
	Text    string    // for text
	After   string    // only words that begin with this, without it
	Like    string    // only words that are so, and those that nobody can tell: a|b, a*
	Unlike  string    // no words that are so
	Or      *Selector // what is selected where this selects nothing
}

// What a selector selects.
const (
	SelectOperands = "operands"  // of the call, counted from the end of the subcommand's name where a subcommand has a row
	SelectRest     = "rest"      // operands after those that the case's sub names
	SelectLast     = "last"      // the last operand
	SelectButLast  = "but last"  // all operands but the last
	SelectOptions  = "options"   // values of options
	SelectArgs     = "arguments" // all words after the program's name, as written
	SelectValues   = "values"    // values after short options that are not numbers: they may be operands
	SelectText     = "text"      // a text of the row itself
	SelectProgram  = "program"   // the program's name
	SelectService  = "service"   // what the program talks to
	SelectInput    = "input"     // standard input
	SelectNone     = "none"      // nothing
	SelectUnknown  = "unknown"   // something that nobody can tell
)

// Selectors reads a list of selectors, which are separated by commas:
//
//	operands, operands 1-, operands 0-1, operand 0, rest, last, but last,
//	-o --output, values, arguments, =text, program, service, input, none, unknown
//
// In a text, ~ at its beginning is the home directory, $program the name by which
// the program was called.
//
// Of the words that are selected, "after" takes those that begin with a text,
// without it, "like" those that fit a pattern, and "unlike" the others. After
// "or" stands what is selected if there are none:
//
//	operands after of=, -ex after 'shell ', operands like /dev/* or last, -d or =.
func Selectors(text string) ([]Selector, error) {
	var list []Selector
	for part := range strings.SplitSeq(text, ",") {
		s, err := selector(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func selector(part string) (Selector, error) {
	if text, ok := strings.CutPrefix(part, "="); ok {
		return Selector{Kind: SelectText, Text: text}, nil
	}
	part, other, several := strings.Cut(part, " or ")
	part, unlike, _ := strings.Cut(part, " unlike ")
	part, like, _ := strings.Cut(part, " like ")
	part, after, _ := strings.Cut(part, " after ")
	s, err := plainSelector(part)
	s.Like, s.Unlike, s.After = like, unlike, strings.Trim(after, "'")
	if err == nil && several {
		s.Or = new(Selector)
		*s.Or, err = selector(other)
	}
	return s, err
}

func plainSelector(part string) (Selector, error) {
	word, span, _ := strings.Cut(part, " ")
	switch {
	case strings.HasPrefix(part, "-"):
		return Selector{Kind: SelectOptions, Options: part}, nil
	case slices.Contains([]string{SelectRest, SelectLast, SelectButLast, SelectProgram, SelectService, SelectInput, SelectNone, SelectUnknown,
		SelectArgs, SelectValues}, part):
		return Selector{Kind: part}, nil
	case word == "operand" || word == SelectOperands:
		return operands(word, span)
	}
	return Selector{}, fmt.Errorf("%q selects nothing; expected operands, operands 1-, operand 0, rest, last, but last, "+
		"options such as -o --output, values, arguments, =text, program, service, input, none or unknown", part)
}

// operands reads the span of operands 1-2.
func operands(word, span string) (Selector, error) {
	if span == "" && word == SelectOperands {
		return Selector{Kind: SelectOperands, To: -1}, nil
	}
	first, last, several := strings.Cut(span, "-")
	from, err := strconv.Atoi(first)
	to := from
	if err == nil && several && last == "" {
		to = -1
	} else if err == nil && several {
		to, err = strconv.Atoi(last)
	}
	if err != nil || from < 0 || several != (word == SelectOperands) {
		return Selector{}, fmt.Errorf("%q: expected operand 0, or operands 1- or operands 0-1", word+" "+span)
	}
	return Selector{Kind: SelectOperands, From: from, To: to}, nil
}

// SubPattern is one alternative of a case's sub: what the first operands are.
type SubPattern [][]string // for each operand, the words that it may be

// SubPatterns reads a case's sub.
func SubPatterns(text string) []SubPattern {
	if text == "" {
		return nil
	}
	var list []SubPattern
	for alternative := range strings.SplitSeq(text, ",") {
		var p SubPattern
		for _, word := range strings.Fields(alternative) {
			p = append(p, strings.Split(word, "|"))
		}
		list = append(list, p)
	}
	return list
}

// Fits reports whether a word is one of those given: a word as such, one in which
// * stands for any text, any number, or - for an operand that is not there.
func Fits(patterns []string, word string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return p == word || p == "-" && word == "" || p == "number" && isNumber(word) || starred(p, word)
	})
}

func isNumber(word string) bool { return word != "" && strings.Trim(word, "0123456789") == "" }

// starred reports whether a word is a pattern in which * stands for any text, and
// next to it ? for one character.
func starred(pattern, word string) bool {
	return strings.Contains(pattern, "*") && wildcard.Text(pattern, word)
}

// Part returns what a pattern asks for anywhere in a word: *part*.
func Part(pattern string) (string, bool) {
	if len(pattern) < 3 || pattern[0] != '*' || pattern[len(pattern)-1] != '*' {
		return "", false
	}
	return pattern[1 : len(pattern)-1], true
}

// Count reads how many operands a case asks for: 2, or 2+ for at least 2.
func Count(text string) (n int, more bool, err error) {
	digits, more := strings.CutSuffix(text, "+")
	n, err = strconv.Atoi(digits)
	if err != nil || n < 0 {
		return 0, false, fmt.Errorf("%q is not a number of operands; expected one such as 2, or 2+ for at least 2", text)
	}
	return n, more, nil
}
