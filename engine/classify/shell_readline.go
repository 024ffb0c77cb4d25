package classify

import "strings"

// reading is what a builtin that reads lines was told.
type lineReader struct {
	names []string
	array string // -a: the array that takes the words
	fd    string // -u
	raw   bool   // -r: a backslash is a backslash
	cut   bool   // -d, -n, -N: the line ends elsewhere
}

func readerOf(args []arg) lineReader {
	var r lineReader
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.hasPrefix("-") || len(a.text) < 2 {
			r.names = append(r.names, a.text)
			continue
		}
		letters := a.text[1:]
		k := strings.IndexAny(letters, "adinNptu")
		r.raw = r.raw || strings.ContainsRune(letters, 'r')
		if k < 0 {
			continue
		}
		value := letters[k+1:]
		if value == "" && i+1 < len(args) {
			i++
			value = args[i].text
		}
		switch letters[k] {
		case 'a':
			r.array = value
		case 'u':
			r.fd = value
		case 'd', 'n', 'N':
			r.cut = true
		}
	}
	return r
}

// readWords is read x y: the words of a line of standard input, where that is
// known. In a loop it is any of the lines.
func (c *call) readWords() {
	s := c.s
	r := readerOf(c.args)
	in := s.descriptor(r.fd)
	if in == nil || !in.known() || r.cut {
		c.readUnknown(r, in)
		return
	}
	var lines [][]arg
	for l := range strings.SplitSeq(strings.TrimSuffix(in.text, "\n"), "\n") {
		if !r.raw {
			l = strings.ReplaceAll(l, `\`, "")
		}
		limit := max(len(r.names), 1)
		if r.array != "" {
			limit = maxWords
		}
		lines = append(lines, lineFields(in.with(l), s.ifs(), limit))
	}
	if r.array != "" {
		s.scope.set(r.array, variable{array: true, list: onlyLine(lines)})
		return
	}
	if len(r.names) == 0 {
		r.names = []string{"REPLY"}
	}
	for i, name := range r.names {
		var alts []arg
		for _, words := range lines {
			if i < len(words) {
				alts = append(alts, words[i])
			} else {
				alts = append(alts, arg{})
			}
		}
		s.scope.setText(name, alts...)
	}
}

func (c *call) readUnknown(r lineReader, in *arg) {
	line := unknownArg()
	if in != nil {
		line.taint = in.taint
	}
	if r.array != "" {
		line.splits = true
		c.s.scope.set(r.array, variable{array: true, list: []arg{line}})
	}
	if len(r.names) == 0 {
		r.names = []string{"REPLY"}
	}
	for _, n := range r.names {
		c.s.scope.setText(n, line)
	}
}

// onlyLine is the words of the line, if there is but one.
func onlyLine(lines [][]arg) []arg {
	if len(lines) == 1 {
		return lines[0]
	}
	return []arg{{text: holeText, splits: true}}
}

// lineFields splits a line at the characters of IFS into at most n fields, the
// last of which takes the rest.
func lineFields(line arg, ifs string, n int) []arg {
	const blanks = " \t\n"
	space, rest := keep(ifs, blanks), line.text
	var out []arg
	for rest = strings.Trim(rest, space); rest != ""; {
		i := strings.IndexAny(rest, ifs)
		if i < 0 || ifs == "" || len(out) == n-1 {
			return append(out, line.with(rest))
		}
		out = append(out, line.with(rest[:i]))
		more := strings.TrimLeft(rest[i:], space)
		if more != "" && strings.IndexByte(ifs, more[0]) >= 0 && strings.IndexByte(blanks, more[0]) < 0 {
			more = strings.TrimLeft(more[1:], space)
		}
		rest = more
	}
	return out
}

// keep is the characters of a that are also in b.
func keep(a, b string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(b, r) {
			return r
		}
		return -1
	}, a)
}

// readLines is mapfile: an array of the lines of standard input.
func (c *call) readLines() {
	n := len(c.args)
	if n == 0 || !c.args[n-1].known() {
		return
	}
	name, fd := c.args[n-1].text, ""
	for i, a := range c.args[:n-1] {
		if a.is("-u") {
			fd = c.args[i+1].text
		}
		if a.is("-C") {
			c.s.subshell(func() outcome { return c.s.embed(c.args[i+1], "mapfile", true) })
		}
	}
	in := c.s.descriptor(fd)
	list := []arg{{text: holeText, splits: true}}
	if in != nil && in.known() && strings.Count(in.text, "\n") <= maxAlts {
		list = nil
		for l := range strings.SplitSeq(strings.TrimSuffix(in.text, "\n"), "\n") {
			list = append(list, in.with(l))
		}
	}
	c.s.scope.set(name, variable{array: true, list: list})
}

// getWords is getopts: the option and its value come from the arguments.
func (c *call) getWords() {
	if len(c.args) < 2 {
		return
	}
	values := []arg{unknownArg()}
	from := c.s.scope.args
	if len(c.args) > 2 {
		from = c.args[2:]
	}
	for _, a := range from {
		values = append(values, a)
		if a.hasPrefix("-") && len(a.text) > 2 {
			values = append(values, a.with(a.text[2:]))
		}
	}
	c.s.scope.setText("OPTARG", values...)
	c.s.scope.setText(c.args[1].text, unknownArg())
}
