package safeclaw

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// charset is a set of characters: first and last of each stretch.
type charset [][2]rune

const (
	lowSurrogate  = 0xD800
	highSurrogate = 0xDFFF
)

// shorthands are \d, \w and \s as JavaScript has them.
func shorthands(letter rune) charset {
	switch letter {
	case 'd':
		return charset{{'0', '9'}}
	case 'w':
		return charset{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	case 's':
		return charset{{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029},
			{0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}}
	}
	return nil
}

// shorthand reads \d and its like behind the backslash.
func (p *pattern) shorthand() (charset, bool) {
	c := p.peek()
	set := shorthands(unicode.ToLower(c))
	if set == nil || c > unicode.MaxASCII {
		return nil, false
	}
	p.at++
	if unicode.IsUpper(c) {
		set = set.complement()
	}
	return set, true
}

// complement returns all characters that are not in a sorted set.
func (s charset) complement() charset {
	var out charset
	next := rune(0)
	for _, r := range s {
		if r[0] > next {
			out = append(out, [2]rune{next, r[0] - 1})
		}
		next = r[1] + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, [2]rune{next, unicode.MaxRune})
	}
	return out
}

// expression writes the set as a class of RE2. The empty set matches nothing,
// its negation everything.
func (s charset) expression(negated bool) string {
	if len(s) == 0 {
		s, negated = charset{{0, unicode.MaxRune}}, !negated
	}
	var b strings.Builder
	b.WriteByte('[')
	if negated {
		b.WriteByte('^')
	}
	for _, r := range s {
		b.WriteString(char(r[0]))
		if r[1] > r[0] {
			b.WriteString("-" + char(r[1]))
		}
	}
	b.WriteByte(']')
	return b.String()
}

// class reads a class behind its [.
func (p *pattern) class() (string, error) {
	negated := p.take("^")
	var set charset
	for {
		if !p.more() {
			return "", invalid("a [ without its ]")
		}
		if p.take("]") {
			break
		}
		part, err := p.stretch()
		if err != nil {
			return "", err
		}
		set = append(set, part...)
	}
	set, err := set.whole()
	if err != nil {
		return "", err
	}
	return set.expression(negated), nil
}

// stretch reads an item of a class, or first-last.
func (p *pattern) stretch() (charset, error) {
	first, err := p.item()
	if err != nil {
		return nil, err
	}
	if p.peek() != '-' || p.ahead(p.at, "-]") || p.at+1 >= len(p.src) {
		return first, nil
	}
	p.at++
	last, err := p.item()
	if err != nil {
		return nil, err
	}
	if !first.single() || !last.single() {
		return slices.Concat(first, charset{{'-', '-'}}, last), nil // [\w-z]: all three
	}
	if last[0][0] < first[0][0] {
		return nil, invalid("%c-%c is out of order", first[0][0], last[0][0])
	}
	return charset{{first[0][0], last[0][0]}}, nil
}

func (s charset) single() bool { return len(s) == 1 && s[0][0] == s[0][1] }

// item reads a character or a shorthand.
func (p *pattern) item() (charset, error) {
	if !p.take(`\`) {
		c := p.peek()
		p.at++
		if c > 0xFFFF {
			return nil, foreignTo("a character beyond U+FFFF in a class")
		}
		return charset{{c, c}}, nil
	}
	if set, ok := p.shorthand(); ok {
		return set, nil
	}
	if p.take("b") {
		return charset{{'\b', '\b'}}, nil
	}
	if p.peek() == 'k' && p.named {
		return nil, invalid(`\k in a class`)
	}
	c, err := p.character(true)
	return charset{{c, c}}, err
}

// whole makes a set one of characters: one that holds all halves of those
// beyond U+FFFF holds these themselves.
func (s charset) whole() (charset, error) {
	var out charset
	for _, r := range s {
		switch {
		case r[1] < lowSurrogate || r[0] > highSurrogate:
			out = append(out, r)
		case r[0] <= lowSurrogate && r[1] >= highSurrogate:
			out = append(out, r, [2]rune{0x10000, unicode.MaxRune})
		default:
			return nil, foreignTo("halves of characters beyond U+FFFF in a class")
		}
	}
	return out, nil
}

// Of SafeClaw's guard against patterns that take forever it is known that it
// looks at the text only: it refuses a group whose last character is + or * and
// which is repeated, as in (a+)+, and lets ((a)+)+ and (\w+\s?)* pass.
var guarded = regexp.MustCompile(`\([^)]*[+*]\)[+*{]`)

// maybeGuarded is what the guard could refuse besides.
var maybeGuarded = regexp.MustCompile(`\([^)]*[+*][^)]*\)[+*{]`)
