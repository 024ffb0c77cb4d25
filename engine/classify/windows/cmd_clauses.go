package windows

import (
	"maps"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// ifClause runs if [/i] [not] CONDITION command [else command]. Both branches may run.
func (s *cmdMachine) ifClause() {
	if s.nesting++; s.nesting > shell.MaxNesting {
		s.OverBudget("nesting")
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
	if len(s.src)-s.at >= 4 && strings.EqualFold(s.src[s.at:s.at+4], "else") &&
		(len(s.src)-s.at == 4 || strings.IndexByte(" \t(\n", s.src[s.at+4]) >= 0) {
		s.at += 4
		s.maybeRun(func() { s.line() })
	}
}

func (s *cmdMachine) maybeRun(f func()) {
	if s.dry {
		f()
		return
	}
	s.branch(f)
}

// conditionWord reads one word of a condition.
func (s *cmdMachine) conditionWord() string {
	s.blanks(",;")
	var b strings.Builder
	var tainted abstract.Taint
	quoted := false
	for s.at < len(s.src) && !s.Full {
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
	set     abstract.Arg
	command string // of /f: what prints the lines
}

// forClause runs for [/x …] %v in (set) do command.
func (s *cmdMachine) forClause() abstract.Arg {
	loop, ok := s.loopHead()
	if !ok {
		if !s.dry {
			s.Opaque("syntax", s.src[min(s.at, len(s.src)):])
		}
		s.toLineEnd()
		return abstract.Arg{}
	}
	begin := s.at
	dry := s.dry
	s.dry = true
	s.line()
	s.dry = dry
	body := s.src[begin:s.at]
	if dry {
		return abstract.Arg{}
	}
	var out abstract.Arg
	for _, item := range s.items(loop) {
		t := &cmdMachine{interpreter: s.interpreter, src: body, loops: maps.Clone(s.loops), delayed: s.delayed, nesting: s.nesting + 1}
		if t.loops == nil {
			t.loops = map[string]abstract.Arg{}
		}
		t.bind(loop, item)
		s.branch(func() { out = abstract.Concat(out, t.list(false)) })
	}
	return out
}

func (s *cmdMachine) loopHead() (cmdLoop, bool) {
	var l cmdLoop
	for {
		s.blanks("\n,;=")
		rest := s.src[s.at:]
		switch {
		case strings.HasPrefix(rest, "/") && len(rest) > 1:
			l.kind = rest[1] | 0x20
			s.at += 2
		case strings.HasPrefix(rest, "%"):
			s.at = mask.Run(s.src, s.at, len(s.src), func(c byte) bool { return c == '%' })
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
			var tainted abstract.Taint
			if s.src[s.at] == '%' && s.percent(&tainted) {
				continue
			}
			if l.option = s.fileWord(&tainted).Text; l.option == "" {
				return l, false
			}
		}
	}
}

// loopSet reads in (…) do.
func (s *cmdMachine) loopSet(l *cmdLoop) bool {
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
		t := &cmdMachine{interpreter: s.interpreter, src: set, loops: s.loops, delayed: s.delayed}
		l.set = t.text().Arg
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

// items returns the values over which a loop iterates.
func (s *cmdMachine) items(l cmdLoop) []abstract.Arg {
	switch l.kind {
	case 'l':
		return []abstract.Arg{abstract.UnknownArg()}
	case 'f':
		return s.lines(l)
	}
	var list []abstract.Arg
	for _, a := range splitQuoted(l.set.Text, ",;=") {
		if l.kind == 'r' && l.option != "" {
			a = a.With(strings.TrimRight(l.option, `\/`) + "/**/" + strings.TrimPrefix(a.Text, "."))
		} else if l.kind == 'r' {
			a = a.With("./**/" + a.Text)
		}
		list = append(list, a)
	}
	if len(list) > maxLoop {
		return []abstract.Arg{abstract.JoinArgs(list)}
	}
	return list
}

// lines returns the lines of for /f: of a command, a string or files.
func (s *cmdMachine) lines(l cmdLoop) []abstract.Arg {
	var text abstract.Arg
	backquote := strings.Contains(strings.ToLower(l.option), "usebackq")
	set := strings.TrimSpace(l.set.Text)
	switch {
	case l.command != "":
		t := &cmdMachine{interpreter: s.interpreter, src: l.command, loops: s.loops, delayed: s.delayed, nesting: s.nesting + 1}
		s.process(func() { text = t.list(false) })
	case !backquote && strings.HasPrefix(set, `"`), backquote && strings.HasPrefix(set, "'"):
		text = l.set.With(strings.Trim(set, `"'`))
	default:
		text = abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed}
		c := s.call(abstract.Arg{}, nil)
		c.index = len(s.interpreter.Out.Commands) - 1
		for _, f := range splitQuoted(set, ",;=") {
			if known, ok := s.written(f); ok {
				text = known
			}
			c.reads(f)
		}
	}
	var list []abstract.Arg
	for line := range strings.SplitSeq(strings.Trim(text.Text, "\n"), "\n") {
		list = append(list, text.With(line))
	}
	if len(list) > maxLoop {
		return []abstract.Arg{{Text: abstract.HoleText, Taint: text.Taint}}
	}
	return list
}

// bind sets a loop's variables to one item: for /f splits a line.
func (s *cmdMachine) bind(l cmdLoop, item abstract.Arg) {
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
	parts := strings.FieldsFunc(item.Text, func(r rune) bool { return strings.ContainsRune(delims, r) })
	letter := l.letter[0]
	for t := range strings.SplitSeq(tokens, ",") {
		s.loops[string(rune(letter))] = item.With(numbered(parts, t))
		letter++
		if strings.HasSuffix(t, "*") && t != "*" {
			s.loops[string(rune(letter))] = item.With(numbered(parts, "*"))
		}
	}
}

// numbered returns a part of a line by its number; unknown if it cannot be determined.
func numbered(parts []string, number string) string {
	number = strings.TrimSuffix(number, "*")
	if n, err := strconv.Atoi(number); err == nil && n >= 1 && n <= len(parts) {
		return parts[n-1]
	}
	if number == "" && len(parts) > 0 {
		return strings.Join(parts, " ")
	}
	return abstract.HoleText
}
