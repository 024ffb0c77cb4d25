package safeclaw

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// errInvalid is a pattern that JavaScript does not compile: in SafeClaw it
// silently matches nothing.
var errInvalid = errors.New("JavaScript does not compile it")

// errForeign is a pattern whose meaning RE2 cannot express.
var errForeign = errors.New("RE2 has no such thing")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errInvalid, fmt.Sprintf(format, args...))
}

func foreignTo(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), errForeign)
}

// translate returns the pattern of RE2 that matches the texts which a pattern
// of JavaScript (without flags) matches: the grammar is that of ECMA-262 with
// its Annex B, where most mistakes have a meaning. A search either finds
// something or not, so that greed and captures do not count. Characters beyond
// U+FFFF are one character for RE2 and two for JavaScript; where that could be
// seen in the pattern itself it is refused.
func translate(source string) (string, error) {
	p := &pattern{src: []rune(source)}
	p.count()
	if err := p.disjunction(); err != nil {
		return "", err
	}
	if p.more() {
		return "", invalid("a ) without its (")
	}
	return p.out.String(), nil
}

type pattern struct {
	src    []rune
	at     int
	groups int  // that capture
	named  bool // one of them has a name, which gives \k a meaning
	names  []string
	out    strings.Builder
}

var (
	groupName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)
	braces    = regexp.MustCompile(`^\{(\d+)(?:(,)(\d*))?\}`)
)

// count finds the groups before anything else: whether \2 is a reference
// depends on what comes later.
func (p *pattern) count() {
	class := false
	for i := 0; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '(' && !class && !p.ahead(i, "(?"):
			p.groups++
		case c == '(' && !class && p.ahead(i, "(?<") && !p.ahead(i, "(?<=") && !p.ahead(i, "(?<!"):
			p.groups++
			p.named = true
		}
	}
}

func (p *pattern) ahead(i int, text string) bool {
	t := []rune(text)
	return i+len(t) <= len(p.src) && slices.Equal(p.src[i:i+len(t)], t)
}

func (p *pattern) more() bool { return p.at < len(p.src) }

// peek is the next character, 0 at the end.
func (p *pattern) peek() rune {
	if !p.more() {
		return 0
	}
	return p.src[p.at]
}

func (p *pattern) take(text string) bool {
	if !p.ahead(p.at, text) {
		return false
	}
	p.at += len([]rune(text))
	return true
}

func (p *pattern) disjunction() error {
	for p.more() && p.peek() != ')' {
		if p.take("|") {
			p.out.WriteByte('|')
			continue
		}
		if err := p.term(); err != nil {
			return err
		}
	}
	return nil
}

// term is an assertion, or an atom with its quantifier.
func (p *pattern) term() error {
	for _, a := range []string{"^", "$", `\b`, `\B`} {
		if p.take(a) {
			p.out.WriteString(a)
			return nil // a quantifier that follows stands alone: see atom
		}
	}
	if p.take("(") {
		if err := p.group(); err != nil {
			return err
		}
		return p.quantifier()
	}
	if err := p.atom(); err != nil {
		return err
	}
	return p.quantifier()
}

func (p *pattern) group() error {
	for _, look := range []string{"?=", "?!", "?<=", "?<!"} {
		if p.ahead(p.at, look) {
			return foreignTo("(%s…) looks around", look)
		}
	}
	switch {
	case p.take("?:"):
	case p.take("?<"):
		if err := p.name(); err != nil {
			return err
		}
	case bareFlags.MatchString(string(p.src[p.at:])):
		return invalid("flags by themselves, such as (?i)")
	case p.peek() == '?':
		return foreignTo("(?… is known to some versions of JavaScript only")
	}
	p.out.WriteString("(?:")
	if err := p.disjunction(); err != nil {
		return err
	}
	if !p.take(")") {
		return invalid("a ( without its )")
	}
	p.out.WriteByte(')')
	return nil
}

func (p *pattern) name() error {
	end := slices.Index(p.src[p.at:], '>')
	if end < 0 {
		return invalid("a group's name does not end")
	}
	name := string(p.src[p.at : p.at+end])
	if !groupName.MatchString(name) || slices.Contains(p.names, name) {
		return foreignTo("the group name %q is unusual or given twice", name)
	}
	p.names = append(p.names, name)
	p.at += end + 1
	return nil
}

// quantifier reads how often the atom before may come.
func (p *pattern) quantifier() error {
	switch {
	case p.take("*"):
		p.out.WriteByte('*')
	case p.take("+"):
		p.out.WriteByte('+')
	case p.take("?"):
		p.out.WriteByte('?')
	default:
		m := braces.FindStringSubmatch(string(p.src[p.at:]))
		if m == nil {
			return nil
		}
		p.at += len(m[0])
		if err := p.times(m[1], m[2] != "", m[3]); err != nil {
			return err
		}
	}
	p.take("?")
	return nil
}

// bareFlags are what other languages switch flags on with; no version of
// JavaScript knows them.
var bareFlags = regexp.MustCompile(`^\?[a-zA-Z-]*\)`)

const maxRepeat = 1000 // of RE2

func (p *pattern) times(low string, comma bool, high string) error {
	n, errN := strconv.Atoi(low)
	m, errM := n, error(nil)
	if high != "" {
		m, errM = strconv.Atoi(high)
	}
	if errN != nil || errM != nil || n > maxRepeat || m > maxRepeat {
		return foreignTo("more than %d times", maxRepeat)
	}
	switch {
	case m < n:
		return invalid("{%d,%d} is out of order", n, m)
	case comma && high == "":
		fmt.Fprintf(&p.out, "{%d,}", n)
	default:
		fmt.Fprintf(&p.out, "{%d,%d}", n, m)
	}
	return nil
}

// quantified says that a quantifier is next.
func (p *pattern) quantified() bool {
	return strings.ContainsRune("*+?", p.peek()) && p.more() || braces.MatchString(string(p.src[p.at:min(len(p.src), p.at+24)]))
}

func (p *pattern) atom() error {
	switch c := p.peek(); {
	case p.quantified():
		return invalid("there is nothing to repeat")
	case c == '.':
		p.at++
		p.out.WriteString(`[^\n\r\x{2028}\x{2029}]`)
	case c == '[':
		p.at++
		set, err := p.class()
		if err != nil {
			return err
		}
		p.out.WriteString(set)
	case c == '\\':
		p.at++
		return p.escape()
	default:
		p.at++
		return p.literal(c)
	}
	return nil
}

// literal writes a character that stands for itself. JavaScript repeats only
// the second half of one beyond U+FFFF.
func (p *pattern) literal(c rune) error {
	if c > 0xFFFF && p.quantified() {
		return foreignTo("the second half of %q is repeated", c)
	}
	p.out.WriteString(char(c))
	return nil
}

// char writes one character of a pattern of RE2.
func char(c rune) string {
	switch {
	case c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c)) || strings.ContainsRune("_ /=:,;@#%'\"<>~`!&", c):
		return string(c)
	case c > ' ' && c < unicode.MaxASCII:
		return `\` + string(c)
	case c > unicode.MaxASCII && unicode.IsPrint(c):
		return string(c)
	}
	return fmt.Sprintf(`\x{%x}`, c)
}

// shortForms are \d, \w and \s as JavaScript has them, in RE2.
var shortForms = map[rune]string{
	'd': `\d`, 'D': `\D`, 'w': `\w`, 'W': `\W`, 's': `[\s\v\pZ\x{feff}]`, 'S': `[^\s\v\pZ\x{feff}]`,
}

// escape reads what follows a backslash outside of a class.
func (p *pattern) escape() error {
	if set, ok := shortForms[p.peek()]; ok {
		p.at++
		p.out.WriteString(set)
		return nil
	}
	if c := p.peek(); c >= '1' && c <= '9' && p.reference() {
		return foreignTo(`\%c… repeats what a group matched`, c)
	}
	if p.peek() == 'k' && p.named {
		return foreignTo(`\k repeats what a group matched`)
	}
	c, err := p.character(false)
	if err != nil {
		return err
	}
	if c >= 0xD800 && c <= 0xDFFF {
		if c, err = p.pair(c); err != nil {
			return err
		}
	}
	return p.literal(c)
}

// reference says that the number is that of a group, and not an old way to
// write a character.
func (p *pattern) reference() bool {
	end := p.at
	for end < len(p.src) && p.src[end] >= '0' && p.src[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(string(p.src[p.at:end]))
	return err == nil && n <= p.groups
}

// pair joins the two halves of a character beyond U+FFFF.
func (p *pattern) pair(high rune) (rune, error) {
	if high < 0xDC00 && p.take(`\u`) {
		if low, ok := p.hex(4); ok && low >= 0xDC00 && low <= 0xDFFF {
			return 0x10000 + (high-0xD800)<<10 + (low - 0xDC00), nil
		}
	}
	return 0, foreignTo("half of a character beyond U+FFFF")
}

// character reads the one character that an escape stands for.
func (p *pattern) character(class bool) (rune, error) {
	if !p.more() {
		return 0, invalid(`a \ at the end`)
	}
	c := p.src[p.at]
	if c == 'c' {
		return p.control(class), nil
	}
	if c >= '0' && c <= '7' {
		return p.octal(), nil
	}
	p.at++
	switch c {
	case 't':
		return '\t', nil
	case 'n':
		return '\n', nil
	case 'v':
		return '\v', nil
	case 'f':
		return '\f', nil
	case 'r':
		return '\r', nil
	case 'x':
		return p.hexOr(2, c), nil
	case 'u':
		return p.hexOr(4, c), nil
	}
	return c, nil
}

// control reads \cX; without a letter the backslash stands for itself.
func (p *pattern) control(class bool) rune {
	if p.at+1 < len(p.src) {
		l := p.src[p.at+1]
		letter := l >= 'a' && l <= 'z' || l >= 'A' && l <= 'Z'
		if letter || class && (l >= '0' && l <= '9' || l == '_') {
			p.at += 2
			return l % 32
		}
	}
	return '\\'
}

// octal reads up to three digits, at most \377.
func (p *pattern) octal() rune {
	var n rune
	for i := 0; i < 3 && p.more() && p.peek() >= '0' && p.peek() <= '7' && n*8+p.peek()-'0' <= 0o377; i++ {
		n = n*8 + p.peek() - '0'
		p.at++
	}
	return n
}

func (p *pattern) hexOr(digits int, letter rune) rune {
	if c, ok := p.hex(digits); ok {
		return c
	}
	return letter
}

func (p *pattern) hex(digits int) (rune, bool) {
	if p.at+digits > len(p.src) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(p.src[p.at:p.at+digits]), 16, 32)
	if err != nil {
		return 0, false
	}
	p.at += digits
	return rune(n), true
}
