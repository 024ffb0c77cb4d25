package detect

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// shortest returns the minimum length of a match, in characters.
func shortest(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return 1
	case syntax.OpCapture, syntax.OpPlus:
		return shortest(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min * shortest(re.Sub[0])
	case syntax.OpConcat:
		n := 0
		for _, p := range re.Sub {
			n += shortest(p)
		}
		return n
	case syntax.OpAlternate:
		n := shortest(re.Sub[0])
		for _, p := range re.Sub[1:] {
			n = min(n, shortest(p))
		}
		return n
	}
	return 0
}

// longest returns the maximum length of a match, in bytes.
func longest(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		n := 0
		for _, r := range re.Rune {
			n += width(r, re.Flags&syntax.FoldCase != 0)
		}
		return n
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax
	case syntax.OpCapture, syntax.OpQuest:
		return longest(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus:
		return times(longest(re.Sub[0]), -1)
	case syntax.OpRepeat:
		return times(longest(re.Sub[0]), re.Max)
	case syntax.OpConcat:
		n := 0
		for _, p := range re.Sub {
			n = min(n+longest(p), unbounded)
		}
		return n
	case syntax.OpAlternate:
		n := 0
		for _, p := range re.Sub {
			n = max(n, longest(p))
		}
		return n
	}
	return 0
}

// times limits a repetition; -1: unlimited.
func times(n, most int) int {
	if n == 0 {
		return 0
	}
	if most < 0 || most > unbounded/n {
		return unbounded
	}
	return n * most
}

// width is the largest number of bytes that a character takes, in either case.
func width(r rune, anyCase bool) int {
	n := utf8.RuneLen(r)
	if !anyCase {
		return max(n, 1)
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		n = max(n, utf8.RuneLen(f))
	}
	return max(n, 1)
}
