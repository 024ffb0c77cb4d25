package classify

import (
	"strings"
)

// sed is sed: a script, then files.
func sed(c *call) {
	files := c.opts.operands
	scripts := c.opts.all("-e", "--expression")
	fromFile := c.opts.has("-f", "--file")
	if len(scripts) == 0 && !fromFile {
		for len(files) > 0 && files[0].text == "" {
			files = files[1:] // sed -i '' of BSD
		}
		if len(files) > 0 {
			scripts, files = files[:1], files[1:]
		}
	}
	for _, script := range scripts {
		c.sedScript(script)
	}
	for _, o := range c.opts.list {
		if o.name == "-i" || o.matches("--in-place") || o.name == "-I" {
			c.writes("write", files...)
			c.editsStartup(scripts, files)
			c.spoils(files)
			return
		}
	}
	c.reads(files...)
}

// spoils notes that files that the script has written hold something else now.
func (c *call) spoils(files []arg) {
	for _, f := range files {
		if _, ok := c.s.written(f); ok {
			c.s.store(f, unknownArg(), false)
		}
	}
}

// sedScript looks for the commands of sed that read or write files or run programs.
func (c *call) sedScript(script arg) {
	t := script.text
	for i := 0; i < len(t); {
		i = skipAddress(t, i)
		if i >= len(t) {
			return
		}
		switch t[i] {
		case 's', 'y':
			end, flags := sedSubstitute(t, i)
			if t[i] == 's' {
				c.sedFlags(script, t[i:end], flags)
			}
			i = end
		case 'e':
			i = c.sedLine(script, i, func(rest string) {
				if rest != "" {
					c.child(func() outcome { return c.s.embed(script.with(rest), "sed", false) })
				}
			})
		case 'w', 'W':
			i = c.sedLine(script, i, func(rest string) { c.writes("write", script.with(rest)) })
		case 'r', 'R':
			i = c.sedLine(script, i, func(rest string) { c.reads(script.with(rest)) })
		case 'a', 'i', 'c', ':', 'b', 't', 'T', '#':
			i = c.sedLine(script, i, func(string) {})
		default:
			i++
		}
	}
}

func (c *call) sedLine(script arg, i int, f func(rest string)) int {
	line, _, _ := strings.Cut(script.text[i+1:], "\n")
	f(strings.TrimSpace(line))
	return i + 1 + len(line)
}

// skipAddress skips blanks, separators and addresses such as 1,$ or /x/.
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

func (c *call) sedFlags(script arg, command, flags string) {
	before, file, writes := strings.Cut(flags, "w")
	if writes {
		c.writes("write", script.with(strings.TrimSpace(file)))
	}
	if strings.Contains(before, "e") {
		// s/.*/command/e runs what the pattern space has become.
		code := holeText
		middle := delimited(command, 2, command[1])
		end := delimited(command, middle, command[1])
		if text := strings.ReplaceAll(command[middle:max(end-1, middle)], `\`+command[1:2], command[1:2]); !strings.ContainsAny(text, `&\`) {
			code = text
		}
		c.child(func() outcome { return c.s.embed(script.with(code), "sed", false) })
	}
}

// awk is awk: a program, then files.
func awk(c *call) {
	files := c.opts.operands
	programs := c.opts.all("-e", "--source")
	if len(programs) == 0 && !c.opts.has("-f", "--file") && len(files) > 0 {
		programs, files = files[:1], files[1:]
	}
	for _, p := range programs {
		c.awkProgram(p)
	}
	inPlace := false
	for _, v := range c.opts.all("-i", "--include") {
		inPlace = inPlace || v.is("inplace")
	}
	var paths []arg
	for _, f := range files {
		if !isAssignment(f) {
			paths = append(paths, f)
		}
	}
	if inPlace {
		c.writes("write", paths...)
		return
	}
	c.reads(paths...)
}

// awkProgram finds system(…), print > "file", print | "command" and
// "command" | getline.
func (c *call) awkProgram(p arg) {
	tokens := tokenize(p.text, syntaxAwk)
	for i, t := range tokens {
		next := func(k int) token {
			if i+k < len(tokens) {
				return tokens[i+k]
			}
			return token{}
		}
		switch {
		case t.kind == tokenName && t.text == "system" && next(1).text == "(":
			c.awkCode(p, tokens[i+2:])
		case t.kind == tokenPunct && t.text == "|" && next(1).kind == tokenString:
			in := unknownArg()
			c.s.subshell(func() outcome {
				c.s.frame.stdin, c.s.frame.piped = &in, true
				c.awkCode(p, tokens[i+1:])
				return outcome{}
			})
		case t.kind == tokenString && next(1).text == "|" && next(2).text == "getline":
			c.awkCode(p, tokens[i:])
		case t.kind == tokenPunct && (t.text == ">" || t.text == ">>") && next(1).kind == tokenString && awkPrints(tokens[:i]):
			c.writes("write", p.with(next(1).text))
		}
	}
}

// awkCode runs the expression that begins tokens as shell code: strings are
// known, fields and variables are not.
func (c *call) awkCode(p arg, tokens []token) {
	var code strings.Builder
	for _, t := range tokens {
		if t.kind == tokenString {
			code.WriteString(t.text)
		} else if t.kind == tokenName || t.kind == tokenNumber {
			code.WriteString(holeText)
		} else if t.text != "$" && t.text != "(" {
			break
		}
	}
	c.child(func() outcome { return c.s.embed(p.with(code.String()), "awk", false) })
}

// awkPrints tells whether the statement before a ">" is a print.
func awkPrints(tokens []token) bool {
	for i := len(tokens) - 1; i >= 0; i-- {
		switch t := tokens[i]; {
		case t.text == "print" || t.text == "printf":
			return t.kind == tokenName
		case t.kind == tokenPunct && (t.text == ";" || t.text == "{" || t.text == "}"):
			return false
		}
	}
	return false
}
