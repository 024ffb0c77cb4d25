package shell

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"mvdan.cc/sh/v3/syntax"
)

// KeyKind is the effect of a key on the line that is being typed.
type KeyKind int

// The kinds of keys.
const (
	KeyText   KeyKind = iota // it is typed as written
	KeyEnter                 // the line runs
	KeyClear                 // the line is discarded
	KeyErase                 // the last character is deleted
	KeyMove                  // the cursor moves, or another line replaces this one
	KeyInsert                // unknown text is inserted: completed, pasted, searched for
	KeyBreak                 // the program may start a new input: Escape
)

// Key is a key, or text, that is typed.
type Key struct {
	Kind KeyKind
	Text abstract.Arg // of KeyText
}

// TypeText returns a string as keys. Some characters are keys of their own.
func TypeText(text abstract.Arg) []Key {
	var keys []Key
	rest := text.Text
	for rest != "" {
		i := strings.IndexFunc(rest, func(r rune) bool { return r < ' ' || r == 0x7f })
		if i != 0 {
			part := rest
			if i > 0 {
				part = rest[:i]
			}
			keys = append(keys, Key{Text: text.With(part)})
			rest = rest[len(part):]
			continue
		}
		keys = append(keys, Key{Kind: control(rest[0])})
		rest = rest[1:]
	}
	if text.Text == "" {
		return []Key{{Text: text}}
	}
	return keys
}

// control returns what a control character does at a shell's prompt.
func control(c byte) KeyKind {
	switch c {
	case '\r', '\n', 'o' & 0x1f:
		return KeyEnter
	case 'c' & 0x1f:
		return KeyClear
	case '\b', 0x7f:
		return KeyErase
	case 0x1b:
		return KeyBreak
	case '\t', 'v' & 0x1f, 'y' & 0x1f, 'r' & 0x1f, 's' & 0x1f, 'u' & 0x1f, 'w' & 0x1f, 'k' & 0x1f, 't' & 0x1f, 'q' & 0x1f:
		return KeyInsert
	}
	return KeyMove
}

// ControlKey returns the kind of the key that is typed with Ctrl and a letter.
func ControlKey(letter byte) KeyKind { return control(letter & 0x1f) }

// terminals are the lines that the session types, by terminal; the latest is last.
type terminals struct{ lines []typedLine }

type typedLine struct {
	name   string
	before string
	parts  []abstract.Arg
}

// moved marks where the cursor moved in a line: later text may be anywhere.
const moved = abstract.VacancyText

// openTerminals restores the lines that were typed in earlier calls.
func (s *Machine) openTerminals() *terminals {
	if s.terminals != nil {
		return s.terminals
	}
	s.terminals = &terminals{}
	if s.In.Terminals == nil {
		return s.terminals
	}
	for _, l := range s.In.Terminals.Lines {
		line := typedLine{name: l.Terminal, before: l.Before}
		for _, p := range l.Parts {
			line.parts = append(line.parts, abstract.Word(p))
		}
		s.terminals.lines = append(s.terminals.lines, line)
	}
	return s.terminals
}

// take removes the line of a terminal from the list. Several that may be the same
// terminal are merged, since it is unknown which of them has the text.
func (t *terminals) take(name string) typedLine {
	line := typedLine{name: name}
	t.lines = slices.DeleteFunc(t.lines, func(l typedLine) bool {
		if !sameTerminal(l.name, name) {
			return false
		}
		line.before = strings.TrimPrefix(line.before+"\n"+l.before, "\n")
		line.parts = append(line.parts, l.parts...)
		return true
	})
	return line
}

// sameTerminal reports whether two names may be those of one terminal, as tmux
// reads them: session:window.pane, whose beginnings suffice.
func sameTerminal(a, b string) bool {
	if ba, ok := strings.CutPrefix(a, BufferMark); ok {
		bb, other := strings.CutPrefix(b, BufferMark)
		return other && (ba == bb || ba == "" || bb == "")
	}
	if strings.HasPrefix(b, BufferMark) {
		return false
	}
	sa, wa, pa := terminalName(a)
	sb, wb, pb := terminalName(b)
	if sa == "" || sb == "" || !plainName(sa) || !plainName(sb) {
		return true
	}
	if !strings.HasPrefix(sa, sb) && !strings.HasPrefix(sb, sa) {
		return false
	}
	return sa != sb || !different(wa, wb) && !different(pa, pb)
}

func terminalName(name string) (session, window, pane string) {
	session, window, _ = strings.Cut(strings.TrimPrefix(name, "="), ":")
	if session, pane, _ = strings.Cut(session, "."); window != "" {
		window, pane, _ = strings.Cut(window, ".")
	}
	return session, window, pane
}

// plainName reports whether a name can be compared: it is neither a pattern nor a
// number, which may be that of a window or a pane.
func plainName(s string) bool {
	return !strings.ContainsAny(s, "*?[%@$!{}^+~"+abstract.Holes) && strings.Trim(s, "0123456789-") != ""
}

func different(a, b string) bool {
	number := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return number(a) && number(b) && a != b
}

// Types records that keys are typed into a terminal, and runs the lines that this completes.
func (c *Call) Types(terminal string, keys []Key) {
	t := c.Shell.openTerminals()
	line := t.take(terminal)
	line.parts = append(line.parts, abstract.Arg{})
	if c.varies() {
		keys = append([]Key{{Kind: KeyInsert}}, keys...)
	}
	for _, k := range keys {
		line.press(c, k)
	}
	t.lines = append(t.lines, line.bound())
	c.Shell.keepTerminals()
}

// varies reports whether the call types different text in each pass of a loop.
func (c *Call) varies() bool {
	if c.Shell.looping == 0 || c.Node == nil {
		return false
	}
	return slices.ContainsFunc(c.Node.Args, func(w *syntax.Word) bool {
		other := false
		syntax.Walk(w, func(n syntax.Node) bool {
			_, ok := n.(*syntax.ParamExp)
			other = other || ok
			return !other
		})
		return other
	})
}

// BufferMark is the prefix of the names of paste buffers, which are not terminals.
const BufferMark = "buffer "

// Fills stores a string in a paste buffer.
func (c *Call) Fills(buffer string, text abstract.Arg) {
	t := c.Shell.openTerminals()
	line := t.take(buffer)
	line.parts = []abstract.Arg{text}
	t.lines = append(t.lines, line.bound())
	c.Shell.keepTerminals()
}

// Filled returns the text of a buffer, as far as the session stored it.
func (c *Call) Filled(buffer string) abstract.Arg {
	for _, l := range c.Shell.openTerminals().lines {
		if sameTerminal(l.name, buffer) && len(l.parts) == 1 { // several: it is unknown which of them it is
			return l.parts[0]
		}
	}
	return abstract.UnknownArg()
}

// press types one key.
func (l *typedLine) press(c *Call, k Key) {
	switch k.Kind {
	case KeyText:
		if !k.Text.Known() { // it may contain the end of a line
			c.Shell.Unseen(k.Text, c.Name)
		}
		l.add(k.Text)
	case KeyEnter:
		l.enter(c)
	case KeyClear:
		l.parts = []abstract.Arg{{}}
	case KeyErase:
		l.erase()
	case KeyMove:
		l.add(abstract.Word(moved))
	case KeyInsert:
		l.add(abstract.UnknownArg())
	case KeyBreak:
		l.parts = append(l.parts, abstract.Arg{})
	}
}

func (l *typedLine) add(text abstract.Arg) {
	last := len(l.parts) - 1
	l.parts[last] = abstract.Concat(l.parts[last], text)
}

// erase deletes the last character, unless the cursor was moved.
func (l *typedLine) erase() {
	if strings.Contains(joined(l.parts).Text, moved) {
		l.add(abstract.UnknownArg())
		return
	}
	for i := len(l.parts) - 1; i >= 0; i-- {
		if text := l.parts[i].Text; text != "" {
			_, size := utf8.DecodeLastRuneInString(text)
			l.parts[i] = l.parts[i].With(text[:len(text)-size])
			return
		}
	}
}

func joined(parts []abstract.Arg) abstract.Arg {
	var all abstract.Arg
	for _, p := range parts {
		all = abstract.Concat(all, p)
	}
	return all
}

// enter runs the line, unless the shell waits for the rest of a command.
func (l *typedLine) enter(c *Call) {
	whole := joined(l.parts)
	whole.Text = strings.TrimRight(whole.Text, moved)
	if strings.Trim(whole.Text, moved+" ") == "" { // at most an earlier line runs again
		l.parts = []abstract.Arg{{}}
		return
	}
	if whole.Known() && unfinished(whole.Text) {
		l.add(abstract.Word("\n"))
		return
	}
	c.Signal(engine.SignalDeferred)
	c.Nested(func() Outcome {
		l.run(c.Shell, c.Name, whole)
		return Outcome{}
	})
	l.before = keepBefore(l.before, whole)
	l.parts = []abstract.Arg{{}}
}

// run interprets the line as each text that it may be. Text typed earlier without
// Enter may have gone to another program, and then the rest is a command.
func (l *typedLine) run(s *Machine, via string, whole abstract.Arg) {
	if !whole.Known() || recalls(whole.Text) {
		s.Unseen(whole, via)
	}
	seen := map[string]bool{}
	for i := len(l.parts) - 1; i >= 0; i-- {
		text := joined(l.parts[i:])
		text.Text = strings.TrimSpace(strings.Trim(text.Text, moved))
		if text.Text == "" || seen[text.Text] {
			continue
		}
		seen[text.Text] = true
		if _, ok := Parse(text.Text); ok || i == 0 {
			l.runText(s, via, text)
		}
	}
}

// runText runs a line after those that determine the directory of its terminal. Its
// definitions may apply to the next line.
func (l *typedLine) runText(s *Machine, via string, text abstract.Arg) {
	for _, code := range append(toShell(text), text) {
		s.Subshell(func() Outcome {
			if l.before != "" {
				code = code.With(l.before + "\n" + code.Text)
			}
			s.Embed(code, via, true)
			for _, name := range s.Scope.defined() {
				s.Embed(abstract.Word(name+" "+abstract.HoleText), via, true)
			}
			return Outcome{}
		})
	}
}

// toShell returns what an editor, a debugger or a database client passes to a shell
// when it reads the line: :!make, \! make, !make.
func toShell(line abstract.Arg) []abstract.Arg {
	for _, mark := range []string{":!", ":r!", ":r !", ":%!", `\!`, "!!", "!", "%sx ", "shell ", ":shell ", "system "} {
		if code, ok := strings.CutPrefix(line.Text, mark); ok && strings.TrimSpace(code) != "" {
			return []abstract.Arg{line.With(strings.TrimSpace(code))}
		}
	}
	return nil
}

// recalls reports whether a shell inserts text of earlier lines into this one: !x,
// ^a^b.
func recalls(line string) bool {
	if strings.HasPrefix(line, "^") {
		return true
	}
	for i := 0; i+1 < len(line); i++ {
		if line[i] == '\'' {
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return false
			}
			i += end + 1
			continue
		}
		if line[i] == '!' && (i == 0 || strings.IndexByte(" \t;|&(", line[i-1]) >= 0) && strings.IndexByte(" \t=(\n", line[i+1]) < 0 {
			return i == 0 || line[i+1] != '='
		}
	}
	return false
}

// unfinished reports whether a shell continues reading after a line.
func unfinished(line string) bool {
	if strings.HasSuffix(line, `\`) {
		return true
	}
	for _, err := range syntax.NewParser().StmtsSeq(strings.NewReader(line + "\n")) {
		if err != nil {
			return syntax.IsIncomplete(err)
		}
	}
	return false
}

// keepBefore returns what applies to the next line of a terminal: the statements of
// this one that change the directory or define names.
func keepBefore(before string, line abstract.Arg) string {
	list, ok := Parse(line.Text)
	if !ok {
		return before
	}
	for _, st := range list {
		for _, text := range lasting(st.Cmd, line.Text) {
			before = strings.TrimPrefix(before+"\n"+text, "\n")
		}
	}
	return before
}

// lasting lists the statements in a command that outlast it.
func lasting(cmd syntax.Command, source string) []string {
	switch x := cmd.(type) {
	case *syntax.BinaryCmd:
		if x.Op == syntax.AndStmt || x.Op == syntax.OrStmt {
			return append(lasting(x.X.Cmd, source), lasting(x.Y.Cmd, source)...)
		}
	case *syntax.Block:
		var all []string
		for _, st := range x.Stmts {
			all = append(all, lasting(st.Cmd, source)...)
		}
		return all
	case *syntax.FuncDecl, *syntax.DeclClause:
		return []string{source[cmd.Pos().Offset():cmd.End().Offset()]}
	case *syntax.CallExpr:
		if len(x.Args) == 0 || slices.Contains(lastingCommands, x.Args[0].Lit()) {
			return []string{source[cmd.Pos().Offset():cmd.End().Offset()]}
		}
	}
	return nil
}

// lastingCommands change the shell that they run in.
var lastingCommands = []string{"cd", "pushd", "popd", "alias", "unalias", "set", "shopt", "unset", "hash", "enable", "chdir", "z"}

// bound shortens a line. What is cut off is unknown from then on.
func (l typedLine) bound() typedLine {
	l.parts = slices.DeleteFunc(l.parts, func(p abstract.Arg) bool { return p.Text == "" })
	if n := len(l.parts) - engine.MaxTypedParts; n > 0 {
		l.parts = append([]abstract.Arg{joined(l.parts[:n+1])}, l.parts[n+1:]...)
	}
	for over := len(joined(l.parts).Text) - engine.MaxTypedBytes; over > 0 && len(l.parts) > 0; {
		text := l.parts[0].Text
		if len(text) <= over {
			over -= len(text)
			l.parts = l.parts[1:]
			continue
		}
		l.parts[0], over = l.parts[0].With(abstract.HoleText+strings.ToValidUTF8(text[over:], "")), 0
	}
	if len(l.before) > engine.MaxTypedBytes {
		l.before = "cd " + abstract.HoleText
	}
	return l
}

// keepTerminals returns the state of the terminals after the script.
func (s *Machine) keepTerminals() {
	t := s.terminals
	for len(t.lines) > engine.MaxTerminals {
		first, second := t.lines[0], t.lines[1]
		second.name, second.parts = "", append(first.parts, second.parts...)
		second.before = strings.TrimPrefix(first.before+"\n"+second.before, "\n")
		t.lines = append([]typedLine{second.bound()}, t.lines[2:]...)
	}
	s.Out.Terminals = &engine.Terminals{Lines: []engine.TypedLine{}}
	for _, l := range t.lines {
		if l.before == "" && len(l.parts) == 0 {
			continue
		}
		kept := engine.TypedLine{Terminal: abstract.Clip(l.name, 60), Before: l.before}
		for _, p := range l.parts {
			kept.Parts = append(kept.Parts, p.Text)
		}
		s.Out.Terminals.Lines = append(s.Out.Terminals.Lines, kept)
	}
}

// defined lists functions and aliases that were defined in this scope.
func (c *scope) defined() []string {
	var names []string
	for name := range c.funcs {
		names = append(names, name)
	}
	for name := range c.aliases {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// pushesInput reports whether code inserts characters into a terminal as if they were
// typed, by the request TIOCSTI or its number.
func pushesInput(code string) bool {
	return strings.Contains(code, "TIOCSTI") || strings.Contains(code, "ioctl") &&
		(strings.Contains(code, "0x5412") || strings.Contains(code, "21522") || strings.Contains(code, "0x80017472"))
}

// CommandWords splits a string of simple commands into their words, and reports whether
// there is nothing else in it. Multiplexers parse their commands much like a shell.
func (s *Machine) CommandWords(text string) (commands [][]abstract.Arg, all bool) {
	list, all := Parse(text)
	for _, st := range list {
		if call, ok := st.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			commands = append(commands, s.Expand(call.Args))
		} else {
			all = false
		}
	}
	return commands, all
}
