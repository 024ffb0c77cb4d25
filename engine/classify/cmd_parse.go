package classify

import (
	"strings"
)

// cmdShell reads code of the Windows command line and runs it abstractly as it
// reads: variables are replaced by text before a line is taken apart, so
// neither can be done alone.
type cmdShell struct {
	*windows
	src     string
	at      int
	fresh   int            // before this place variables are replaced already
	loops   map[string]arg // variables of for
	delayed bool           // !NAME! is a variable
	dry     bool           // only finds where a command ends
	moved   bool           // the last command was a change of directory
	parens  int
	nesting int
}

// maxLoop bounds the items of a loop that are looked at one by one.
const maxLoop = 16

// list runs commands up to the end, or with inner up to the closing
// parenthesis, and returns what they print.
func (s *cmdShell) list(inner bool) arg {
	if s.nesting++; s.nesting > maxNesting {
		s.overBudget("nesting")
		s.at = len(s.src)
	}
	defer func() { s.nesting-- }()
	var out arg
	for s.at < len(s.src) && !s.full {
		switch c := s.src[s.at]; {
		case strings.IndexByte(" \t\n\r&|,;=@", c) >= 0:
			s.at++
		case c == ')':
			s.at++
			if inner {
				return out
			}
		default:
			out = concat(out, s.line())
		}
	}
	if inner && !s.full && !s.dry {
		s.opaque("syntax", s.src)
	}
	return out
}

// line runs commands that are joined by &, && and ||.
func (s *cmdShell) line() arg {
	out := s.pipeline()
	for s.at < len(s.src) && !s.full {
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
		out = concat(out, s.pipeline())
	}
	return out
}

// pipeline runs a | b.
func (s *cmdShell) pipeline() arg {
	stdin := s.frame.stdin
	out := s.element()
	for s.at < len(s.src) && s.src[s.at] == '|' && !strings.HasPrefix(s.src[s.at:], "||") && !s.full {
		s.at++
		from := out
		s.frame.stdin = &from
		out = s.element()
	}
	s.frame.stdin = stdin
	return out
}

// element runs one command, or several in parentheses.
func (s *cmdShell) element() arg {
	s.moved = false
	s.blanks("@,;=")
	if !s.spend(1) || s.at >= len(s.src) {
		return arg{}
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
		return arg{}
	}
	switch s.keyword() {
	case "rem":
		s.toLineEnd()
		return arg{}
	case "if":
		s.at += 2
		s.ifClause()
		return arg{}
	case "for":
		s.at += 3
		return s.forClause()
	}
	return s.simple()
}

// blanks skips blanks and what else stands for one there.
func (s *cmdShell) blanks(also string) {
	for s.at < len(s.src) && (s.src[s.at] == ' ' || s.src[s.at] == '\t' || strings.IndexByte(also, s.src[s.at]) >= 0) {
		s.at++
	}
}

func (s *cmdShell) toLineEnd() {
	s.at = run(s.src, s.at, len(s.src), func(c byte) bool { return c != '\n' })
}

// keyword is the word here, if it is one that cmd reads in its own way.
func (s *cmdShell) keyword() string {
	end := run(s.src, s.at, min(len(s.src), s.at+4), func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' })
	w := strings.ToLower(s.src[s.at:end])
	if (w == "rem" || w == "if" || w == "for") && (end == len(s.src) || strings.IndexByte(" \t\n(/.,;=%&", s.src[end]) >= 0) {
		return w
	}
	return ""
}

// cmdText is a command's text with its redirections taken out.
type cmdText struct {
	arg
	redirects []cmdRedirect
}

type cmdRedirect struct {
	fd, op string
	file   arg
}

// text reads up to the end of the command. What a caret protects is text.
func (s *cmdShell) text() cmdText {
	var t cmdText
	var b strings.Builder
	quoted := false
	for s.at < len(s.src) && !s.full {
		c := s.src[s.at]
		switch {
		case c == '"':
			quoted = !quoted
			b.WriteByte(c)
			s.at++
		case c == '%' && s.at >= s.fresh && s.percent(&t.taint), c == '!' && s.exclaim(&t.taint):
		case c == '^' && !quoted:
			s.caret(&b)
		case c == '\n', !quoted && (c == '&' || c == '|' || c == ')' && s.parens > 0):
			t.text = b.String()
			return t
		case !quoted && (c == '>' || c == '<'):
			s.redirect(&t, &b)
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	t.text = b.String()
	return t
}

// trailing reads the redirections behind a closing parenthesis.
func (s *cmdShell) trailing() cmdText {
	var t cmdText
	for !s.full {
		s.blanks("")
		end := run(s.src, s.at, len(s.src), func(c byte) bool { return c >= '0' && c <= '9' })
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

// caret takes the next character as it is; at the end of a line it joins two.
func (s *cmdShell) caret(b *strings.Builder) {
	if s.at++; s.at < len(s.src) && s.src[s.at] == '\n' {
		s.at++
	}
	if s.at < len(s.src) && s.src[s.at] != '%' {
		b.WriteByte(s.src[s.at])
		s.at++
	}
}

// redirect reads 2>>FILE, >&1, <FILE.
func (s *cmdShell) redirect(t *cmdText, b *strings.Builder) {
	r := cmdRedirect{}
	text := b.String()
	if n := len(text); n > 0 && text[n-1] >= '0' && text[n-1] <= '9' && (n == 1 || strings.IndexByte(" \t", text[n-2]) >= 0) {
		r.fd = text[n-1:]
		b.Reset()
		b.WriteString(text[:n-1])
	}
	begin := s.at
	s.at = run(s.src, s.at, len(s.src), func(c byte) bool { return c == '>' || c == '<' || c == '&' })
	r.op = s.src[begin:s.at]
	s.blanks("")
	r.file = s.fileWord(&t.taint)
	t.redirects = append(t.redirects, r)
}

// fileWord reads one word behind a redirection.
func (s *cmdShell) fileWord(tainted *taint) arg {
	var b strings.Builder
	quoted := false
	for s.at < len(s.src) && !s.full {
		c := s.src[s.at]
		switch {
		case c == '"':
			quoted = !quoted
			s.at++
		case c == '%' && s.at >= s.fresh && s.percent(tainted), c == '!' && s.exclaim(tainted):
		case c == '^' && !quoted:
			s.caret(&b)
		case c == '\n', !quoted && strings.IndexByte(" \t&|<>)", c) >= 0:
			return word(b.String())
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	return word(b.String())
}

// simple runs one command.
func (s *cmdShell) simple() arg {
	t := s.text()
	if s.dry || s.full {
		return arg{}
	}
	words, rests := cmdWords(t.arg)
	if len(words) == 0 {
		s.redirects(t, arg{})
		return arg{}
	}
	saved := s.frame
	s.input(t)
	out := s.invoke(words, rests)
	s.frame = saved
	s.redirects(t, out)
	return out
}

// cmdWords takes a command's text apart: the words, and what stands behind the
// first as it was written.
func cmdWords(t arg) ([]arg, arg) {
	text := strings.TrimLeft(t.text, " \t,;=@")
	name, rest := cutName(text)
	if name == "" {
		return nil, arg{}
	}
	head := arg{text: strings.ReplaceAll(name, `"`, ""), taint: t.taint, quoted: strings.HasPrefix(name, `"`)}
	words := []arg{head}
	low := strings.ToLower(head.text)
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
		a.taint = t.taint
		words = append(words, a)
	}
	return words, t.with(rest)
}

// cutName cuts the command's name off. A builtin also ends where a switch or
// another path begins: rd/s, cd.., echo.x.
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

// splitQuoted splits at blanks that stand in no quotes, and takes the quotes off.
func splitQuoted(text, also string) []arg {
	var list []arg
	var b strings.Builder
	quoted, was, begun := false, false, false
	flush := func() {
		if begun {
			list = append(list, arg{text: b.String(), quoted: was})
		}
		b.Reset()
		was, begun = false, false
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && text[i+1] == '"' && also == "": // how programs take a quote
			b.WriteByte('"')
			begun = true
			i++
		case c == '"':
			quoted = !quoted
			was, begun = was || b.Len() == 0, true
		case !quoted && (space(c) || strings.IndexByte(also, c) >= 0):
			flush()
		default:
			b.WriteByte(c)
			begun = true
		}
	}
	flush()
	return list
}

// input applies what a command's redirections change before it runs.
func (s *cmdShell) input(t cmdText) {
	for _, r := range t.redirects {
		switch {
		case strings.HasPrefix(r.op, "<") && r.op != "<&":
			text, ok := s.written(r.file)
			if !ok {
				text = arg{text: holeText, taint: filed}
			}
			s.frame.stdin = &text
		case r.fd == "2" && strings.EqualFold(r.file.text, "nul"):
			s.frame.muted = true
		}
	}
}

// redirects writes a command's output where its redirections say.
func (s *cmdShell) redirects(t cmdText, out arg) {
	if s.dry || s.full {
		return
	}
	c := s.call(arg{}, nil)
	c.index = len(s.windows.out.commands) - 1
	for _, r := range t.redirects {
		switch {
		case strings.HasSuffix(r.op, "&") || r.file.text == "":
		case strings.HasPrefix(r.op, "<"):
			c.reads(r.file)
		case winPath(r.file).text == "/dev/null":
		case strings.HasPrefix(r.op, ">>"):
			c.writes("append", r.file)
			s.store(r.file, out, true)
		default:
			c.writes("write", r.file)
			s.store(r.file, out, false)
		}
	}
}

// invoke runs words: a builtin, else a program.
func (s *cmdShell) invoke(words []arg, rest arg) arg {
	if !s.spend(len(words)) {
		return arg{}
	}
	c := s.call(words[0], words[1:])
	if f := cmdBuiltin(strings.ToLower(words[0].text)); f != nil {
		c.name = strings.ToLower(words[0].text)
		f(s, c, rest)
		return c.out
	}
	if c.name == "cmd" {
		c.record()
		s.cmdLine(c, rest)
		return c.out
	}
	return s.start(words[0], words[1:]).out
}

// cmdLine is cmd /c in cmd, which takes the rest of the line as it is written.
func (s *cmdShell) cmdLine(c *winCall, rest arg) {
	low := strings.ToLower(rest.text)
	for i := 0; i+1 < len(low); i++ {
		if low[i] == '/' && strings.IndexByte("ckr", low[i+1]) >= 0 && (i == 0 || strings.IndexByte(" \t/", low[i-1]) >= 0) {
			c.runCmd([]arg{rest.with(rest.text[i+2:])})
			return
		}
		if low[i] == '"' {
			break
		}
	}
	cmdProgram(c)
}
