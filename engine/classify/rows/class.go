package rows

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"
)

// Class is a set of ASCII characters.
type Class [256]bool

// Has reports whether a byte is in the class.
func (c *Class) Has(b byte) bool { return c[b] }

const (
	digits  = "0123456789"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	small   = "abcdefghijklmnopqrstuvwxyz"
)

// classes are the names of characters that forms of tokens use.
var classes = []struct{ name, chars string }{
	{"digit", digits},
	{"lower_hex", digits + "abcdef"},
	{"hex", digits + "abcdefABCDEF"},
	{"upper", digits + capital},
	{"alnum", digits + capital + small},
	{"token", digits + capital + small + "_-"},
	{"dotted", digits + capital + small + "_-."},
	{"base64", digits + capital + small + "_-+/="},
}

// ParseClass parses the name of a class, with additional characters after a plus: alnum,
// token+:.
func ParseClass(text string) (*Class, error) {
	if c := plainClasses()[text]; c != nil {
		return c, nil
	}
	chars, err := charsOf(text)
	if err != nil {
		return nil, err
	}
	return classOf(chars), nil
}

// plainClasses are those without additional characters, as most forms use them.
var plainClasses = sync.OnceValue(func() map[string]*Class {
	all := map[string]*Class{}
	for _, c := range classes {
		all[c.name] = classOf(c.chars)
	}
	return all
})

func classOf(chars string) *Class {
	var c Class
	for i := range len(chars) {
		c[chars[i]] = true
	}
	return &c
}

// within reports whether all characters of a class are among these.
func (c *Class) within(chars string) bool {
	for b, has := range c {
		if has && strings.IndexByte(chars, byte(b)) < 0 {
			return false
		}
	}
	return true
}

func charsOf(text string) (string, error) {
	name, more, _ := strings.Cut(text, "+")
	var names []string
	for _, c := range classes {
		if c.name == name {
			return c.chars + more, nil
		}
		names = append(names, c.name)
	}
	return "", fmt.Errorf("unknown characters %q: expected one of %s, with further characters after a plus", text, strings.Join(names, ", "))
}

// Specimen replaces {alnum 24} in a string with generated characters. The same text always
// has the same specimen.
func Specimen(text string) (string, error) {
	var b strings.Builder
	for n := uint64(1); ; n++ {
		before, rest, open := strings.Cut(text, "{")
		b.WriteString(before)
		if !open {
			return b.String(), nil
		}
		inner, behind, closed := strings.Cut(rest, "}")
		class, count, _ := strings.Cut(inner, " ")
		chars, err := charsOf(class)
		length, wrong := strconv.Atoi(count)
		if err != nil || wrong != nil || !closed || length < 1 || length > MaxRun {
			return "", fmt.Errorf("{%s}: expected characters and a count, such as {alnum 24}", inner)
		}
		b.WriteString(made(n, text, length, chars))
		text = behind
	}
}

// made returns characters that look like an issued token: at least one of each
// class.
func made(seed uint64, text string, n int, chars string) string {
	h := fnv.New64a()
	h.Write([]byte(text))
	state := h.Sum64() + seed
	b := make([]byte, n)
	for i := range b {
		state = state*6364136223846793005 + 1442695040888963407
		b[i] = chars[int(state>>33)%len(chars)]
	}
	if n >= 8 && len(chars) > 36 {
		copy(b[2:], "Q7x")
	}
	return string(b)
}
