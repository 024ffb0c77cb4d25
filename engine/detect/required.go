package detect

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of the words that are looked for: more of them say no more.
const (
	mostWords = 24 // alternatives of one pattern
	mostBytes = 24 // of one word
	someBytes = 2  // a shorter word is nearly everywhere
)

// required returns words of which every match of the pattern holds at least
// one; nil: nothing useful is known. Letters of ASCII are in lower case.
func required(tree *syntax.Regexp) []string {
	return know(tree).cut().best
}

// knowledge is what is known of the texts that a pattern, or a part of it,
// matches.
type knowledge struct {
	whole []string // the texts are exactly these; nil: not known
	best  []string // each of the texts holds one of these; nil: not known
}

var anything = knowledge{}

func know(re *syntax.Regexp) knowledge {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return knowledge{whole: []string{""}}
	case syntax.OpLiteral:
		return knowLiteral(re)
	case syntax.OpCharClass:
		return knowClass(re.Rune)
	case syntax.OpCapture:
		return know(re.Sub[0])
	case syntax.OpPlus:
		return knowledge{best: know(re.Sub[0]).cut().best}
	case syntax.OpRepeat:
		return knowRepeat(re)
	case syntax.OpConcat:
		return knowAll(re.Sub)
	case syntax.OpAlternate:
		return knowOneOf(re.Sub)
	}
	return anything
}

// knowLiteral reads a text. Where case is folded, a letter that has another
// form beyond ASCII (k and s have) stands for all its forms.
func knowLiteral(re *syntax.Regexp) knowledge {
	j := joiner{}
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
		j.add(knowledge{whole: []string{run.String()}})
		j.add(knowledge{whole: forms})
		run.Reset()
	}
	j.add(knowledge{whole: []string{run.String()}})
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

// knowClass lists the characters of a small class. Of a larger one beyond
// ASCII it knows how the characters begin: 64 in a row differ in the last byte.
func knowClass(ranges []rune) knowledge {
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
		return knowledge{whole: whole}
	}
	if len(begin) <= mostWords {
		return knowledge{best: begin}
	}
	return anything
}

// many says that a class has more characters than are listed, in either case.
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

func knowRepeat(re *syntax.Regexp) knowledge {
	if re.Min == 0 {
		return anything
	}
	j, k := joiner{}, know(re.Sub[0])
	for range min(re.Min, mostBytes) {
		j.add(k)
	}
	if re.Min != re.Max || re.Min > mostBytes {
		j.add(anything)
	}
	return j.done()
}

func knowAll(parts []*syntax.Regexp) knowledge {
	j := joiner{}
	for _, p := range parts {
		j.add(know(p))
	}
	return j.done()
}

func knowOneOf(parts []*syntax.Regexp) knowledge {
	all := knowledge{whole: []string{}, best: []string{}}
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
func (k knowledge) cut() knowledge {
	if better(k.whole, k.best) {
		return knowledge{best: k.whole}
	}
	return knowledge{best: k.best}
}

// better says whether words are worth more than others: the shortest of them
// is longer.
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

// joiner puts what is known of parts together that follow each other.
type joiner struct {
	whole  []string // of all parts since the last that was not known; nil: there were none yet
	best   []string
	broken bool // some part was not known
}

func (j *joiner) add(k knowledge) {
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

func (j *joiner) flush() {
	if better(j.whole, j.best) {
		j.best = j.whole
	}
	j.whole = nil
}

func (j *joiner) done() knowledge {
	if !j.broken {
		return knowledge{whole: j.whole, best: j.best}
	}
	j.flush()
	return knowledge{best: j.best}
}

// product appends each text of b to each of a; nil where that is too much.
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
