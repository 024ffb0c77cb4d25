package detect

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits for the required words: more of them would not help.
const (
	mostWords = 24 // alternatives of one pattern
	mostBytes = 24 // of one word
	someBytes = 2  // a shorter word is in nearly every text
)

// required returns words of which every match of the pattern contains at least
// one, with ASCII letters in lower case; nil: nothing useful is known.
func required(tree *syntax.Regexp) []string {
	return know(tree).cut().best
}

// literalInfo describes the texts that a pattern, or part of one, matches, as
// far as they are known.
type literalInfo struct {
	whole []string // the texts are exactly these; nil: unknown
	best  []string // each of the texts contains one of these; nil: unknown
}

var anything = literalInfo{}

func know(re *syntax.Regexp) literalInfo {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return literalInfo{whole: []string{""}}
	case syntax.OpLiteral:
		return knowLiteral(re)
	case syntax.OpCharClass:
		return knowClass(re.Rune)
	case syntax.OpCapture:
		return know(re.Sub[0])
	case syntax.OpPlus:
		return literalInfo{best: know(re.Sub[0]).cut().best}
	case syntax.OpRepeat:
		return knowRepeat(re)
	case syntax.OpConcat:
		return knowAll(re.Sub)
	case syntax.OpAlternate:
		return knowOneOf(re.Sub)
	}
	return anything
}

// knowLiteral handles a literal. Where case is folded, a letter that has
// another form beyond ASCII (k and s have) stands for all its forms.
func knowLiteral(re *syntax.Regexp) literalInfo {
	j := concatenation{}
	var run strings.Builder
	for _, r := range re.Rune {
		forms := []string{lower(string(r))}
		if re.Flags&syntax.FoldCase != 0 {
			forms = formsOf(r)
		}
		if len(forms) == 1 {
			run.WriteString(forms[0])
			continue
		}
		j.add(literalInfo{whole: []string{run.String()}})
		j.add(literalInfo{whole: forms})
		run.Reset()
	}
	j.add(literalInfo{whole: []string{run.String()}})
	return j.done()
}

// formsOf lists the forms of a letter; those of ASCII count as one.
func formsOf(r rune) []string {
	forms := []string{lower(string(r))}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		forms = append(forms, lower(string(f)))
	}
	return distinct(forms)
}

func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// knowClass lists the characters of a small class. For a larger one beyond
// ASCII it lists the first bytes of its characters: 64 consecutive ones differ
// only in the last byte.
func knowClass(ranges []rune) literalInfo {
	var whole, begin []string
	if many(ranges) && ranges[0] < utf8.RuneSelf {
		return anything
	}
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			s := lower(string(r))
			if len(whole) <= mostWords {
				whole = append(whole, s)
			}
			if b := s[:max(1, len(s)-1)]; len(begin) == 0 || begin[len(begin)-1] != b {
				begin = append(begin, b)
			}
			if len(begin) > 2*mostWords {
				return anything
			}
		}
	}
	if whole, begin = distinct(whole), distinct(begin); len(whole) <= mostWords {
		return literalInfo{whole: whole}
	}
	if len(begin) <= mostWords {
		return literalInfo{best: begin}
	}
	return anything
}

// many reports whether a class has more characters than are listed, in either
// case.
func many(ranges []rune) bool {
	n := 0
	for i := 0; i+1 < len(ranges); i += 2 {
		n += int(ranges[i+1]-ranges[i]) + 1
	}
	return n > 2*mostWords
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func knowRepeat(re *syntax.Regexp) literalInfo {
	if re.Min == 0 {
		return anything
	}
	j, k := concatenation{}, know(re.Sub[0])
	for range min(re.Min, mostBytes) {
		j.add(k)
	}
	if re.Min != re.Max || re.Min > mostBytes {
		j.add(anything)
	}
	return j.done()
}

func knowAll(parts []*syntax.Regexp) literalInfo {
	j := concatenation{}
	for _, p := range parts {
		j.add(know(p))
	}
	return j.done()
}

func knowOneOf(parts []*syntax.Regexp) literalInfo {
	all := literalInfo{whole: []string{}, best: []string{}}
	for _, p := range parts {
		k := know(p)
		if all.whole != nil && k.whole != nil {
			all.whole = append(all.whole, k.whole...)
		} else {
			all.whole = nil
		}
		if b := k.cut().best; all.best != nil && b != nil {
			all.best = append(all.best, b...)
		} else {
			all.best = nil
		}
	}
	if all.whole = distinct(all.whole); len(all.whole) > mostWords {
		all.whole = nil
	}
	if all.best = distinct(all.best); len(all.best) > mostWords {
		all.best = nil
	}
	return all
}

// cut turns whole texts into words to look for.
func (k literalInfo) cut() literalInfo {
	if better(k.whole, k.best) {
		return literalInfo{best: k.whole}
	}
	return literalInfo{best: k.best}
}

// better reports whether words are more useful than others: their shortest is
// longer.
func better(words, than []string) bool {
	n := shortestOf(words)
	return n >= someBytes && n > shortestOf(than)
}

func shortestOf(words []string) int {
	if len(words) == 0 {
		return 0
	}
	return len(slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) }))
}

// concatenation combines what is known about consecutive parts.
type concatenation struct {
	whole  []string // of all parts since the last unknown one; nil: none yet
	best   []string
	broken bool // some part was unknown
}

func (j *concatenation) add(k literalInfo) {
	if better(k.best, j.best) {
		j.best = k.best
	}
	if k.whole == nil {
		j.flush()
		j.broken = true
		return
	}
	next := product(j.whole, k.whole)
	if next == nil { // too many, or too long
		j.flush()
		j.broken = true
		next = k.whole
	}
	j.whole = next
}

func (j *concatenation) flush() {
	if better(j.whole, j.best) {
		j.best = j.whole
	}
	j.whole = nil
}

func (j *concatenation) done() literalInfo {
	if !j.broken {
		return literalInfo{whole: j.whole, best: j.best}
	}
	j.flush()
	return literalInfo{best: j.best}
}

// product appends each text of b to each of a; nil if there would be too many.
func product(a, b []string) []string {
	if a == nil {
		return b
	}
	if len(a)*len(b) > mostWords {
		return nil
	}
	var all []string
	for _, x := range a {
		for _, y := range b {
			if len(x)+len(y) > mostBytes && len(x) >= someBytes {
				return nil
			}
			all = append(all, x+y)
		}
	}
	return distinct(all)
}
