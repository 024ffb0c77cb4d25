package languages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// Sed handles sed: a script, then files.
func Sed(c *shell.Call) {
	files := c.Opts.Operands
	scripts := c.Opts.All("-e", "--expression")
	fromFile := c.Opts.Has("-f", "--file")
	if len(scripts) == 0 && !fromFile {
		for len(files) > 0 && files[0].Text == "" {
			files = files[1:] // sed -i '' of BSD
		}
		if len(files) > 0 {
			scripts, files = files[:1], files[1:]
		}
	}
	for _, script := range scripts {
		sedScript(c, script)
	}
	if fromFile {
		runsUnread(c)
	}
	for _, o := range c.Opts.List {
		if o.Name == "-i" || o.Matches("--in-place") || o.Name == "-I" {
			if !o.Has && !keepsCopy(c) && sedEmpties(c, scripts) {
				Empties(c, files...)
			}
			c.Writes("write", files...)
			c.EditsStartup(scripts, files)
			Spoils(c, files)
			return
		}
	}
	c.Reads(files...)
}

// runsUnread records that a program of lines does something that is not known: what it does is in a file, or it
// writes one whose name is a part of an option.
func runsUnread(c *shell.Call) {
	c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "exec"}, abstract.Word(c.Name))
}

// Empties records that files become empty.
func Empties(c *shell.Call, files ...abstract.Arg) {
	for _, f := range files {
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "truncate", Leaves: 1}, f)
	}
}

var (
	sedDropsAll = engine.Regexp(`(?m)(?:^|[;{])\s*(?:1,\$|0,/\$\^/|/(?:\.|\.\*|\^|\$|\^\.\*\$)?/|0~1|1~1)?\s*[dQ]\s*(?:$|[;}])`)
	sedBlanks   = engine.Regexp(`^\s*s(?:/\^?\.[*+]\$?//|\|\^?\.[*+]\$?\|\||#\^?\.[*+]\$?##|,\^?\.[*+]\$?,,)[gmM]*\s*$`)
	sedPrints   = engine.Regexp(`(?:^|[;{\s\d$/,!~])[pPl=iacwWrR]`)
)

// keepsCopy reports whether sed keeps the old contents of the file under another name:
// -i.bak.
func keepsCopy(c *shell.Call) bool {
	return slices.ContainsFunc(c.Args, func(a abstract.Arg) bool {
		rest, ok := strings.CutPrefix(a.Text, "-i")
		return ok && rest != "" && strings.Trim(rest, "nrEsuz") != "" && !strings.HasPrefix(rest, "e")
	})
}

// sedEmpties reports whether a script of sed deletes every line: d without an address, a
// substitution of every line by nothing, or -n without a command that prints.
func sedEmpties(c *shell.Call, scripts []abstract.Arg) bool {
	all, known := "", true
	for _, s := range scripts {
		all, known = all+s.Text+"\n", known && s.Known()
	}
	if !known || len(scripts) == 0 || c.Opts.Has("-f", "--file") {
		return false
	}
	if c.Opts.Has("-n", "--quiet", "--silent") {
		return !sedPrints().MatchString(all)
	}
	return sedDropsAll().MatchString(all) || sedBlanks().MatchString(all)
}

// Spoils records that the contents of files that the script has written have changed.
func Spoils(c *shell.Call, files []abstract.Arg) {
	for _, f := range files {
		if _, ok := c.Shell.Written(f); ok {
			c.Shell.Store(f, abstract.UnknownArg(), false)
		}
	}
}

// sedScript looks for the commands of sed that read or write files or run programs.
func sedScript(c *shell.Call, script abstract.Arg) {
	t := script.Text
	for i := 0; i < len(t); {
		i = skipAddress(t, i)
		if i >= len(t) {
			return
		}
		switch t[i] {
		case 's', 'y':
			end, flags := sedSubstitute(t, i)
			if t[i] == 's' {
				sedFlags(c, script, t[i:end], flags)
			}
			i = end
		case 'e':
			i = sedLine(c, script, i, func(rest string) {
				sedRuns(c, script, strings.TrimLeft(strings.TrimRight(rest, "}; "), "; "))
			})
		case 'w', 'W':
			i = sedLine(c, script, i, func(rest string) { c.Writes("write", script.With(rest)) })
		case 'r', 'R':
			i = sedLine(c, script, i, func(rest string) { c.Reads(script.With(rest)) })
		case 'a', 'i', 'c':
			i = afterText(t, i+1)
		case ':', 'b', 't', 'T', '#':
			i = sedLine(c, script, i, func(string) {})
		default:
			i++
		}
	}
}

// sedRuns handles the command e: it runs its argument or, without one, the current line.
func sedRuns(c *shell.Call, script abstract.Arg, code string) {
	c.Child(func() shell.Outcome {
		if code != "" {
			return c.Shell.Embed(script.With(code), "sed", false)
		}
		if in := c.Shell.Frame.Stdin; in != nil && in.Known() {
			c.Shell.Embed(*in, "sed", false)
		}
		c.Shell.Unseen(abstract.UnknownArg(), "sed")
		return shell.Outcome{}
	})
}

func sedLine(c *shell.Call, script abstract.Arg, i int, f func(rest string)) int {
	line, _, _ := strings.Cut(script.Text[i+1:], "\n")
	f(strings.TrimSpace(line))
	return i + 1 + len(line)
}

// afterText returns where the text of a, i or c ends: a line that ends with a backslash continues.
func afterText(t string, i int) int {
	for ; i < len(t) && t[i] != '\n'; i++ {
		if t[i] == '\\' {
			i++
		}
	}
	return min(i, len(t))
}

// skipAddress skips spaces, separators and addresses such as 1,$ or /x/.
func skipAddress(t string, i int) int {
	for i < len(t) {
		switch {
		case strings.IndexByte(" \t\n;{}0123456789,$!~+", t[i]) >= 0:
			i++
		case t[i] == '/':
			i = delimited(t, i+1, '/')
		case t[i] == '\\' && i+1 < len(t):
			i = delimited(t, i+2, t[i+1])
		default:
			return i
		}
	}
	return i
}

func delimited(t string, i int, end byte) int {
	for ; i < len(t); i++ {
		if t[i] == '\\' {
			i++
		} else if t[i] == end {
			return i + 1
		}
	}
	return len(t)
}

// sedSubstitute returns where an s or y command ends, and its flags.
func sedSubstitute(t string, i int) (int, string) {
	if i+1 >= len(t) {
		return len(t), ""
	}
	end := delimited(t, delimited(t, i+2, t[i+1]), t[i+1])
	start := end
	for end < len(t) && strings.IndexByte("gpiImMe0123456789", t[end]) >= 0 {
		end++
	}
	if end < len(t) && t[end] == 'w' {
		line, _, _ := strings.Cut(t[end:], "\n")
		end += len(line)
	}
	return end, t[start:end]
}

func sedFlags(c *shell.Call, script abstract.Arg, command, flags string) {
	before, file, writes := strings.Cut(flags, "w")
	if writes {
		c.Writes("write", script.With(strings.TrimSpace(file)))
	}
	if strings.Contains(before, "e") {
		// s/.*/command/e runs the resulting pattern space
		code := abstract.HoleText
		middle := delimited(command, 2, command[1])
		end := delimited(command, middle, command[1])
		if text := strings.ReplaceAll(command[middle:max(end-1, middle)], `\`+command[1:2], command[1:2]); !strings.ContainsAny(text, `&\`) {
			code = text
		}
		c.Child(func() shell.Outcome { return c.Shell.Embed(script.With(code), "sed", false) })
		if pattern := command[2:max(middle-1, 2)]; strings.HasPrefix(pattern, "^") && !strings.HasPrefix(pattern, "^.*") {
			c.Child(func() shell.Outcome { return c.Shell.Embed(script.With(code+abstract.HoleText), "sed", false) }) // the rest of the line
		}
	}
}

// Awk handles awk: a program, then files.
func Awk(c *shell.Call) {
	files := c.Opts.Operands
	programs := c.Opts.All("-e", "--source")
	if len(programs) == 0 && !c.Opts.Has("-f", "--file") && len(files) > 0 {
		programs, files = files[:1], files[1:]
	}
	for _, p := range programs {
		awkProgram(c, p)
	}
	if c.Opts.Has("-f", "--file", "-o", "--pretty-print", "-p", "--profile", "-d", "--dump-variables") {
		runsUnread(c)
	}
	inPlace := false
	for _, v := range c.Opts.All("-i", "--include") {
		inPlace = inPlace || v.Is("inplace")
	}
	var paths []abstract.Arg
	for _, f := range files {
		if !abstract.IsAssignment(f) {
			paths = append(paths, f)
		}
	}
	if inPlace {
		c.Writes("write", paths...)
		return
	}
	c.Reads(paths...)
}

// awkProgram finds system(…), print > "file", print | "command" and
// "command" | getline.
func awkProgram(c *shell.Call, p abstract.Arg) {
	tokens := Tokenize(p.Text, syntaxAwk)
	for i, t := range tokens {
		next := func(k int) Token {
			if i+k < len(tokens) {
				return tokens[i+k]
			}
			return Token{}
		}
		switch {
		case t.Kind == TokenString && (strings.HasPrefix(t.Text, "/inet/") || strings.HasPrefix(t.Text, "/inet4/") || strings.HasPrefix(t.Text, "/inet6/")):
			awkSocket(c, p, t.Text)
		case t.Kind == tokenPunct && t.Text == "<" && next(1).Kind == TokenString && awkGets(tokens[:i]):
			c.Reads(p.With(next(1).Text))
		case t.Kind == TokenName && t.Text == "system" && next(1).Text == "(":
			awkCode(c, p, tokens[i+2:])
		case t.Kind == tokenPunct && t.Text == "|" && next(1).Kind == TokenString:
			in := abstract.UnknownArg()
			c.Shell.Subshell(func() shell.Outcome {
				c.Shell.Frame.Stdin, c.Shell.Frame.Piped = &in, true
				awkCode(c, p, tokens[i+1:])
				return shell.Outcome{}
			})
		case t.Kind == TokenString && next(1).Text == "|" && next(2).Text == "getline":
			awkCode(c, p, tokens[i:])
		case t.Kind == TokenName && t.Text == "getline" && awkReads(tokens[i+1:]) != "":
			c.Reads(p.With(awkReads(tokens[i+1:])))
		case t.Kind == tokenPunct && (t.Text == ">" || t.Text == ">>") && awkPrints(tokens[:i]):
			c.Writes("write", p.With(awkText(tokens[i+1:])))
		}
	}
}

// awkGets reports whether a "<" follows getline, perhaps with a variable.
func awkGets(before []Token) bool {
	n := len(before)
	return n > 0 && before[n-1].Text == "getline" || n > 1 && before[n-2].Text == "getline" && before[n-1].Kind == TokenName
}

// awkSocket is /inet/PROTOCOL/PORT/HOST/PORT, which gawk opens itself.
func awkSocket(c *shell.Call, p abstract.Arg, name string) {
	host := abstract.UnknownArg()
	if parts := strings.Split(name, "/"); len(parts) > 4 {
		host = p.With(parts[4])
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Egress: true}, host)
	c.Signal(engine.SignalPipeExternal)
}

// awkReads returns the file of getline [variable] < "file".
func awkReads(tokens []Token) string {
	if len(tokens) > 2 && tokens[0].Kind == TokenName {
		tokens = tokens[1:]
	}
	if len(tokens) > 1 && tokens[0].Text == "<" && tokens[1].Kind == TokenString {
		return tokens[1].Text
	}
	return ""
}

// awkCode runs the expression at the start of tokens as shell code.
func awkCode(c *shell.Call, p abstract.Arg, tokens []Token) {
	c.Child(func() shell.Outcome { return c.Shell.Embed(p.With(awkText(tokens)), "awk", false) })
}

// awkText returns the text of the expression at the start of tokens: strings are known, fields and variables are not.
func awkText(tokens []Token) string {
	var text strings.Builder
	for _, t := range tokens {
		if t.Kind == TokenString {
			text.WriteString(t.Text)
		} else if t.Kind == TokenName || t.Kind == tokenNumber {
			text.WriteString(abstract.HoleText)
		} else if t.Text != "$" && t.Text != "(" {
			break
		}
	}
	return text.String()
}

// awkPrints reports whether the statement before a ">" is a print, and the ">" is not inside its parentheses, where
// it compares.
func awkPrints(tokens []Token) bool {
	closed := 0
	for i := len(tokens) - 1; i >= 0; i-- {
		switch t := tokens[i]; {
		case t.Kind == tokenPunct && t.Text == ")":
			closed++
		case t.Kind == tokenPunct && t.Text == "(":
			if closed--; closed < 0 {
				return false
			}
		case t.Text == "print" || t.Text == "printf":
			return t.Kind == TokenName
		case t.Kind == tokenPunct && (t.Text == ";" || t.Text == "{" || t.Text == "}"):
			return false
		}
	}
	return false
}

// Translated replaces the characters of a set with those at the same position of another
// set, or with its last one; without another set they are deleted.
func Translated(text, from, to string) string {
	table, b := map[rune]rune{}, []rune(to)
	for i, r := range []rune(from) {
		table[r] = -1
		if len(b) > 0 {
			table[r] = b[min(i, len(b)-1)]
		}
	}
	return strings.Map(func(r rune) rune {
		if t, ok := table[r]; ok {
			return t
		}
		return r
	}, text)
}

// RangeSet expands a-z in a set of tr.
func RangeSet(set string) string {
	set = strings.NewReplacer("[:upper:]", "A-Z", "[:lower:]", "a-z", "[:digit:]", "0-9", `\n`, "\n", `\t`, "\t").Replace(set)
	r := []rune(set)
	var b strings.Builder
	for i := 0; i < len(r); i++ {
		if i+2 < len(r) && r[i+1] == '-' && r[i] <= r[i+2] && r[i+2] < 0x80 {
			for c := r[i]; c <= r[i+2]; c++ {
				b.WriteRune(c)
			}
			i += 2
			continue
		}
		b.WriteRune(r[i])
	}
	return b.String()
}

// Unescaped replaces ^M, \n, \r, \015, \x0d and \e.
func Unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '^' && i+1 < len(text) && text[i+1] >= '@' && text[i+1] <= '_':
			b.WriteByte(text[i+1] & 0x1f)
			i++
		case text[i] == '\\' && i+1 < len(text):
			n, c := escape1(text[i+1:])
			b.WriteString(c)
			i += n
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// escape1 parses the text after a backslash: its length in bytes, and its meaning.
func escape1(s string) (int, string) {
	switch s[0] {
	case 'n', 'r':
		return 1, "\r"
	case 't':
		return 1, "\t"
	case 'e', 'E':
		return 1, "\x1b"
	case 'x', 'u':
		digits, most := 0, 2
		if s[0] == 'u' {
			most = 4
		}
		for digits < most && 1+digits < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[1+digits]) >= 0 {
			digits++
		}
		if n, err := strconv.ParseUint(s[1:1+digits], 16, 16); err == nil {
			return 1 + digits, string(rune(n))
		}
	case '0', '1', '2', '3':
		digits := 0
		for digits < min(3, len(s)) && s[digits] >= '0' && s[digits] <= '7' {
			digits++
		}
		if n, err := strconv.ParseUint(s[:digits], 8, 8); err == nil {
			return digits, string(rune(n))
		}
	}
	return 1, s[:1]
}
