package classify

import (
	"maps"
	"strconv"
	"strings"
)

// ifClause is if [/i] [not] CONDITION command [else command]. Both may run.
func (s *cmdShell) ifClause() {
	if s.nesting++; s.nesting > maxNesting {
		s.overBudget("nesting")
	}
	defer func() { s.nesting-- }()
	w := s.conditionWord()
	for strings.EqualFold(w, "/i") || strings.EqualFold(w, "not") {
		w = s.conditionWord()
	}
	switch low := strings.ToLower(w); {
	case low == "exist" || low == "defined" || low == "errorlevel" || low == "cmdextversion":
		s.conditionWord()
	case strings.Contains(w, "==") && !strings.HasSuffix(w, "=="):
	case strings.HasSuffix(w, "=="):
		s.conditionWord()
	default:
		if op := s.conditionWord(); op == "==" || !strings.HasPrefix(op, "==") {
			s.conditionWord()
		}
	}
	s.maybeRun(func() { s.line() })
	s.blanks("\n")
	if len(s.src)-s.at >= 4 && strings.EqualFold(s.src[s.at:s.at+4], "else") && (len(s.src)-s.at == 4 || strings.IndexByte(" \t(\n", s.src[s.at+4]) >= 0) {
		s.at += 4
		s.maybeRun(func() { s.line() })
	}
}

func (s *cmdShell) maybeRun(f func()) {
	if s.dry {
		f()
		return
	}
	s.branch(f)
}

// conditionWord reads one word of a condition.
func (s *cmdShell) conditionWord() string {
	s.blanks(",;")
	var b strings.Builder
	var tainted taint
	quoted := false
	for s.at < len(s.src) && !s.full {
		c := s.src[s.at]
		switch {
		case c == '%' && s.at >= s.fresh && s.percent(&tainted), c == '!' && s.exclaim(&tainted):
			continue
		case c == '"':
			quoted = !quoted
		case c == '\n', !quoted && strings.IndexByte(" \t(", c) >= 0:
			return b.String()
		}
		b.WriteByte(c)
		s.at++
	}
	return b.String()
}

// cmdLoop is the head of a for.
type cmdLoop struct {
	kind    byte // of /f, /r, /d, /l; 0: plain
	option  string
	letter  string
	set     arg
	command string // of /f: what prints the lines
}

// forClause is for [/x …] %v in (set) do command.
func (s *cmdShell) forClause() arg {
	loop, ok := s.loopHead()
	if !ok {
		if !s.dry {
			s.opaque("syntax", s.src[min(s.at, len(s.src)):])
		}
		s.toLineEnd()
		return arg{}
	}
	begin := s.at
	dry := s.dry
	s.dry = true
	s.line()
	s.dry = dry
	body := s.src[begin:s.at]
	if dry {
		return arg{}
	}
	var out arg
	for _, item := range s.items(loop) {
		t := &cmdShell{windows: s.windows, src: body, loops: maps.Clone(s.loops), delayed: s.delayed, nesting: s.nesting + 1}
		if t.loops == nil {
			t.loops = map[string]arg{}
		}
		t.bind(loop, item)
		s.branch(func() { out = concat(out, t.list(false)) })
	}
	return out
}

func (s *cmdShell) loopHead() (cmdLoop, bool) {
	var l cmdLoop
	for {
		s.blanks("\n,;=")
		rest := s.src[s.at:]
		switch {
		case strings.HasPrefix(rest, "/") && len(rest) > 1:
			l.kind = rest[1] | 0x20
			s.at += 2
		case strings.HasPrefix(rest, "%"):
			s.at = run(s.src, s.at, len(s.src), func(c byte) bool { return c == '%' })
			if s.at >= len(s.src) {
				return l, false
			}
			l.letter = s.src[s.at : s.at+1]
			s.at++
			return l, s.loopSet(&l)
		case strings.HasPrefix(rest, `"`):
			end := strings.IndexByte(rest[1:], '"')
			if end < 0 {
				return l, false
			}
			l.option = rest[1 : 1+end]
			s.at += end + 2
		case rest == "" || l.kind == 0:
			return l, false
		default:
			var tainted taint
			if s.src[s.at] == '%' && s.percent(&tainted) {
				continue
			}
			if l.option = s.fileWord(&tainted).text; l.option == "" {
				return l, false
			}
		}
	}
}

// loopSet reads in (…) do.
func (s *cmdShell) loopSet(l *cmdLoop) bool {
	s.blanks("\n,;=")
	if len(s.src)-s.at < 2 || !strings.EqualFold(s.src[s.at:s.at+2], "in") {
		return false
	}
	s.at += 2
	s.blanks("\n")
	if s.at >= len(s.src) || s.src[s.at] != '(' {
		return false
	}
	s.at++
	begin := s.at
	end := loopSetEnd(s.src[begin:])
	if end < 0 {
		return false
	}
	set := s.src[begin : begin+end]
	s.at = begin + end + 1
	s.blanks("\n,;=")
	if len(s.src)-s.at < 2 || !strings.EqualFold(s.src[s.at:s.at+2], "do") {
		return false
	}
	s.at += 2
	if l.kind == 'f' {
		mark := byte('\'')
		if strings.Contains(strings.ToLower(l.option), "usebackq") {
			mark = '`'
		}
		if t := strings.TrimSpace(set); len(t) > 1 && t[0] == mark && t[len(t)-1] == mark {
			l.command = t[1 : len(t)-1]
			return true
		}
	}
	if !s.dry {
		t := &cmdShell{windows: s.windows, src: set, loops: s.loops, delayed: s.delayed}
		l.set = t.text().arg
	}
	return true
}

// loopSetEnd finds the parenthesis that closes a set.
func loopSetEnd(text string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"':
			quote = c
		case (c == '\'' || c == '`') && strings.Trim(text[:i], " \t") == "":
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return -1
}

// items are what a loop goes over.
func (s *cmdShell) items(l cmdLoop) []arg {
	switch l.kind {
	case 'l':
		return []arg{unknownArg()}
	case 'f':
		return s.lines(l)
	}
	var list []arg
	for _, a := range splitQuoted(l.set.text, ",;=") {
		if l.kind == 'r' && l.option != "" {
			a = a.with(strings.TrimRight(l.option, `\/`) + "/**/" + strings.TrimPrefix(a.text, "."))
		} else if l.kind == 'r' {
			a = a.with("./**/" + a.text)
		}
		list = append(list, a)
	}
	if len(list) > maxLoop {
		return []arg{joinArgs(list)}
	}
	return list
}

// lines are the lines of for /f: of a command, a text or files.
func (s *cmdShell) lines(l cmdLoop) []arg {
	var text arg
	backquote := strings.Contains(strings.ToLower(l.option), "usebackq")
	set := strings.TrimSpace(l.set.text)
	switch {
	case l.command != "":
		t := &cmdShell{windows: s.windows, src: l.command, loops: s.loops, delayed: s.delayed, nesting: s.nesting + 1}
		s.process(func() { text = t.list(false) })
	case !backquote && strings.HasPrefix(set, `"`), backquote && strings.HasPrefix(set, "'"):
		text = l.set.with(strings.Trim(set, `"'`))
	default:
		text = arg{text: holeText, taint: filed}
		c := s.call(arg{}, nil)
		c.index = len(s.windows.out.commands) - 1
		for _, f := range splitQuoted(set, ",;=") {
			if known, ok := s.written(f); ok {
				text = known
			}
			c.reads(f)
		}
	}
	var list []arg
	for line := range strings.SplitSeq(strings.Trim(text.text, "\n"), "\n") {
		list = append(list, text.with(line))
	}
	if len(list) > maxLoop {
		return []arg{{text: holeText, taint: text.taint}}
	}
	return list
}

// bind sets a loop's variables to one item: for /f takes a line apart.
func (s *cmdShell) bind(l cmdLoop, item arg) {
	if l.kind != 'f' {
		s.loops[l.letter] = item
		return
	}
	delims, tokens := " \t", "1"
	for f := range strings.FieldsSeq(l.option) {
		if v, ok := strings.CutPrefix(strings.ToLower(f), "tokens="); ok {
			tokens = v
		}
	}
	if _, v, ok := strings.Cut(l.option, "delims="); ok {
		if delims = v; strings.Contains(v, "tokens=") {
			delims, _, _ = strings.Cut(v, " ")
		}
	}
	parts := strings.FieldsFunc(item.text, func(r rune) bool { return strings.ContainsRune(delims, r) })
	letter := l.letter[0]
	for t := range strings.SplitSeq(tokens, ",") {
		s.loops[string(rune(letter))] = item.with(numbered(parts, t))
		letter++
		if strings.HasSuffix(t, "*") && t != "*" {
			s.loops[string(rune(letter))] = item.with(numbered(parts, "*"))
		}
	}
}

// numbered is one of the parts of a line by its number; what cannot be told is
// not known.
func numbered(parts []string, number string) string {
	number = strings.TrimSuffix(number, "*")
	if n, err := strconv.Atoi(number); err == nil && n >= 1 && n <= len(parts) {
		return parts[n-1]
	}
	if number == "" && len(parts) > 0 {
		return strings.Join(parts, " ")
	}
	return holeText
}
