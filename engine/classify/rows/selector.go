package rows

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Selector selects the words of a call that a step applies to.
type Selector struct {
	Kind    string    // of the Select words
	From    int       // for operands: the first
	To      int       // for operands: the last; -1: up to the end
	Options string    // for options: the options whose values are selected
	Text    string    // for text
	After   string    // only words that start with this, without it
	Like    string    // only words that match, and unknown ones: a|b, a*; \| is a bar
	Unlike  string    // no words that match
	Or      *Selector // what is selected if this selects nothing
}

// What a selector can select.
const (
	SelectOperands = "operands"  // operands of the call, after the subcommand's name if the subcommand has a row
	SelectRest     = "rest"      // operands after those in the case's sub
	SelectLast     = "last"      // the last operand
	SelectButLast  = "but last"  // all operands but the last
	SelectOptions  = "options"   // values of options
	SelectArgs     = "arguments" // all words after the program's name, as written
	SelectValues   = "values"    // words after short options, if they are not numbers: they may be operands
	SelectText     = "text"      // a string in the row itself
	SelectProgram  = "program"   // the program's name
	SelectService  = "service"   // the service that the program connects to
	SelectInput    = "input"     // standard input
	SelectNone     = "none"      // nothing
	SelectUnknown  = "unknown"   // something unknown
)

// Selectors parses a comma-separated list of selectors:
//
//	operands, operands 1-, operands 0-1, operand 0, rest, last, but last,
//	-o --output, values, arguments, =text, program, service, input, none, unknown
//
// In a string, a leading ~ is the home directory, and $program the name by which the
// program was called.
//
// Of the selected words, "after" keeps those that start with a string, without that text,
// "like" those that match a pattern, and "unlike" the others. What follows "or" is
// selected if there are none:
//
//	operands after of=, -ex after 'shell ', operands like /dev/* or last, -d or =, -o unlike \|*|!*
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
	if slices.Contains(slices.Concat(FilterPatterns(like), FilterPatterns(unlike)), "") {
		return s, fmt.Errorf("%q has an empty alternative; write \\| for the character |", like+unlike)
	}
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

// operands parses the range in operands 1-2.
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

// SubPattern is one alternative of a case's sub: the words that each of the first operands
// may be.
type SubPattern [][]string // for each operand, the words that it may be

// SubPatterns parses a case's sub.
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

// FilterPatterns splits the patterns of "like" and "unlike": a|b. In a pattern, \| is a bar.
func FilterPatterns(text string) []string {
	if text == "" {
		return nil
	}
	list := strings.Split(strings.ReplaceAll(text, `\|`, "\x00"), "|")
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], "\x00", "|")
	}
	return list
}

// Fits reports whether a word matches one of the patterns: the word itself, one in which *
// matches any text, number for any number, or - for a missing operand.
func Fits(patterns []string, word string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return p == word || p == "-" && word == "" || p == "number" && isNumber(word) || starred(p, word)
	})
}

func isNumber(word string) bool { return word != "" && strings.Trim(word, "0123456789") == "" }

// starred reports whether a word matches a pattern in which * matches any text and ? one
// character.
func starred(pattern, word string) bool {
	return strings.Contains(pattern, "*") && wildcard.Text(pattern, word)
}

// Part returns the text that a pattern such as *part* matches anywhere in a word.
func Part(pattern string) (string, bool) {
	if len(pattern) < 3 || pattern[0] != '*' || pattern[len(pattern)-1] != '*' {
		return "", false
	}
	return pattern[1 : len(pattern)-1], true
}

// Count parses the number of operands that a case requires: 2, or 2+ for at least 2.
func Count(text string) (n int, more bool, err error) {
	digits, more := strings.CutSuffix(text, "+")
	n, err = strconv.Atoi(digits)
	if err != nil || n < 0 {
		return 0, false, fmt.Errorf("%q is not a number of operands; expected one such as 2, or 2+ for at least 2", text)
	}
	return n, more, nil
}
