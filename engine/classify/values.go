package classify

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Text that is only partly known holds one of two runes of the private use
// area where a part is missing. So abstract strings can be cut, joined and even
// parsed again as code like any other text. Input that holds them itself is
// reported as "encoding" and its parts count as not known.
const (
	hole    = '\uf8fe' // a part that is not known
	vacancy = '\uf8ff' // the value of a variable that the script never sets: not known, perhaps empty

	holeText    = string(hole)
	vacancyText = string(vacancy)
	holes       = holeText + vacancyText
)

// maxText bounds one abstract string: x="$x$x" forty times would be a terabyte.
const maxText = 64 << 10

// taint says where a text comes from, as a set of bits.
type taint uint8

const (
	substituted taint = 1 << iota // output of a command, not known beforehand
	fetched                       // came over the network
	decoded                       // was encoded, or is put together from pieces
	filed                         // holds what is in a local file
)

// arg is one abstract word: a value with what else is known about it.
type arg struct {
	text   string // with hole or vacancy where it is not known
	glob   bool   // an unquoted *, ? or [ is in it
	quoted bool
	splits bool // not known and not quoted: any number of words
	spare  bool // known, but from a variable that may be empty in fact: $TMPDIR
	bare   string
	taint  taint
	from   *arg         // what a process substitution in its place would read
	word   *syntax.Word // the word of the code that is this one alone; nil: it is of several, or made from others
}

func word(text string) arg { return arg{text: text} }

func unknownArg() arg { return arg{text: holeText} }

// known tells whether all of the text is known.
func (a arg) known() bool { return !strings.ContainsAny(a.text, holes) }

// literal returns the text and whether it is all there is to it.
func (a arg) literal() (string, bool) { return a.text, a.known() }

func (a arg) is(texts ...string) bool {
	for _, t := range texts {
		if a.text == t {
			return true
		}
	}
	return false
}

func (a arg) hasPrefix(p string) bool { return strings.HasPrefix(a.text, p) }

// with returns the arg with another text and the same provenance.
func (a arg) with(text string) arg {
	a.text = text
	a.spare = false
	return a
}

// value is what is left of an arg for an effect.
func (a arg) value() value {
	if a.from != nil {
		return value{sure: unknown}
	}
	i := strings.IndexAny(a.text, holes)
	switch {
	case i < 0 && a.glob:
		return value{glob, a.text}
	case i < 0:
		return value{literal, a.text}
	}
	known := a.text[:i]
	if a.glob {
		if g := strings.IndexAny(known, "*?["); g >= 0 {
			known = known[:g]
		}
	}
	if known == "" {
		return value{sure: unknown}
	}
	return value{prefix, known}
}

// tail is the known end behind the last part that is not known.
func (a arg) tail() string {
	i := strings.LastIndexAny(a.text, holes)
	if i < 0 {
		return a.text
	}
	return a.text[i+len(holeText):]
}

// emptied is the text if every variable from outside were empty, and whether
// such variables are the only thing that is not known.
func (a arg) emptied() (string, bool) {
	if a.spare && !strings.ContainsRune(a.text, hole) {
		return strings.ReplaceAll(a.bare, vacancyText, ""), true
	}
	if strings.ContainsRune(a.text, hole) || !strings.ContainsRune(a.text, vacancy) {
		return "", false
	}
	return strings.ReplaceAll(a.text, vacancyText, ""), true
}

// show renders an arg for engine.Command: unknown parts as "?".
func (a arg) show() string {
	s := strings.ReplaceAll(a.text, holeText, "?")
	return strings.ReplaceAll(s, vacancyText, "?")
}

// base is the last element of a path whose beginning may be unknown.
func (a arg) base() (string, bool) {
	t := a.tail()
	if i := strings.LastIndexByte(t, '/'); i >= 0 {
		return t[i+1:], true
	}
	return t, a.known()
}

func (v value) arg() arg {
	switch v.sure {
	case literal:
		return arg{text: v.text}
	case glob:
		return arg{text: v.text, glob: true}
	case prefix:
		return arg{text: v.text + holeText}
	}
	return unknownArg()
}

// joinArgs is the one abstract string that stands for all of them: what they
// begin with, and then anything.
func joinArgs(list []arg) arg {
	if len(list) == 0 {
		return arg{}
	}
	a := list[0]
	for _, b := range list[1:] {
		a.taint |= b.taint
		a.glob = a.glob || b.glob
		if a.text == b.text {
			continue
		}
		n := 0
		for n < len(a.text) && n < len(b.text) && a.text[n] == b.text[n] {
			n++
		}
		for n > 0 && n < len(a.text) && a.text[n]&0xc0 == 0x80 {
			n-- // not in the middle of a rune
		}
		a.text = a.text[:n] + holeText
	}
	return a
}

// concat is a followed by b.
func concat(a, b arg) arg {
	text := a.text + b.text
	if len(text) > maxText {
		text = cutText(text)
	}
	return arg{text: text, taint: a.taint | b.taint}
}

func cutText(s string) string {
	return strings.ToValidUTF8(s[:maxText], "") + holeText
}

// limitArgs keeps a set of alternatives small: distinct texts, at most n, else
// their join alone.
func limitArgs(list []arg, n int) []arg {
	var out []arg
	seen := map[string]bool{}
	for _, a := range list {
		if !seen[a.text] {
			seen[a.text] = true
			out = append(out, a)
		}
	}
	if len(out) > n {
		return []arg{joinArgs(out)}
	}
	return out
}

// joinDir resolves a word as a directory or file seen from dir, by its text
// alone, as the shell's own cd does.
func joinDir(dir value, a arg) value {
	v := a.value()
	if strings.HasPrefix(v.text, "/") {
		return cleanValue(v)
	}
	if v.sure == unknown || dir.sure == unknown {
		return value{sure: unknown}
	}
	if dir.sure != literal {
		return dir // a place below a place that is known by its beginning
	}
	v.text = strings.TrimSuffix(dir.text, "/") + "/" + v.text
	return cleanValue(v)
}

func cleanValue(v value) value {
	if v.sure == literal {
		v.text = path.Clean(v.text)
		return v
	}
	if v.sure == prefix && strings.Contains(v.text, "/..") {
		// What follows the known part may go up further: only the parent is sure
		// to be a beginning, and not even that.
		slash := strings.LastIndexByte(v.text, '/')
		v.text = strings.TrimSuffix(path.Clean(v.text[:slash+1]), "/") + v.text[slash:]
	}
	return v
}

// unionValues is the union of two small sets of directories.
func unionValues(a, b []value) []value {
	out := a
	for _, v := range b {
		if !containsValue(out, v) {
			out = append(out[:len(out):len(out)], v)
		}
	}
	return out
}

func containsValue(list []value, v value) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}
