package abstract

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Text that is only partly known holds one of two runes of the private use
// area where a part is missing. So abstract strings can be cut, joined and even
// parsed again as code like any other text. Input that holds them itself is
// reported as "encoding" and its parts count as not known.
const (
	Hole    = '\uf8fe' // a part that is not known
	Vacancy = '\uf8ff' // the value of a variable that the script never sets: not known, perhaps empty

	HoleText    = string(Hole)
	VacancyText = string(Vacancy)
	Holes       = HoleText + VacancyText
)

// MaxText bounds one abstract string: x="$x$x" forty times would be a terabyte.
const MaxText = 64 << 10

// Taint describes where a text comes from, as a set of bits.
type Taint uint64

const (
	Substituted Taint = 1 << iota // output of a command, not known beforehand
	Fetched                       // came over the network
	Decoded                       // was encoded, or is built from pieces
	Filed                         // holds what is in a local file
	Picked                        // holds lines of a local file, or of a text that is known
	Vouched                       // holds what version control holds of a file
	Partial                       // of the secret in it only lines or fields are left
	OwnProcess                    // the number of a process that the same code started, or is
)

// AsFile reports whether all that a text holds comes from files of this machine.
func (t Taint) AsFile() bool {
	return t&(Filed|Picked) != 0 && t&(Fetched|Decoded) == 0
}

// Arg is one abstract word: a value with what else is known about it.
type Arg struct {
	Text   string // with hole or vacancy where it is not known
	Glob   bool   // an unquoted *, ? or [ is in it
	Quoted bool
	Splits bool // not known and not quoted: any number of words
	Spare  bool // known, but from a variable that may be empty in fact: $TMPDIR
	Bare   string
	Taint  Taint
	From   *Arg         // what a process substitution in its place would read
	Part   *Arg         // some lines of this text are in it
	Word   *syntax.Word // the word of the code that is this one alone; nil: it is of several, or made from others
}

// Word returns a word that is known.
func Word(text string) Arg { return Arg{Text: text} }

// UnknownArg returns a word about which nothing is known.
func UnknownArg() Arg { return Arg{Text: HoleText} }

// Known reports whether all of the text is known.
func (a Arg) Known() bool { return !strings.ContainsAny(a.Text, Holes) }

// Literal returns the text and whether it is all there is to it.
func (a Arg) Literal() (string, bool) { return a.Text, a.Known() }

// Is reports whether the text is one of some texts.
func (a Arg) Is(texts ...string) bool {
	return slices.Contains(texts, a.Text)
}

// HasPrefix reports whether the text begins with p.
func (a Arg) HasPrefix(p string) bool { return strings.HasPrefix(a.Text, p) }

// With returns the arg with another text and the same provenance.
func (a Arg) With(text string) Arg {
	a.Text = text
	a.Spare = false
	return a
}

// Value is what is left of an arg for an effect.
func (a Arg) Value() Value {
	if a.From != nil {
		return Value{Sure: Unknown}
	}
	i := strings.IndexAny(a.Text, Holes)
	switch {
	case i < 0 && a.Glob:
		return Value{Glob, a.Text}
	case i < 0:
		return Value{Literal, a.Text}
	}
	known := a.Text[:i]
	if a.Glob {
		if g := strings.IndexAny(known, "*?["); g >= 0 {
			known = known[:g]
		}
	}
	if known == "" {
		return Value{Sure: Unknown}
	}
	return Value{Prefix, known}
}

// Tail is the known end after the last part that is not known.
func (a Arg) Tail() string {
	i := strings.LastIndexAny(a.Text, Holes)
	if i < 0 {
		return a.Text
	}
	return a.Text[i+len(HoleText):]
}

// Emptied is the text if every variable from outside were empty, and whether
// such variables are the only thing that is not known.
func (a Arg) Emptied() (string, bool) {
	if a.Spare && !strings.ContainsRune(a.Text, Hole) {
		return strings.ReplaceAll(a.Bare, VacancyText, ""), true
	}
	if strings.ContainsRune(a.Text, Hole) || !strings.ContainsRune(a.Text, Vacancy) {
		return "", false
	}
	return strings.ReplaceAll(a.Text, VacancyText, ""), true
}

// Show renders an arg for engine.Command: unknown parts as "?".
func (a Arg) Show() string {
	s := strings.ReplaceAll(a.Text, HoleText, "?")
	return strings.ReplaceAll(s, VacancyText, "?")
}

// Base is the last element of a path whose beginning may be unknown.
func (a Arg) Base() (string, bool) {
	t := a.Tail()
	if i := strings.LastIndexByte(t, '/'); i >= 0 {
		return t[i+1:], true
	}
	return t, a.Known()
}

// Arg returns the value as a word.
func (v Value) Arg() Arg {
	switch v.Sure {
	case Literal:
		return Arg{Text: v.Text}
	case Glob:
		return Arg{Text: v.Text, Glob: true}
	case Prefix:
		return Arg{Text: v.Text + HoleText}
	}
	return UnknownArg()
}

// JoinArgs is the one abstract string that stands for all of them: what they
// begin with, and then anything.
func JoinArgs(list []Arg) Arg {
	if len(list) == 0 {
		return Arg{}
	}
	a := list[0]
	for _, b := range list[1:] {
		a.Taint |= b.Taint
		a.Part = JoinParts(a.Part, b.Part)
		a.Glob = a.Glob || b.Glob
		if a.Text == b.Text {
			continue
		}
		n := 0
		for n < len(a.Text) && n < len(b.Text) && a.Text[n] == b.Text[n] {
			n++
		}
		for n > 0 && n < len(a.Text) && a.Text[n]&0xc0 == 0x80 {
			n-- // not in the middle of a rune
		}
		a.Text = a.Text[:n] + HoleText
	}
	return a
}

// Concat is a followed by b.
func Concat(a, b Arg) Arg {
	text := a.Text // one that was cut says already that more is there
	if len(text) <= MaxText {
		if text += b.Text; len(text) > MaxText {
			text = CutText(text)
		}
	}
	return Arg{Text: text, Taint: a.Taint | b.Taint, Part: JoinParts(a.Part, b.Part)}
}

// JoinParts is a text that holds the lines of both.
func JoinParts(a, b *Arg) *Arg {
	if a == b || a == nil || b == nil {
		return cmp.Or(a, b)
	}
	text := Concat(Concat(*a, Word("\n")), *b)
	return &text
}

// CutText returns the first MaxText bytes of a text, the rest not known.
func CutText(s string) string { return strings.ToValidUTF8(s[:MaxText], "") + HoleText }

// LimitArgs keeps a set of alternatives small: distinct texts, at most n, else
// their join alone.
func LimitArgs(list []Arg, n int) []Arg {
	var out []Arg
	seen := map[string]bool{}
	for _, a := range list {
		if !seen[a.Text] {
			seen[a.Text] = true
			out = append(out, a)
		}
	}
	if len(out) > n {
		return []Arg{JoinArgs(out)}
	}
	return out
}

// InDirectory reports whether a path begins at a root or at a drive: C:/a.
func InDirectory(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && (p[2] == '/' || p[2] == '\\') && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// JoinDir resolves a word as a directory or file seen from dir, by its text
// alone, as the shell's own cd does.
func JoinDir(dir Value, a Arg) Value {
	v := a.Value()
	if InDirectory(v.Text) {
		return cleanValue(v)
	}
	if v.Sure == Unknown || dir.Sure == Unknown {
		return Value{Sure: Unknown}
	}
	if dir.Sure != Literal {
		return dir // a place below a place that is known by its beginning
	}
	v.Text = strings.TrimSuffix(dir.Text, "/") + "/" + v.Text
	return cleanValue(v)
}

func cleanValue(v Value) Value {
	if v.Sure == Literal {
		if v.Text = path.Clean(v.Text); len(v.Text) == 2 && v.Text[1] == ':' && InDirectory(v.Text+"/") {
			v.Text += "/" // the drive, and not the current directory on it
		}
		return v
	}
	if v.Sure == Prefix && strings.Contains(v.Text, "/..") {
		// What follows the known part may go up further: only the parent is sure
		// to be a beginning, and not even that.
		slash := strings.LastIndexByte(v.Text, '/')
		v.Text = strings.TrimSuffix(path.Clean(v.Text[:slash+1]), "/") + v.Text[slash:]
	}
	return v
}

// UnionValues is the union of two small sets of directories.
func UnionValues(a, b []Value) []Value {
	out := a
	for _, v := range b {
		if !ContainsValue(out, v) {
			out = append(out[:len(out):len(out)], v)
		}
	}
	return out
}

// ContainsValue reports whether a list holds a value.
func ContainsValue(list []Value, v Value) bool {
	return slices.Contains(list, v)
}

// IsAssignment reports whether a word reads NAME=VALUE.
func IsAssignment(a Arg) bool {
	name, _, ok := strings.Cut(a.Text, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Reversed returns the characters of a text in the opposite order.
func Reversed(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

// AnyOf reports whether one of the words is in the list.
func AnyOf(list []string, words ...string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return slices.Contains(words, w) })
}

// Clip cuts a text to at most n bytes without breaking a character.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// MaxTokens bounds the tokens of one piece of code.
const MaxTokens = 100_000

// LineLength returns the length of the first line of a text, in bytes.
func LineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// IsNameByte reports whether a byte may be in a name of most languages.
func IsNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// IsURL reports whether a word begins with a scheme and "://".
func IsURL(a Arg) bool {
	i := strings.Index(a.Text, "://")
	return i > 0 && i < 12
}

// Line is output as $(…) puts it into a line.
func (a Arg) Line() Arg {
	return a.With(strings.ReplaceAll(strings.TrimRight(a.Text, "\n"), "\n", " "))
}

// FirstOr returns the first word of a list, or the empty word.
func FirstOr(list []Arg) Arg {
	if len(list) > 0 {
		return list[0]
	}
	return Arg{}
}

// WebURL reports whether a text is an address of the web.
func WebURL(text string) bool {
	scheme, rest, ok := strings.Cut(text, "://")
	return ok && rest != "" && len(scheme) <= 10 && !strings.ContainsAny(text, " \t\r\n") &&
		strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}
