package windows

import (
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// percent replaces the variable at this place; false if it is not one.
func (s *cmdMachine) percent(tainted *abstract.Taint) bool {
	if s.dry {
		return false
	}
	rest := s.src[s.at+1:]
	if v, n, ok := s.loopVariable(rest); ok && !s.named(rest) {
		s.splice(1+n, v, tainted)
		return true
	}
	switch {
	case rest == "":
		return false
	case rest[0] == '%':
		if v, n, ok := s.loopVariable(rest[1:]); ok {
			s.splice(2+n, v, tainted)
		} else {
			s.splice(2, abstract.Word("%"), tainted)
		}
		return true
	case rest[0] >= '0' && rest[0] <= '9' || rest[0] == '*':
		s.splice(2, abstract.UnknownArg(), tainted)
		return true
	case rest[0] == '~':
		if end := mask.Run(rest, 1, len(rest), func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }); end < len(rest) &&
			rest[end] >= '0' && rest[end] <= '9' {
			s.splice(2+end, abstract.UnknownArg(), tainted)
			return true
		}
	}
	return s.reference(rest, '%', tainted)
}

// exclaim replaces !NAME!, if delayed expansion is enabled.
func (s *cmdMachine) exclaim(tainted *abstract.Taint) bool {
	return !s.dry && s.delayed && s.reference(s.src[s.at+1:], '!', tainted)
}

func variableChar(c byte) bool { return mask.Alnum(c) || strings.IndexByte("_()#$.-", c) >= 0 }

// named reports whether a variable that is known ends after these characters.
func (s *cmdMachine) named(rest string) bool {
	end := mask.Run(rest, 0, len(rest), variableChar)
	_, ok := s.env[strings.ToLower(rest[:end])]
	return ok && end < len(rest) && (rest[end] == '%' || rest[end] == ':')
}

// reference replaces NAME, NAME:~1,2 or NAME:a=b before the mark that ends it.
func (s *cmdMachine) reference(rest string, mark byte, tainted *abstract.Taint) bool {
	end := mask.Run(rest, 0, len(rest), variableChar)
	if end == 0 || end >= len(rest) || rest[end] != mark && rest[end] != ':' {
		return false
	}
	name, modifier := rest[:end], ""
	if rest[end] == ':' {
		i := strings.IndexByte(rest[end:], mark)
		if i < 0 || strings.ContainsAny(rest[end:end+i], "\n") {
			return false
		}
		modifier, end = rest[end+1:end+i], end+i
	}
	v, _ := s.variable(name)
	if _, set := s.env[strings.ToLower(name)]; !set { // a slash would begin a switch
		v.Text = strings.ReplaceAll(v.Text, "/", `\`)
	}
	if modifier != "" {
		v = modified(v, modifier)
	}
	s.splice(1+end+1, v, tainted)
	return true
}

// modified applies :~from,length or :old=new.
func modified(v abstract.Arg, modifier string) abstract.Arg {
	if !v.Known() {
		return v
	}
	v.Taint |= abstract.Decoded
	if from, ok := strings.CutPrefix(modifier, "~"); ok {
		first, length, cut := strings.Cut(from, ",")
		i, err := strconv.Atoi(strings.TrimSpace(first))
		n, err2 := strconv.Atoi(strings.TrimSpace(length))
		if err != nil || cut && err2 != nil {
			return abstract.UnknownArg()
		}
		return v.With(substring(v.Text, i, n, cut))
	}
	if old, with, ok := strings.Cut(modifier, "="); ok && old != "" {
		if rest, all := strings.CutPrefix(old, "*"); all {
			if i := strings.Index(strings.ToLower(v.Text), strings.ToLower(rest)); i >= 0 {
				return v.With(with + v.Text[i+len(rest):])
			}
			return v
		}
		return v.With(replaceFold(v.Text, old, with))
	}
	return abstract.UnknownArg()
}

// substring returns NAME:~i,n; negative numbers count from the end.
func substring(text string, i, n int, cut bool) string {
	if i < 0 {
		i = max(0, len(text)+i)
	}
	i = min(i, len(text))
	end := len(text)
	switch {
	case cut && n < 0:
		end = max(i, len(text)+n)
	case cut:
		end = min(len(text), i+n)
	}
	return text[i:end]
}

// replaceFold replaces text, ignoring case.
func replaceFold(text, old, with string) string {
	low, key := strings.ToLower(text), strings.ToLower(old)
	if len(low) != len(text) || len(key) != len(old) {
		return abstract.HoleText
	}
	var b strings.Builder
	for {
		i := strings.Index(low, key)
		if i < 0 || b.Len() > abstract.MaxText {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i] + with)
		text, low = text[i+len(old):], low[i+len(old):]
	}
}

// loopVariable is the variable of a for that begins here: i, ~nxi.
func (s *cmdMachine) loopVariable(rest string) (v abstract.Arg, n int, ok bool) {
	if len(s.loops) == 0 || rest == "" {
		return abstract.Arg{}, 0, false
	}
	if rest[0] != '~' {
		v, ok = s.loops[rest[:1]]
		return v, 1, ok
	}
	end := mask.Run(rest, 1, min(len(rest), 12), func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '$' })
	for ; end > 1; end-- {
		if v, ok = s.loops[rest[end-1:end]]; ok {
			break
		}
	}
	if !ok {
		return abstract.Arg{}, 0, false
	}
	v = v.With(strings.Trim(v.Text, `"`))
	if modifiers := rest[1 : end-1]; strings.Trim(modifiers, "fFpPsS") != "" {
		v = abstract.Arg{Text: abstract.HoleText, Taint: v.Taint}
	}
	return v, end, true
}

// splice replaces the next n bytes with text. Each call copies the rest of the code,
// which the budget accounts for.
func (s *cmdMachine) splice(n int, v abstract.Arg, tainted *abstract.Taint) {
	if !s.Spend(len(s.src) - s.at + len(v.Text)) {
		s.at = len(s.src)
		return
	}
	*tainted |= v.Taint
	s.src = s.src[:s.at] + v.Text + s.src[s.at+n:]
	s.fresh = s.at + len(v.Text)
}

// cmdMachine reads code of the Windows command line and runs it abstractly as it
// reads: variables are replaced with text before a line is parsed, so neither can
// be done alone.
type cmdMachine struct {
	*interpreter
	src     string
	at      int
	fresh   int                     // variables before this offset are replaced already
	loops   map[string]abstract.Arg // variables of for
	delayed bool                    // !NAME! is a variable
	dry     bool                    // only finds where a command ends
	moved   bool                    // the last command was a change of directory
	parens  int
	nesting int
}

// maxLoop bounds the items of a loop that are examined one by one.
const maxLoop = 16

// list runs commands up to the end, or with inner up to the closing
// parenthesis, and returns what they print.
func (s *cmdMachine) list(inner bool) abstract.Arg {
	if s.nesting++; s.nesting > shell.MaxNesting {
		s.OverBudget("nesting")
		s.at = len(s.src)
	}
	defer func() { s.nesting-- }()
	var out abstract.Arg
	for s.at < len(s.src) && !s.Full {
		switch c := s.src[s.at]; {
		case strings.IndexByte(" \t\n\r&|,;=@", c) >= 0:
			s.at++
		case c == ')':
			s.at++
			if inner {
				return out
			}
		default:
			out = abstract.Concat(out, s.line())
		}
	}
	if inner && !s.Full && !s.dry {
		s.Opaque("syntax", s.src)
	}
	return out
}

// line runs commands that are joined by &, && and ||.
func (s *cmdMachine) line() abstract.Arg {
	out := s.pipeline()
	for s.at < len(s.src) && !s.Full {
		c := s.src[s.at]
		if c != '&' && c != '|' {
			break
		}
		if strings.HasPrefix(s.src[s.at:], "&&") && s.moved {
			s.dirs = s.dirs[:1]
		}
		for s.at < len(s.src) && (s.src[s.at] == '&' || s.src[s.at] == '|') {
			s.at++
		}
		out = abstract.Concat(out, s.pipeline())
	}
	return out
}

// pipeline runs a | b.
func (s *cmdMachine) pipeline() abstract.Arg {
	stdin := s.frame.stdin
	out := s.element()
	for s.at < len(s.src) && s.src[s.at] == '|' && !strings.HasPrefix(s.src[s.at:], "||") && !s.Full {
		s.at++
		from := out
		s.frame.stdin = &from
		out = s.element()
	}
	s.frame.stdin = stdin
	return out
}

// element runs one command, or several in parentheses.
func (s *cmdMachine) element() abstract.Arg {
	s.moved = false
	s.blanks("@,;=")
	if !s.Spend(1) || s.at >= len(s.src) {
		return abstract.Arg{}
	}
	switch c := s.src[s.at]; {
	case c == '(':
		s.at++
		s.parens++
		out := s.list(true)
		s.parens--
		s.redirects(s.trailing(), out)
		return out
	case c == ':':
		s.toLineEnd()
		return abstract.Arg{}
	}
	switch s.keyword() {
	case "rem":
		s.toLineEnd()
		return abstract.Arg{}
	case "if":
		s.at += 2
		s.ifClause()
		return abstract.Arg{}
	case "for":
		s.at += 3
		return s.forClause()
	}
	return s.simple()
}

// blanks skips spaces and other separators.
func (s *cmdMachine) blanks(also string) {
	for s.at < len(s.src) && (s.src[s.at] == ' ' || s.src[s.at] == '\t' || strings.IndexByte(also, s.src[s.at]) >= 0) {
		s.at++
	}
}

func (s *cmdMachine) toLineEnd() {
	s.at = mask.Run(s.src, s.at, len(s.src), func(c byte) bool { return c != '\n' })
}

// keyword returns the word at this place, if it is a keyword of cmd.
func (s *cmdMachine) keyword() string {
	end := mask.Run(s.src, s.at, min(len(s.src), s.at+4), func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' })
	w := strings.ToLower(s.src[s.at:end])
	if (w == "rem" || w == "if" || w == "for") && (end == len(s.src) || strings.IndexByte(" \t\n(/.,;=%&", s.src[end]) >= 0) {
		return w
	}
	return ""
}

// cmdText is a command's text without its redirections.
type cmdText struct {
	abstract.Arg
	redirects []cmdRedirect
}

type cmdRedirect struct {
	fd, op string
	file   abstract.Arg
}

// text reads up to the end of the command. A character after a caret is literal.
func (s *cmdMachine) text() cmdText {
	var t cmdText
	var b strings.Builder
	quoted := false
	for s.at < len(s.src) && !s.Full {
		c := s.src[s.at]
		switch {
		case c == '"':
			quoted = !quoted
			b.WriteByte(c)
			s.at++
		case c == '%' && s.at >= s.fresh && s.percent(&t.Taint), c == '!' && s.exclaim(&t.Taint):
		case c == '^' && !quoted:
			s.caret(&b)
		case c == '\n', !quoted && (c == '&' || c == '|' || c == ')' && s.parens > 0):
			t.Text = b.String()
			return t
		case !quoted && (c == '>' || c == '<'):
			s.redirect(&t, &b)
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	t.Text = b.String()
	return t
}

// trailing reads the redirections after a closing parenthesis.
func (s *cmdMachine) trailing() cmdText {
	var t cmdText
	for !s.Full {
		s.blanks("")
		end := mask.Run(s.src, s.at, len(s.src), func(c byte) bool { return c >= '0' && c <= '9' })
		if end >= len(s.src) || s.src[end] != '>' && s.src[end] != '<' {
			return t
		}
		var b strings.Builder
		b.WriteString(s.src[s.at:end])
		s.at = end
		s.redirect(&t, &b)
	}
	return t
}

// caret reads the next character literally; at the end of a line it joins two lines.
func (s *cmdMachine) caret(b *strings.Builder) {
	if s.at++; s.at < len(s.src) && s.src[s.at] == '\n' {
		s.at++
	}
	if s.at < len(s.src) && s.src[s.at] != '%' {
		b.WriteByte(s.src[s.at])
		s.at++
	}
}

// redirect reads 2>>FILE, >&1, <FILE.
func (s *cmdMachine) redirect(t *cmdText, b *strings.Builder) {
	r := cmdRedirect{}
	text := b.String()
	if n := len(text); n > 0 && text[n-1] >= '0' && text[n-1] <= '9' && (n == 1 || strings.IndexByte(" \t", text[n-2]) >= 0) {
		r.fd = text[n-1:]
		b.Reset()
		b.WriteString(text[:n-1])
	}
	begin := s.at
	s.at = mask.Run(s.src, s.at, len(s.src), func(c byte) bool { return c == '>' || c == '<' || c == '&' })
	r.op = s.src[begin:s.at]
	s.blanks("")
	r.file = s.fileWord(&t.Taint)
	t.redirects = append(t.redirects, r)
}

// fileWord reads one word after a redirection.
func (s *cmdMachine) fileWord(tainted *abstract.Taint) abstract.Arg {
	var b strings.Builder
	quoted := false
	for s.at < len(s.src) && !s.Full {
		c := s.src[s.at]
		switch {
		case c == '"':
			quoted = !quoted
			s.at++
		case c == '%' && s.at >= s.fresh && s.percent(tainted), c == '!' && s.exclaim(tainted):
		case c == '^' && !quoted:
			s.caret(&b)
		case c == '\n', !quoted && strings.IndexByte(" \t&|<>)", c) >= 0:
			return abstract.Word(b.String())
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	return abstract.Word(b.String())
}

// simple runs one command.
func (s *cmdMachine) simple() abstract.Arg {
	t := s.text()
	if s.dry || s.Full {
		return abstract.Arg{}
	}
	words, rests := cmdWords(t.Arg)
	if len(words) == 0 {
		s.redirects(t, abstract.Arg{})
		return abstract.Arg{}
	}
	saved := s.frame
	s.input(t)
	out := s.invoke(words, rests)
	s.frame = saved
	s.redirects(t, out)
	return out
}

// cmdWords splits a command's text into its words, and returns the text after the
// first as it was written.
func cmdWords(t abstract.Arg) ([]abstract.Arg, abstract.Arg) {
	text := strings.TrimLeft(t.Text, " \t,;=@")
	name, rest := cutName(text)
	if name == "" {
		return nil, abstract.Arg{}
	}
	head := abstract.Arg{Text: strings.ReplaceAll(name, `"`, ""), Taint: t.Taint, Quoted: strings.HasPrefix(name, `"`)}
	words := []abstract.Arg{head}
	low := strings.ToLower(head.Text)
	also := ""
	if cmdBuiltin(low) != nil {
		also = ",;="
	}
	if low == "echo" || low == "set" {
		if rest != "" {
			rest = rest[1:]
		}
	}
	for _, a := range splitQuoted(rest, also) {
		a.Taint = t.Taint
		words = append(words, a)
	}
	return words, t.With(rest)
}

// cutName removes the command's name. A builtin also ends where a switch or another
// path begins: rd/s, cd.., echo.x.
func cutName(text string) (name, rest string) {
	quoted := false
	end := 0
	for ; end < len(text); end++ {
		c := text[end]
		if c == '"' {
			quoted = !quoted
		} else if !quoted && strings.IndexByte(" \t,;=", c) >= 0 {
			break
		}
	}
	name, rest = text[:end], text[end:]
	for i := 1; i < len(name); i++ {
		if strings.IndexByte(`/\.:+([]`, name[i]) >= 0 {
			low := strings.ToLower(name[:i])
			if cmdBuiltin(low) != nil && !(name[i] == '.' && winName(name) == low) || name[i] == '/' && winProgram(low) != nil {
				return name[:i], name[i:] + rest
			}
			break
		}
	}
	return name, rest
}

// splitQuoted splits at spaces outside quotes, and removes the quotes.
func splitQuoted(text, also string) []abstract.Arg {
	var list []abstract.Arg
	var b strings.Builder
	quoted, was, begun := false, false, false
	flush := func() {
		if begun {
			list = append(list, abstract.Arg{Text: b.String(), Quoted: was})
		}
		b.Reset()
		was, begun = false, false
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && text[i+1] == '"' && also == "": // how programs read a quote
			b.WriteByte('"')
			begun = true
			i++
		case c == '"':
			quoted = !quoted
			was, begun = was || b.Len() == 0, true
		case !quoted && (place.Space(c) || strings.IndexByte(also, c) >= 0):
			flush()
		default:
			b.WriteByte(c)
			begun = true
		}
	}
	flush()
	return list
}

// input applies a command's input redirections.
func (s *cmdMachine) input(t cmdText) {
	for _, r := range t.redirects {
		switch {
		case strings.HasPrefix(r.op, "<") && r.op != "<&":
			text, ok := s.written(r.file)
			if !ok {
				text = abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed}
			}
			s.frame.stdin = &text
		case r.fd == "2" && strings.EqualFold(r.file.Text, "nul"):
			s.frame.muted = true
		}
	}
}

// redirects writes a command's output to the targets of its redirections.
func (s *cmdMachine) redirects(t cmdText, out abstract.Arg) {
	if s.dry || s.Full {
		return
	}
	c := s.call(abstract.Arg{}, nil)
	c.index = len(s.interpreter.Out.Commands) - 1
	for _, r := range t.redirects {
		switch {
		case strings.HasSuffix(r.op, "&") || r.file.Text == "":
		case strings.HasPrefix(r.op, "<"):
			c.reads(r.file)
		case winPath(r.file).Text == "/dev/null":
		case strings.HasPrefix(r.op, ">>"):
			c.writes("append", r.file)
			s.store(r.file, out, true)
		default:
			c.writes("write", r.file)
			s.store(r.file, out, false)
		}
	}
}
