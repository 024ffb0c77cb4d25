package shell

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"mvdan.cc/sh/v3/syntax"
)

// maxBraces bounds the braces in one word.
const maxBraces = 64

// MaxWords limits the number of words that one word may expand to by braces and splitting.
const MaxWords = 256

// builder assembles the fields that one word expands to.
type builder struct {
	s      *Machine
	fields []abstract.Arg
	cur    abstract.Arg
	text   []byte // of cur
	bare   []byte // the same without optional parts
	open   bool   // cur is a field even if it is empty
	raw    bool   // no splitting and no patterns: assignments, here-documents
	ifs    string
}

func (b *builder) add(text string, quoted bool) {
	b.addArg(abstract.Word(text), quoted)
}

// addArg appends one piece to the field under construction.
func (b *builder) addArg(a abstract.Arg, quoted bool) {
	b.open = true
	if !b.s.Spend(len(a.Text)) {
		b.text, b.bare = []byte(abstract.HoleText), []byte(abstract.HoleText)
		return
	}
	b.cur.Found = nil
	if b.raw && len(b.text) == 0 {
		b.cur.Found = a.Found // so far, the value is the list itself
	}
	b.cur.Quoted = b.cur.Quoted || quoted
	b.cur.Taint |= a.Taint
	b.cur.Part = abstract.JoinParts(b.cur.Part, a.Part)
	if len(b.text)+len(a.Text) > abstract.MaxText {
		a.Text = abstract.HoleText
		if bytes.HasSuffix(b.text, []byte(abstract.HoleText)) {
			a.Text = "" // it already indicates more text
		}
	}
	b.text = append(b.text, a.Text...)
	if a.Spare {
		b.cur.Spare = true
		b.bare = append(b.bare, a.Bare...)
	} else {
		b.bare = append(b.bare, a.Text...)
	}
	// A value that is a pattern already represents the files that it matches: the
	// variable of a loop over *.tmp, quoted or not.
	b.cur.Glob, b.cur.One = b.cur.Glob || a.Glob, b.cur.One || a.One
	if !quoted && !b.raw {
		b.cur.Glob = b.cur.Glob || hasPattern(a.Text)
		b.cur.Splits = b.cur.Splits || a.Splits || !a.Known()
	}
	if a.From != nil {
		b.cur.From = a.From
	}
}

// hasPattern reports whether an unquoted text is a pattern for names of files.
func hasPattern(text string) bool {
	if strings.ContainsAny(text, "*?") {
		return true
	}
	i := strings.IndexByte(text, '[')
	return i >= 0 && strings.IndexByte(text[i:], ']') > 1
}

// field is the one under construction.
func (b *builder) field() abstract.Arg {
	a := b.cur
	a.Text, a.Bare = string(b.text), string(b.bare)
	return a
}

// flush ends a field.
func (b *builder) flush() {
	if b.open && len(b.fields) < MaxWords {
		b.fields = append(b.fields, b.field())
	} else if b.open {
		b.s.OverBudget("words")
	}
	b.cur, b.text, b.bare, b.open = abstract.Arg{}, nil, nil, false
}

// value appends the result of an expansion.
func (b *builder) value(a abstract.Arg, quoted bool) {
	switch {
	case a.Found != nil && !b.raw && len(b.text) == 0 && (!quoted || len(a.Found.Files) == 1):
		b.files(a, quoted)
	case quoted:
		b.addArg(a, true)
	default:
		b.split(a)
	}
}

// files appends what a search found, each pattern as a field. In quotes, several names are not
// the name of a file, so there is only one.
func (b *builder) files(a abstract.Arg, quoted bool) {
	for i, file := range a.Found.Files {
		if i > 0 {
			b.flush()
		}
		file.Taint |= a.Taint
		file.One = file.One || quoted
		b.addArg(file, quoted)
	}
}

// split appends an unquoted value: blanks in it end fields.
func (b *builder) split(a abstract.Arg) {
	if b.raw || !strings.ContainsAny(a.Text, b.ifs) {
		if a.Text != "" || b.raw {
			b.addArg(a, false)
		}
		return
	}
	text := a.Text
	for text != "" {
		i := strings.IndexAny(text, b.ifs)
		if i < 0 {
			break
		}
		if i > 0 {
			b.addArg(a.With(text[:i]), false)
		}
		b.flush()
		text = text[i+1:]
	}
	if text != "" {
		b.addArg(a.With(text), false)
	}
}

// Expand turns words into the fields of an argument list.
func (s *Machine) Expand(words []*syntax.Word) []abstract.Arg {
	var fields []abstract.Arg
	for _, w := range words {
		split := syntax.Word{Parts: w.Parts} // the tree stays unchanged: Walk does not support braces
		if s.fewBraces(w) {
			syntax.SplitBraces(&split)
		}
		before := len(fields)
		for _, parts := range s.braces(split.Parts) {
			fields = append(fields, s.fields(parts)...)
			if len(fields) > 4*MaxWords {
				s.OverBudget("words")
				return fields
			}
		}
		if len(fields) == before+1 {
			fields[before].Word = w
		}
	}
	return fields
}

func (s *Machine) fields(parts []syntax.WordPart) []abstract.Arg {
	b := &builder{s: s, ifs: s.ifs()}
	b.parts(parts, false)
	b.flush()
	return b.fields
}

// Single expands a word where the shell neither splits nor looks for files.
func (s *Machine) Single(w *syntax.Word) abstract.Arg {
	if w == nil {
		return abstract.Arg{}
	}
	b := &builder{s: s, raw: true}
	b.parts(w.Parts, false)
	return b.field()
}

// pattern expands a word in which unquoted *, ? and [ are a pattern: case,
// ${x#…}.
func (s *Machine) pattern(w *syntax.Word) abstract.Arg { return s.Single(w) }

func (s *Machine) ifs() string {
	if v, ok := s.Scope.Lookup("IFS"); ok && len(v.alts) == 1 && v.alts[0].Known() {
		return v.alts[0].Text
	}
	return " \t\n"
}

func (b *builder) parts(parts []syntax.WordPart, quoted bool) {
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			text := p.Value
			if i == 0 && !quoted {
				text = b.tilde(text)
			}
			b.literal(text, quoted)
		case *syntax.SglQuoted:
			b.single(p)
		case *syntax.DblQuoted:
			b.open, b.cur.Quoted = true, true
			b.parts(p.Parts, true)
		case *syntax.ParamExp:
			b.param(p, quoted)
		case *syntax.CmdSubst:
			b.command(p, quoted)
		case *syntax.ArithmExp:
			b.addArg(b.s.arithmetic(p.X), true)
		case *syntax.ProcSubst:
			b.process(p)
		case *syntax.ExtGlob:
			b.addArg(abstract.Arg{Text: "*", Glob: true}, false)
		case *syntax.BraceExp:
			b.addArg(abstract.Arg{Text: "*", Glob: true}, false)
		}
	}
}

// tilde expands ~, ~user, ~+ and ~- at the beginning of a word.
func (b *builder) tilde(text string) string {
	if !strings.HasPrefix(text, "~") {
		return text
	}
	name, rest, slash := strings.Cut(text[1:], "/")
	if strings.ContainsAny(name, "\\:=*?[") {
		return text
	}
	if slash {
		rest = "/" + rest
	}
	dir := b.s.HomeOf(name)
	b.addArg(dir, true)
	b.cur.Quoted = false
	return rest
}

// HomeOf returns the home directory of a user.
func (s *Machine) HomeOf(user string) abstract.Arg {
	switch {
	case user == "":
		return s.Read("HOME")
	case user == "+":
		return s.Read("PWD")
	case user == "-":
		return s.Read("OLDPWD")
	case user == "root":
		return abstract.Word("/root")
	case s.In.Home == "":
		return abstract.UnknownArg()
	}
	parent := path.Dir(s.In.Home)
	if parent == "/" {
		parent = "/home"
	}
	return abstract.Word(parent + "/" + user)
}

// literal appends text as it is in the source, where a backslash quotes.
func (b *builder) literal(text string, quoted bool) {
	if !strings.Contains(text, `\`) {
		if text != "" {
			b.add(text, quoted)
		}
		return
	}
	var plain, escaped strings.Builder // one of them is empty
	emit := func(from *strings.Builder, q bool) {
		if from.Len() > 0 {
			b.add(from.String(), q)
			from.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' || i+1 == len(text) || quoted && !strings.ContainsRune("$`\"\\\n", rune(text[i+1])) {
			emit(&escaped, true)
			plain.WriteByte(c)
			continue
		}
		i++
		if text[i] == '\n' {
			continue
		}
		emit(&plain, quoted)
		escaped.WriteByte(text[i])
	}
	emit(&plain, quoted)
	emit(&escaped, true)
}

func (b *builder) single(p *syntax.SglQuoted) {
	text := p.Value
	if p.Dollar {
		text = ansiC(text)
	}
	b.open, b.cur.Quoted = true, true
	b.add(text, true)
	if p.Dollar && hidesText(p.Value) {
		b.cur.Taint |= abstract.Decoded
	}
}

// hidesText reports whether $'…' spells out characters that could be there
// themselves.
func hidesText(s string) bool {
	return strings.Contains(s, `\x`) || strings.Contains(s, `\u`) || strings.Contains(s, `\1`)
}

// ansiC decodes the escapes of $'…'.
func ansiC(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		i += Escape(&b, s[i:]) - 1
	}
	return strings.ToValidUTF8(b.String(), abstract.HoleText)
}

// Escape decodes the escape sequence at the start of s, without its backslash, and returns its
// length in bytes.
func Escape(b *strings.Builder, s string) int {
	const names, values = `abeEfnrtv\'"?`, "\a\b\x1b\x1b\f\n\r\t\v\\'\"?"
	if i := strings.IndexByte(names, s[0]); i >= 0 {
		b.WriteByte(values[i])
		return 1
	}
	digits, base, start := 0, 16, 1
	switch {
	case s[0] == 'x':
		digits = 2
	case s[0] == 'u':
		digits = 4
	case s[0] == 'U':
		digits = 8
	case s[0] >= '0' && s[0] <= '7':
		digits, base, start = 3, 8, 0
	case s[0] == 'c' && len(s) > 1:
		b.WriteByte(s[1] & 0x1f)
		return 2
	}
	end := start
	for end < len(s) && end < start+digits && isDigit(s[end], base) {
		end++
	}
	n, err := strconv.ParseUint(s[start:end], base, 32)
	switch {
	case err != nil:
		b.WriteByte('\\')
		b.WriteByte(s[0])
		return 1
	case s[0] == 'u' || s[0] == 'U':
		b.WriteRune(rune(n))
	default:
		b.WriteByte(byte(n))
	}
	return end
}

func isDigit(c byte, base int) bool {
	_, err := strconv.ParseUint(string(rune(c)), base, 8)
	return err == nil
}

// command runs a command substitution and appends its output.
func (b *builder) command(p *syntax.CmdSubst, quoted bool) {
	out := b.s.capture(p.Stmts)
	b.open = b.open || quoted
	b.value(out, quoted)
}

// capture runs statements in a subshell and returns what they print, without
// the newlines at its end.
func (s *Machine) capture(list []*syntax.Stmt) abstract.Arg {
	saved := s.first
	out := s.Subshell(func() Outcome {
		s.Frame.Wants = true
		return s.stmts(list)
	}).Out
	s.first = saved
	out.Text = strings.TrimRight(out.Text, "\n")
	if !out.Known() {
		out.Taint |= abstract.Substituted
	}
	return out
}

// process runs a process substitution. What the command around it would read
// there is kept with the word.
func (b *builder) process(p *syntax.ProcSubst) {
	a := abstract.UnknownArg()
	if p.Op == syntax.CmdOut {
		b.s.feed(p.Stmts)
	} else {
		out := b.s.capture(p.Stmts)
		a.From = &out
	}
	b.addArg(a, true)
}

// feed runs the commands of >(…). What they will read is not known yet.
func (s *Machine) feed(list []*syntax.Stmt) {
	saved := s.Frame
	in := abstract.UnknownArg()
	s.Frame.Stdin, s.Frame.Piped = &in, true
	s.capture(list)
	s.Frame = saved
}

// fewBraces reports whether the braces of a word are expanded: time and memory grow
// with the square of their depth.
func (s *Machine) fewBraces(w *syntax.Word) bool {
	n := 0
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			n += strings.Count(lit.Value, "{")
		}
	}
	if n > maxBraces {
		s.OverBudget("words")
	}
	return n <= maxBraces
}

// braces expands {a,b} and {1..9}.
func (s *Machine) braces(parts []syntax.WordPart) [][]syntax.WordPart {
	out := [][]syntax.WordPart{nil}
	for _, p := range parts {
		e, ok := p.(*syntax.BraceExp)
		choices := [][]syntax.WordPart{{p}}
		if ok {
			choices = s.choices(e)
		}
		if len(out)*len(choices) > MaxWords {
			choices = [][]syntax.WordPart{{p}} // represents anything
		}
		if len(choices) == 1 {
			for i := range out {
				out[i] = append(out[i], choices[0]...)
			}
			continue
		}
		next := make([][]syntax.WordPart, 0, len(out)*len(choices))
		for _, head := range out {
			for _, c := range choices {
				next = append(next, append(head[:len(head):len(head)], c...))
			}
		}
		out = next
	}
	return out
}

func (s *Machine) choices(e *syntax.BraceExp) [][]syntax.WordPart {
	var out [][]syntax.WordPart
	if !e.Sequence {
		for _, w := range e.Elems {
			out = append(out, s.braces(w.Parts)...)
		}
		return out
	}
	for _, text := range sequence(e) {
		out = append(out, []syntax.WordPart{&syntax.Lit{Value: text}})
	}
	if out == nil {
		return [][]syntax.WordPart{{e}}
	}
	return out
}

// sequence lists {1..5}, {a..e} and {1..9..2}; nil if it is too long.
func sequence(e *syntax.BraceExp) []string {
	var at [3]string
	for i, w := range e.Elems {
		if i < 3 {
			at[i] = w.Lit()
		}
	}
	from, err1 := strconv.Atoi(at[0])
	to, err2 := strconv.Atoi(at[1])
	step, _ := strconv.Atoi(at[2])
	letters := len(at[0]) == 1 && len(at[1]) == 1 && err1 != nil && err2 != nil
	if letters {
		from, to = int(at[0][0]), int(at[1][0])
	}
	step = max(step, -step, 1)
	if to < from {
		step = -step
	}
	if step == 0 || (to-from)/step >= MaxWords/2 || (to-from)/step < 0 {
		return nil
	}
	var out []string
	for i := from; (step > 0 && i <= to) || (step < 0 && i >= to); i += step {
		if letters {
			out = append(out, string(rune(i)))
		} else {
			out = append(out, strconv.Itoa(i))
		}
	}
	return out
}

// heredoc is the text of a here-document.
func (s *Machine) heredoc(r *syntax.Redirect) abstract.Arg {
	if r.Hdoc == nil {
		return abstract.Arg{}
	}
	b := &builder{s: s, raw: true}
	if quotedDelimiter(r.Word) {
		for _, p := range r.Hdoc.Parts {
			if lit, ok := p.(*syntax.Lit); ok {
				b.add(lit.Value, true)
			}
		}
	} else {
		b.parts(r.Hdoc.Parts, true)
	}
	if r.Op == syntax.DashHdoc {
		b.text = []byte(stripTabs(string(b.text)))
	}
	b.bare = nil
	return b.field()
}

func quotedDelimiter(w *syntax.Word) bool {
	for _, p := range w.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}

func stripTabs(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimLeft(l, "\t")
	}
	return strings.Join(lines, "\n")
}
