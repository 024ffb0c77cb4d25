package abstract

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"mvdan.cc/sh/v3/syntax"
)

// A string that is only partly known has one of two private-use runes in place of each
// missing part. So abstract strings can be cut, joined and even parsed again as code like
// any other text. Input that contains these runes itself is reported as "encoding", and
// they count as unknown parts.
const (
	Hole    = engine.Hole // an unknown part
	Vacancy = '\uf8ff'    // the value of a variable that the script never sets: unknown, perhaps empty

	HoleText    = string(Hole)
	VacancyText = string(Vacancy)
	Holes       = HoleText + VacancyText
)

// MaxText limits one abstract string: x="$x$x" forty times would be a terabyte.
const MaxText = 64 << 10

// Taint describes the origins of a string, as a set of bits.
type Taint uint64

const (
	Substituted Taint = 1 << iota // output of a command, unknown in advance
	Fetched                       // came over the network
	Decoded                       // was encoded, or is assembled from pieces
	Filed                         // contains the content of a local file
	Picked                        // contains lines of a local file, or of a known text
	Vouched                       // contains the version of a file that version control has
	Partial                       // contains only some lines or fields of the secret
	OwnProcess                    // id of a process that the same code started, or its own
	Coded                         // contains the content of a local file in another form: base64, compressed
)

// OfFile are the origins of strings that tell what a file of this machine contains.
const OfFile = Filed | Coded

// AsFile reports whether a string comes only from files of this machine.
func (t Taint) AsFile() bool {
	return t&(Filed|Picked) != 0 && t&(Fetched|Decoded) == 0
}

// Arg is one abstract word: a value with everything else that is known about it.
type Arg struct {
	Text   string // with Hole or Vacancy in place of unknown parts
	Glob   bool   // contains an unquoted *, ? or [
	Quoted bool
	Splits bool // unknown and unquoted: any number of words
	Spare  bool // known, but from a variable that may actually be empty: $TMPDIR
	Bare   string
	Taint  Taint
	From   *Arg         // what a process substitution in its place would read
	Part   *Arg         // a string of which this contains some lines
	One    bool         // with Glob: perhaps only one of the files that match
	Found  *Found       // the files whose names it lists, one in each line; nil: only the text is known
	Word   *syntax.Word // the word of the code that is this argument alone; nil: it is part of several, or derived from others
}

// Found is what a search found: patterns of file names.
type Found struct{ Files []Arg }

// maxFound limits the patterns that are followed individually.
const maxFound = 32

// FoundFiles returns patterns as the result of a search; nil for none, and for too many.
func FoundFiles(patterns []Arg) *Found {
	if len(patterns) == 0 || len(patterns) > maxFound {
		return nil
	}
	return &Found{patterns}
}

// And returns the results of two searches together; nil if one of them is unknown.
func (f *Found) And(o *Found) *Found {
	switch {
	case f == o:
		return f
	case f == nil || o == nil:
		return nil
	}
	all := slices.Clone(f.Files)
	for _, file := range o.Files {
		if !slices.ContainsFunc(all, func(a Arg) bool { return a.Text == file.Text && a.One == file.One }) {
			all = append(all, file)
		}
	}
	return FoundFiles(all)
}

// Word returns a known word.
func Word(text string) Arg { return Arg{Text: text} }

// UnknownArg returns a word about which nothing is known.
func UnknownArg() Arg { return Arg{Text: HoleText} }

// Known reports whether the whole text is known.
func (a Arg) Known() bool { return !strings.ContainsAny(a.Text, Holes) }

// Literal returns the text, and whether it is completely known.
func (a Arg) Literal() (string, bool) { return a.Text, a.Known() }

// Is reports whether the text equals one of some texts.
func (a Arg) Is(texts ...string) bool {
	return slices.Contains(texts, a.Text)
}

// HasPrefix reports whether the text starts with p.
func (a Arg) HasPrefix(p string) bool { return strings.HasPrefix(a.Text, p) }

// With returns the argument with another text and the same origin.
func (a Arg) With(text string) Arg {
	a.Text = text
	a.Spare, a.Found = false, nil
	return a
}

// Unnamed returns a path without the pattern in it: what precedes the pattern, and an unknown rest.
func (a Arg) Unnamed() Arg {
	if i := strings.IndexAny(a.Text, "*?["); a.Glob && i >= 0 {
		a = a.With(a.Text[:i] + HoleText)
		a.Glob, a.One = false, false
	}
	return a
}

// Value returns the argument in the form that effects use.
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

// Tail returns the known text after the last unknown part.
func (a Arg) Tail() string {
	i := strings.LastIndexAny(a.Text, Holes)
	if i < 0 {
		return a.Text
	}
	return a.Text[i+len(HoleText):]
}

// Emptied returns the text as if every variable from outside were empty, and whether such
// variables are its only unknown parts.
func (a Arg) Emptied() (string, bool) {
	if a.Spare && !strings.ContainsRune(a.Text, Hole) {
		return strings.ReplaceAll(a.Bare, VacancyText, ""), true
	}
	if strings.ContainsRune(a.Text, Hole) || !strings.ContainsRune(a.Text, Vacancy) {
		return "", false
	}
	return strings.ReplaceAll(a.Text, VacancyText, ""), true
}

// Show renders an argument for engine.Command: unknown parts as "?".
func (a Arg) Show() string {
	s := strings.ReplaceAll(a.Text, HoleText, "?")
	return strings.ReplaceAll(s, VacancyText, "?")
}

// Base returns the last element of a path whose beginning may be unknown.
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

// JoinArgs returns one abstract string that covers all of the arguments: their common
// prefix, followed by anything.
func JoinArgs(list []Arg) Arg {
	if len(list) == 0 {
		return Arg{}
	}
	a := list[0]
	for _, b := range list[1:] {
		a.Taint |= b.Taint
		a.Part = JoinParts(a.Part, b.Part)
		a.Glob = a.Glob || b.Glob
		a.Found = a.Found.And(b.Found)
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

// Concat returns a followed by b.
func Concat(a, b Arg) Arg {
	text := a.Text // a truncated text already ends in an unknown part
	if len(text) <= MaxText {
		if text += b.Text; len(text) > MaxText {
			text = CutText(text)
		}
	}
	return Arg{Text: text, Taint: a.Taint | b.Taint, Part: JoinParts(a.Part, b.Part)}
}

// JoinParts returns a string that contains the lines of both.
func JoinParts(a, b *Arg) *Arg {
	if a == b || a == nil || b == nil {
		return cmp.Or(a, b)
	}
	text := Concat(Concat(*a, Word("\n")), *b)
	return &text
}

// CutText returns the first MaxText bytes of a string, followed by an unknown part.
func CutText(s string) string { return strings.ToValidUTF8(s[:MaxText], "") + HoleText }

// LimitArgs keeps a set of alternatives small: at most n distinct texts, else only their
// join.
func LimitArgs(list []Arg, n int) []Arg {
	var out []Arg
	seen := map[string]int{} // place in out
	for _, a := range list {
		i, ok := seen[a.Text]
		if ok {
			out[i].Found = out[i].Found.And(a.Found)
			continue
		}
		seen[a.Text] = len(out)
		out = append(out, a)
	}
	if len(out) > n {
		return []Arg{JoinArgs(out)}
	}
	return out
}

// InDirectory reports whether a path starts at a root or a drive: C:/a.
func InDirectory(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && (p[2] == '/' || p[2] == '\\') && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// JoinDir resolves a word as a directory or file relative to dir, by its text alone, as the
// shell's own cd does.
func JoinDir(dir Value, a Arg) Value {
	v := a.Value()
	if InDirectory(v.Text) {
		return cleanValue(v)
	}
	if v.Sure == Unknown || dir.Sure == Unknown {
		return Value{Sure: Unknown}
	}
	if dir.Sure != Literal {
		return dir // a path under a path of which only the beginning is known
	}
	v.Text = strings.TrimSuffix(dir.Text, "/") + "/" + v.Text
	return cleanValue(v)
}

func cleanValue(v Value) Value {
	if v.Sure == Literal {
		if v.Text = path.Clean(v.Text); len(v.Text) == 2 && v.Text[1] == ':' && InDirectory(v.Text+"/") {
			v.Text += "/" // the drive's root, not its current directory
		}
		return v
	}
	if v.Sure == Prefix && strings.Contains(v.Text, "/..") {
		// The unknown rest may contain .., so only the parent is likely to be a prefix, and
		// even that is not certain.
		slash := strings.LastIndexByte(v.Text, '/')
		v.Text = strings.TrimSuffix(path.Clean(v.Text[:slash+1]), "/") + v.Text[slash:]
	}
	return v
}

// UnionValues returns the union of two small sets of directories.
func UnionValues(a, b []Value) []Value {
	out := a
	for _, v := range b {
		if !ContainsValue(out, v) {
			out = append(out[:len(out):len(out)], v)
		}
	}
	return out
}

// ContainsValue reports whether a list contains a value.
func ContainsValue(list []Value, v Value) bool {
	return slices.Contains(list, v)
}

// IsAssignment reports whether a word has the form NAME=VALUE.
func IsAssignment(a Arg) bool {
	name, _, ok := strings.Cut(a.Text, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Reversed returns the characters of a string in reverse order.
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

// Clip truncates a string to at most n bytes without splitting a character.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// MaxTokens limits the tokens of one piece of code.
const MaxTokens = 100_000

// LineLength returns the length of the first line of a string, in bytes.
func LineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// IsNameByte reports whether a byte may be part of a name in most languages.
func IsNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// IsURL reports whether a word starts with a scheme and "://".
func IsURL(a Arg) bool {
	i := strings.Index(a.Text, "://")
	return i > 0 && i < 12
}

// Line returns the output in the form in which $(…) inserts it into a line.
func (a Arg) Line() Arg {
	return a.With(strings.ReplaceAll(strings.TrimRight(a.Text, "\n"), "\n", " "))
}

// FirstOr returns the first word of a list, or an empty word.
func FirstOr(list []Arg) Arg {
	if len(list) > 0 {
		return list[0]
	}
	return Arg{}
}

// WebURL reports whether a string is a web address.
func WebURL(text string) bool {
	scheme, rest, ok := strings.Cut(text, "://")
	return ok && rest != "" && len(scheme) <= 10 && !strings.ContainsAny(text, " \t\r\n") &&
		strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}
