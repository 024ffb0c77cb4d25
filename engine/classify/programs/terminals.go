package programs

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// multiplexer handles a program that manages terminals and has commands of its own, such as
// tmux and screen: the subcommands of its row, several after one another. c.Words has the
// option that they follow, if the program needs one. In a call without that option, the
// operands are a command that runs in a new terminal.
func multiplexer(c *shell.Call, p rows.Program) (shell.Outcome, bool) {
	w := *p.Wraps
	o := options.Parse(c.Args, options.Grammar{First: true, Values: padded(w.Values)})
	commands, own := o.Operands, len(c.Words) == 0
	for i, a := range c.Args {
		if a.Is(c.Words...) {
			commands, own = c.Args[i+1:], true
		}
	}
	if len(c.Words) > 0 {
		c.Opts = o
	}
	c.Record()
	c.Process()
	if in := c.Shell.Frame.Stdin; in != nil && own && o.Has("-C", "-CC") { // its standard input contains commands
		commandLines(c, p, *in)
	}
	for _, file := range o.All(strings.Fields(p.Scripts)...) {
		commandFile(c, file)
	}
	switch {
	case own && len(commands) == 0 && len(c.Words) == 0 && !o.Has("-V", "-h"):
		runsCommand(c, p, []abstract.Arg{abstract.Word("new-session")})
	case own:
		runsCommands(c, p, commands)
	case len(commands) > 0 && (w.CommandWith == "" || given(o, w.CommandWith)):
		c.Signal(engine.SignalDeferred)
		c.Out = under(c, w, o, func() shell.Outcome { return runsLine(c, commands) }).Out
	}
	c.Finish()
	return shell.Outcome{Fail: c.Shell.Scope.Dirs}, true
}

// runsCommands runs commands of a multiplexer that are separated by semicolons.
func runsCommands(c *shell.Call, p rows.Program, words []abstract.Arg) {
	var command []abstract.Arg
	flush := func() {
		runsCommand(c, p, command)
		command = nil
	}
	for _, a := range words {
		switch text, ends := strings.CutSuffix(a.Text, ";"); {
		case a.Is(";"):
			flush()
		case ends && !strings.HasSuffix(text, `\`):
			command = append(command, a.With(text))
			flush()
		default:
			command = append(command, a)
		}
	}
	flush()
}

// runsCommand runs one command of a multiplexer, whose name may be abbreviated.
func runsCommand(c *shell.Call, p rows.Program, words []abstract.Arg) {
	if len(words) == 0 || c.Shell.Frame.Depth >= shell.MaxDepth {
		return
	}
	for _, a := range words {
		for _, code := range insertedCode(a) {
			c.Nested(func() shell.Outcome { return c.Shell.Embed(code, c.Name, false) })
		}
	}
	words = slices.Clone(words)
	words[0] = words[0].With(wholeName(p, words[0].Text))
	inner := *c
	inner.Args, inner.Subs = words, nil
	inner.Opts = options.Parse(words, grammar(c, p))
	if !words[0].Known() {
		c.Shell.Unseen(words[0], c.Name)
	}
	c.Shell.Frame.Depth++
	follow(&inner, p)
	c.Shell.Frame.Depth--
}

// wholeName returns the full name of an abbreviated command.
func wholeName(p rows.Program, name string) string {
	var longer []string
	for _, names := range p.SubcommandNames() {
		for _, n := range strings.Fields(names) {
			switch {
			case n == name:
				return name
			case name != "" && strings.HasPrefix(n, name):
				longer = append(longer, n)
			}
		}
	}
	if len(longer) == 0 {
		return name
	}
	slices.Sort(longer)
	return longer[0]
}

// insertedCode returns the code that a string of a multiplexer runs to insert its output: #(…).
func insertedCode(text abstract.Arg) []abstract.Arg {
	var list []abstract.Arg
	for rest := text.Text; ; {
		i := strings.Index(rest, "#(")
		if i < 0 || len(list) >= shell.MaxAlts {
			return list
		}
		rest = rest[i+2:]
		end, open := 0, 1
		for ; end < len(rest) && open > 0; end++ {
			switch rest[end] {
			case '(':
				open++
			case ')':
				open--
			}
		}
		code := rest[:end]
		if open == 0 {
			code = rest[:end-1]
		}
		list = append(list, text.With(code))
		rest = rest[end:]
	}
}

// behindSubs returns the words after the names of subcommands.
func behindSubs(c *shell.Call) []abstract.Arg {
	return c.Opts.Operands[min(len(c.Subs), len(c.Opts.Operands)):]
}

// nestedCommands runs commands of a multiplexer in the arguments of another one: bind-key x
// run-shell …. The word is the number of words before them.
func nestedCommands(c *shell.Call) {
	p, known, _ := c.Shell.In.Rows.Program(c.Name)
	skip, _ := strconv.Atoi(strings.Join(c.Words, ""))
	words := behindSubs(c)
	if !known || len(words) <= skip {
		return
	}
	c.Signal(engine.SignalDeferred)
	words = words[skip:]
	if len(words) > 1 {
		runsCommands(c, p.Program, words)
	}
	for _, w := range words {
		if strings.ContainsAny(w.Text, " \t\n") {
			commandText(c, p.Program, w)
		}
	}
	if len(words) == 1 && !strings.ContainsAny(words[0].Text, " \t\n") {
		runsCommands(c, p.Program, words)
	}
}

// commandText runs a string of commands of a multiplexer.
func commandText(c *shell.Call, p rows.Program, text abstract.Arg) {
	commands, ok := c.Shell.CommandWords(strings.Trim(text.Text, "{} \t\n"))
	if !ok || !text.Known() {
		c.Shell.Unseen(text, c.Name)
	}
	for _, words := range commands {
		runsCommands(c, p, words)
	}
}

// commandFile runs a file of commands of a multiplexer.
func commandFile(c *shell.Call, file abstract.Arg) {
	p, known, _ := c.Shell.In.Rows.Program(c.Name)
	if !known || file.Is("/dev/null") {
		return
	}
	code, ok := c.Shell.CodeIn(file, "shell")
	if !ok {
		c.Reads(file)
		c.Shell.Unseen(abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed}, c.Name)
		return
	}
	commandLines(c, p.Program, code.Text)
}

// commandLines runs lines of commands of a multiplexer.
func commandLines(c *shell.Call, p rows.Program, text abstract.Arg) {
	if !text.Known() {
		c.Shell.Unseen(text, c.Name)
	}
	for line := range strings.Lines(text.Text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			commandText(c, p, text.With(line))
		}
	}
}

// commandFiles runs the named files.
func commandFiles(c *shell.Call) {
	for _, file := range behindSubs(c) {
		commandFile(c, file)
	}
}

// typesKeys types the operands, or else standard input, into the terminal that options name.
// The first word of the row names the format of the text, the others are those options.
func typesKeys(c *shell.Call) {
	words := behindSubs(c)
	if len(words) == 0 && c.Shell.Frame.Stdin != nil {
		words = []abstract.Arg{*c.Shell.Frame.Stdin}
	}
	how, options := "text", c.Words
	if len(c.Words) > 0 {
		how, options = c.Words[0], c.Words[1:]
	}
	name, _ := c.Opts.Get(options...)
	var keys []shell.Key
	for i, w := range words {
		if i > 0 && (how == "line" || how == "words") {
			keys = append(keys, shell.Key{Text: abstract.Word(" ")})
		}
		keys = append(keys, keysOf(how, w)...)
	}
	if how == "line" && len(words) > 0 {
		keys = append(keys, shell.Key{Kind: shell.KeyEnter})
	}
	if len(keys) > 0 {
		c.Types(name.Text, keys)
	}
}

// keysOf interprets a word as keys.
func keysOf(how string, w abstract.Arg) []shell.Key {
	switch how {
	case "names":
		if k, ok := namedKey(w.Text); ok {
			return []shell.Key{k}
		}
	case "symbols": // of X: each word is one key
		if k, ok := keySymbol(w); ok {
			return []shell.Key{k}
		}
	case "escapes":
		return shell.TypeText(w.With(languages.Unescaped(w.Text)))
	case "hex":
		if b, err := hex.DecodeString(evenHex(w.Text)); err == nil {
			return shell.TypeText(w.With(string(b)))
		}
		return []shell.Key{{Kind: shell.KeyInsert}}
	case "codes":
		if n, err := strconv.ParseUint(w.Text, 10, 8); err == nil {
			return shell.TypeText(w.With(string([]byte{byte(n)})))
		}
		return []shell.Key{{Kind: shell.KeyInsert}}
	case "unknown":
		return []shell.Key{{Kind: shell.KeyInsert}}
	}
	return shell.TypeText(w)
}

func evenHex(text string) string {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "0x"), "0X")
	if len(text)%2 == 1 {
		return "0" + text
	}
	return text
}

// namedKey returns the key for a name that a multiplexer uses.
func namedKey(name string) (shell.Key, bool) {
	switch strings.ToLower(name) {
	case "enter", "kpenter", "return", "c-m", "c-j", "^m", "^j", "kp_enter":
		return shell.Key{Kind: shell.KeyEnter}, true
	case "space":
		return shell.Key{Text: abstract.Word(" ")}, true
	case "bspace", "backspace":
		return shell.Key{Kind: shell.KeyErase}, true
	case "escape", "esc":
		return shell.Key{Kind: shell.KeyBreak}, true
	case "tab", "btab":
		return shell.Key{Kind: shell.KeyInsert}, true
	case "up", "down", "left", "right", "home", "end", "ppage", "npage", "pageup", "pagedown", "pgup", "pgdn":
		return shell.Key{Kind: shell.KeyMove}, true
	case "dc", "delete", "ic", "insert":
		return shell.Key{Kind: shell.KeyErase}, true
	}
	if rest, ok := strings.CutPrefix(name, "C-"); ok && len(rest) == 1 {
		return shell.Key{Kind: shell.ControlKey(rest[0])}, true
	}
	if rest, ok := strings.CutPrefix(name, "^"); ok && len(rest) == 1 {
		return shell.Key{Kind: shell.ControlKey(rest[0])}, true
	}
	if n := len(name); n > 2 && n < 12 && (strings.HasPrefix(name, "M-") || strings.HasPrefix(name, "S-") || strings.HasPrefix(name, "C-")) {
		return shell.Key{Kind: shell.KeyInsert}, true
	}
	if rest, ok := strings.CutPrefix(name, "F"); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
		return shell.Key{Kind: shell.KeyMove}, true
	}
	return shell.Key{}, false
}

// keySymbol returns the key for a name of X or Wayland.
func keySymbol(w abstract.Arg) (shell.Key, bool) {
	name := strings.TrimPrefix(strings.TrimPrefix(w.Text, "KEY_"), "XK_")
	if len(name) == 1 {
		return shell.Key{Text: w.With(name)}, true
	}
	if rest, ok := strings.CutPrefix(strings.ToLower(name), "ctrl+"); ok && len(rest) == 1 {
		return shell.Key{Kind: shell.ControlKey(rest[0])}, true
	}
	signs := map[string]string{"minus": "-", "slash": "/", "period": ".", "semicolon": ";", "underscore": "_", "bar": "|",
		"ampersand": "&", "dollar": "$", "equal": "=", "asciitilde": "~", "asterisk": "*", "quotedbl": `"`, "apostrophe": "'", "greater": ">"}
	if sign, ok := signs[name]; ok {
		return shell.Key{Text: abstract.Word(sign)}, true
	}
	if k, ok := namedKey(name); ok {
		return k, true
	}
	return shell.Key{Kind: shell.KeyInsert}, true
}

// bufferName returns the name under which a buffer of a multiplexer is recorded: as a terminal
// of its own.
func bufferName(c *shell.Call) string {
	name, _ := c.Opts.Get("-b")
	if words := behindSubs(c); slices.Contains(c.Words, "first") && len(words) > 0 {
		name = words[0]
	}
	return shell.BufferMark + name.Text
}

// fillsBuffer records a string in a buffer: the operands, or with the word file the contents of
// the file that they name.
func fillsBuffer(c *shell.Call) {
	words := behindSubs(c)
	if len(words) == 0 {
		return
	}
	text := words[len(words)-1]
	if slices.Contains(c.Words, "escapes") {
		text = text.With(languages.Unescaped(text.Text))
	}
	if slices.Contains(c.Words, "file") {
		code, ok := c.Shell.CodeIn(text, "shell")
		switch {
		case text.Is("-") && c.Shell.Frame.Stdin != nil:
			text = *c.Shell.Frame.Stdin
		case ok:
			text = code.Text
		default:
			c.Reads(text)
			text = abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed}
		}
	}
	c.Fills(bufferName(c), text)
}

// pastesBuffer types the contents of a buffer. The words are options that name the terminal.
func pastesBuffer(c *shell.Call) {
	name, _ := c.Opts.Get(c.Words...)
	c.Types(name.Text, shell.TypeText(c.Filled(bufferName(c))))
}

// unseenCode records that code runs whose text is unknown.
func unseenCode(c *shell.Call) { c.Shell.Unseen(abstract.UnknownArg(), c.Name) }

// expectScript handles code of expect: the programs that it starts, and the text that it types
// there.
func expectScript(c *shell.Call) {
	for _, code := range c.Opts.All("-c") {
		expectCode(c, code)
	}
	if file := c.Opts.Operand(0); file.Text != "" && !c.Opts.Has("-c") {
		code, ok := c.Shell.CodeIn(file, "expect")
		if !ok {
			c.Reads(file)
			c.Shell.Unseen(abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed}, c.Name)
			return
		}
		expectCode(c, code.Text)
	}
	if len(c.Args) == 0 && c.Shell.Frame.Stdin != nil {
		expectCode(c, *c.Shell.Frame.Stdin)
	}
}

// expectCode parses commands line by line. Braces only group them.
func expectCode(c *shell.Call, code abstract.Arg) {
	lines := strings.FieldsFunc(code.Text, func(r rune) bool { return r == '\n' || r == ';' || r == '{' || r == '}' })
	if len(lines) > shell.MaxWords {
		c.Shell.OverBudget(c.Name)
		lines = lines[:shell.MaxWords]
	}
	sent := expectSends(lines)
	for _, line := range lines {
		command, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		switch command {
		case "spawn", "exec", "system", "interpret":
			c.Nested(func() shell.Outcome {
				if sent != "" {
					c.Shell.Frame.Stdin = &abstract.Arg{Text: sent}
				}
				return c.Shell.Embed(code.With(strings.TrimPrefix(rest, "-noecho ")), c.Name, false)
			})
		case "send", "send_user", "exp_send":
			c.Types("", shell.TypeText(code.With(expectText(rest))))
		case "eval", "source":
			c.Shell.Unseen(code, c.Name)
		}
	}
}

// expectSends returns what an expect script types into the programs that it starts, one text a line.
func expectSends(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if command, rest, _ := strings.Cut(strings.TrimSpace(line), " "); command == "send" || command == "exp_send" {
			b.WriteString(strings.TrimRight(expectText(strings.TrimSpace(rest)), "\r\n") + "\n")
		}
	}
	return b.String()
}

// expectText returns the text that the words after send stand for.
func expectText(words string) string {
	words = strings.TrimPrefix(strings.TrimPrefix(words, "-- "), "-s ")
	return languages.Unescaped(strings.Trim(words, `"`))
}

// opensTerminal runs a command in a terminal that a multiplexer opens.
func opensTerminal(c *shell.Call) {
	words := behindSubs(c)
	if len(words) == 0 {
		return
	}
	c.Signal(engine.SignalDeferred)
	c.Nested(func() shell.Outcome {
		c.Shell.Frame.Bounded = false
		dir, _ := c.Opts.Get("-c")
		if dir.Text != "" {
			c.Shell.Scope.Enter([]abstract.Value{abstract.JoinDir(c.Shell.Scope.Dirs[0], dir)})
		}
		return runsLine(c, words)
	})
}

// pressesEnter ends the line.
func pressesEnter(c *shell.Call) { c.Types("", []shell.Key{{Kind: shell.KeyEnter}}) }

// setsVariable records that a variable for programs that are started later is set or, with the
// words as options, removed.
func setsVariable(c *shell.Call) {
	words := behindSubs(c)
	if len(words) == 0 {
		return
	}
	if c.Shell.GuardVariable(words[0].Text); len(words) == 1 || given(c.Opts, strings.Join(c.Words, " ")) || words[1].Text == "" {
		c.Shell.TakesMarker(words[0].Text)
	}
}

// sharesShell records that a program gives others access to a terminal of this machine.
func sharesShell(c *shell.Call) {
	if len(c.Args) == 1 && c.Args[0].Is("--version", "-v", "--help", "-h") {
		return
	}
	c.Shell.Signal(engine.SignalReverseShell)
	c.Listens(abstract.Word("0.0.0.0"), nil)
}
