package languages

import (
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// codeValue is the value of an expression in embedded code.
type codeValue struct {
	text   abstract.Arg
	known  bool // text is valid
	list   []codeValue
	isList bool
	more   bool                 // the list may have more elements like its last one
	fields map[string]codeValue // fields of an object or dictionary whose keys are literals
	alts   []codeValue          // any one of these: a loop's variable
	name   string               // a module, function or constructor: shutil.rmtree
	origin string               // the call that returned it: requests.Session
	from   string               // the variable that it was read from
	path   bool                 // an object that represents the file in text
	opened *abstract.Arg        // the file that it reads or writes
}

func unknownValue() codeValue { return codeValue{text: abstract.UnknownArg()} }

func textValue(a abstract.Arg) codeValue { return codeValue{text: a, known: true} }

// maxList limits a list that code assembles. Further elements count as unknown.
const maxList = 256

func listValue(list []codeValue) codeValue {
	v := codeValue{text: abstract.UnknownArg(), isList: true, list: list}
	if len(list) > maxList {
		v.list, v.more = append(list[:maxList:maxList], unknownValue()), true
	}
	return v
}

// size estimates the memory that a value takes, in bytes.
func (v codeValue) size() int {
	n := len(v.text.Text) + 64*len(v.list)
	for _, a := range v.alts {
		n += len(a.text.Text)
	}
	return n
}

func nameValue(name string) codeValue { return codeValue{text: abstract.UnknownArg(), name: name} }

// texts lists the strings that a value may be.
func (v codeValue) texts() []abstract.Arg {
	switch {
	case len(v.alts) > 0:
		var out []abstract.Arg
		for _, a := range v.alts {
			out = append(out, a.texts()...)
		}
		return out
	case v.isList:
		return []abstract.Arg{abstract.UnknownArg()}
	case v.known:
		return []abstract.Arg{v.text}
	}
	return []abstract.Arg{abstract.UnknownArg()}
}

// one returns the text of a value that is a single known text.
func (v codeValue) one() (string, bool) {
	t := v.texts()
	return t[0].Text, len(t) == 1 && t[0].Known()
}

// empty reports whether nothing is known about a value.
func (v codeValue) empty() bool {
	return !v.known && !v.isList && v.name == "" && len(v.alts) == 0 && v.fields == nil
}

// either returns a value that is a or b.
func either(a, b codeValue) codeValue {
	alts := append(choices(a), choices(b)...)
	if len(alts) > shell.MaxAlts {
		return textValue(abstract.JoinArgs(codeValue{alts: alts}.texts()))
	}
	out := codeValue{text: abstract.UnknownArg(), alts: alts, known: a.known && b.known, path: a.path && b.path}
	if a.name == b.name {
		out.name = a.name
	}
	return out
}

func choices(v codeValue) []codeValue {
	if len(v.alts) > 0 {
		return v.alts[:len(v.alts):len(v.alts)]
	}
	return []codeValue{v}
}

// element returns the value that a loop over v yields.
func (v codeValue) element() codeValue {
	switch {
	case v.isList && len(v.list) == 1 && v.list[0].name != "":
		return v.list[0] // an object
	case v.isList && len(v.list) > 0:
		return codeValue{alts: v.list, known: true, text: abstract.UnknownArg()}
	case v.isList, v.fields != nil:
		return unknownValue()
	case len(v.alts) > 0:
		var alts []codeValue
		for _, a := range v.alts {
			alts = append(alts, choices(a.element())...)
		}
		return codeValue{alts: alts, known: true, text: abstract.UnknownArg(), path: v.path}
	case v.known:
		return v
	}
	return codeValue{text: abstract.UnknownArg(), origin: v.origin}
}

// at returns the i-th element of a list, counted from its end if i is negative.
func (v codeValue) at(i int) codeValue {
	if i < 0 {
		i += len(v.list)
	}
	if i >= 0 && i < len(v.list) {
		return v.list[i]
	}
	return unknownValue()
}

func plus(a, b codeValue, slash bool) codeValue {
	switch {
	case a.isList && b.isList:
		v := listValue(append(a.list[:len(a.list):len(a.list)], b.list...))
		v.more = v.more || a.more || b.more
		return v
	case a.isList:
		return listValue(append(a.list[:len(a.list):len(a.list)], unknownValue()))
	case slash:
		v := combine(a, b, JoinPath)
		v.path = true
		return v
	}
	return combine(a, b, abstract.Concat)
}

// combine applies f to all combinations of what a and b may be.
func combine(a, b codeValue, f func(a, b abstract.Arg) abstract.Arg) codeValue {
	x, y := a.texts(), b.texts()
	if len(x)*len(y) > shell.MaxAlts {
		x, y = []abstract.Arg{abstract.JoinArgs(x)}, []abstract.Arg{abstract.JoinArgs(y)}
	}
	var alts []codeValue
	for _, s := range x {
		for _, t := range y {
			alts = append(alts, codeValue{text: f(s, t), known: true, path: a.path})
		}
	}
	if len(alts) == 1 {
		return alts[0]
	}
	return codeValue{alts: alts, known: true, text: abstract.UnknownArg(), path: a.path}
}

// each applies f to all texts that a value may be.
func (v codeValue) each(f func(a abstract.Arg) abstract.Arg) codeValue {
	return combine(v, textValue(abstract.Arg{}), func(a, _ abstract.Arg) abstract.Arg { return f(a) })
}

// JoinPath joins two paths as the languages do: an absolute second path
// replaces the first.
func JoinPath(a, b abstract.Arg) abstract.Arg {
	if b.HasPrefix("/") {
		return b
	}
	return abstract.Concat(abstract.Concat(abstract.Arg{Text: strings.TrimSuffix(a.Text, "/"), Taint: a.Taint}, abstract.Word("/")), b)
}

// repeated returns a string repeated n times, such as "../" * 3.
func repeated(v, n codeValue) codeValue {
	text, ok := v.one()
	digits, known := n.one()
	times, err := strconv.Atoi(digits)
	if !ok || !known || err != nil || !v.known || times < 0 || times*len(text) > abstract.MaxText {
		return unknownValue()
	}
	return v.each(func(a abstract.Arg) abstract.Arg { return a.With(strings.Repeat(a.Text, times)) })
}

// fillPercent replaces the conversions of a format with values: "%s/x" % v.
func fillPercent(format abstract.Arg, args []codeValue) codeValue {
	out := textValue(abstract.Arg{Taint: format.Taint})
	rest := format.Text
	for {
		before, after, found := strings.Cut(rest, "%")
		out = combine(out, textValue(abstract.Word(before)), abstract.Concat)
		if !found {
			return out
		}
		n := strings.IndexFunc(after, func(r rune) bool { return r == '%' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
		piece := unknownValue()
		switch {
		case n < 0:
			return combine(out, piece, abstract.Concat)
		case after[n] == '%':
			piece = textValue(abstract.Word("%"))
		case n == 0 && len(args) > 0:
			piece, args = args[0], args[1:]
		case len(args) > 0:
			args = args[1:]
		}
		out, rest = combine(out, piece, abstract.Concat), after[n+1:]
	}
}

// fillBraces evaluates "{}/{name}".format(…).
func fillBraces(format abstract.Arg, args []codeValue, named map[string]codeValue) codeValue {
	out := textValue(abstract.Arg{Taint: format.Taint})
	rest := strings.NewReplacer("{{", "\x00", "}}", "\x01").Replace(format.Text)
	plain := strings.NewReplacer("\x00", "{", "\x01", "}")
	for next := 0; ; {
		before, after, found := strings.Cut(rest, "{")
		out = combine(out, textValue(abstract.Word(plain.Replace(before))), abstract.Concat)
		key, tail, closed := strings.Cut(after, "}")
		if !found || !closed {
			return out
		}
		piece := unknownValue()
		if at, err := strconv.Atoi(key); key == "" || err == nil {
			if key == "" {
				at, next = next, next+1
			}
			piece = argAt(args, max(at, 0))
		} else if v, ok := named[key]; ok {
			piece = v
		}
		out, rest = combine(out, piece, abstract.Concat), tail
	}
}

// characters returns the text of a list of character codes.
func characters(list []codeValue) codeValue {
	var b strings.Builder
	for _, v := range list {
		digits, ok := v.one()
		n, err := strconv.ParseInt(digits, 0, 32)
		if !ok || err != nil || n < 0 || n > 0x10ffff {
			return textValue(abstract.Arg{Text: abstract.HoleText, Taint: abstract.Decoded})
		}
		b.WriteRune(rune(n))
	}
	return textValue(abstract.Arg{Text: strings.ToValidUTF8(b.String(), abstract.HoleText), Taint: abstract.Decoded})
}

// backwards returns the reversed text.
func backwards(a abstract.Arg) abstract.Arg {
	runes := []rune(a.Text)
	for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
		runes[i], runes[j] = runes[j], runes[i]
	}
	out := a.With(string(runes))
	out.Taint |= abstract.Decoded
	return out
}

func argAt(args []codeValue, i int) codeValue {
	if i < len(args) {
		return args[i]
	}
	return unknownValue()
}
