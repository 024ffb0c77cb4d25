package shell

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// lineReader has the options of a builtin that reads lines.
type lineReader struct {
	names []string
	array string // -a: the array that takes the words
	fd    string // -u
	raw   bool   // -r: a backslash is a backslash
	cut   bool   // -d, -n, -N: the line ends elsewhere
}

func readerOf(args []abstract.Arg) lineReader {
	var r lineReader
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.HasPrefix("-") || len(a.Text) < 2 {
			r.names = append(r.names, a.Text)
			continue
		}
		letters := a.Text[1:]
		k := strings.IndexAny(letters, "adinNptu")
		r.raw = r.raw || strings.ContainsRune(letters, 'r')
		if k < 0 {
			continue
		}
		value := letters[k+1:]
		if value == "" && i+1 < len(args) {
			i++
			value = args[i].Text
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

// readWords runs read x y: the words of a line of standard input, where that is known.
// In a loop, the line may be any of those lines.
func (c *Call) readWords() {
	s := c.Shell
	r := readerOf(c.Args)
	in := s.descriptor(r.fd)
	if in == nil || !in.Known() || r.cut {
		c.readUnknown(r, in)
		return
	}
	var lines [][]abstract.Arg
	for l := range strings.SplitSeq(strings.TrimSuffix(in.Text, "\n"), "\n") {
		if !r.raw {
			l = strings.ReplaceAll(l, `\`, "")
		}
		limit := max(len(r.names), 1)
		if r.array != "" {
			limit = MaxWords
		}
		lines = append(lines, lineFields(in.With(l), s.ifs(), limit))
	}
	if r.array != "" {
		s.Scope.set(r.array, variable{array: true, list: onlyLine(lines)})
		return
	}
	if len(r.names) == 0 {
		r.names = []string{"REPLY"}
	}
	for i, name := range r.names {
		var alts []abstract.Arg
		for _, words := range lines {
			if i < len(words) {
				alts = append(alts, words[i])
			} else {
				alts = append(alts, abstract.Arg{})
			}
		}
		s.Scope.SetText(name, alts...)
	}
}

func (c *Call) readUnknown(r lineReader, in *abstract.Arg) {
	line := abstract.UnknownArg()
	if in != nil {
		line.Taint = in.Taint
	}
	if r.array != "" {
		line.Splits = true
		c.Shell.Scope.set(r.array, variable{array: true, list: []abstract.Arg{line}})
	}
	if len(r.names) == 0 {
		r.names = []string{"REPLY"}
	}
	for _, n := range r.names {
		c.Shell.Scope.SetText(n, line)
	}
}

// onlyLine returns the words of the line, if there is only one.
func onlyLine(lines [][]abstract.Arg) []abstract.Arg {
	if len(lines) == 1 {
		return lines[0]
	}
	return []abstract.Arg{{Text: abstract.HoleText, Splits: true}}
}

// lineFields splits a line at the characters of IFS into at most n fields, the
// last of which takes the rest.
func lineFields(line abstract.Arg, ifs string, n int) []abstract.Arg {
	const blanks = " \t\n"
	space, rest := keep(ifs, blanks), line.Text
	var out []abstract.Arg
	for rest = strings.Trim(rest, space); rest != ""; {
		i := strings.IndexAny(rest, ifs)
		if i < 0 || ifs == "" || len(out) == n-1 {
			return append(out, line.With(rest))
		}
		out = append(out, line.With(rest[:i]))
		more := strings.TrimLeft(rest[i:], space)
		if more != "" && strings.IndexByte(ifs, more[0]) >= 0 && strings.IndexByte(blanks, more[0]) < 0 {
			more = strings.TrimLeft(more[1:], space)
		}
		rest = more
	}
	return out
}

// keep returns the characters of a that are also in b.
func keep(a, b string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(b, r) {
			return r
		}
		return -1
	}, a)
}

// readLines runs mapfile, which reads the lines of standard input into an array.
func (c *Call) readLines() {
	n := len(c.Args)
	if n == 0 || !c.Args[n-1].Known() {
		return
	}
	name, fd := c.Args[n-1].Text, ""
	for i, a := range c.Args[:n-1] {
		if a.Is("-u") {
			fd = c.Args[i+1].Text
		}
		if a.Is("-C") {
			c.Shell.Subshell(func() Outcome { return c.Shell.Embed(c.Args[i+1], "mapfile", true) })
		}
	}
	in := c.Shell.descriptor(fd)
	list := []abstract.Arg{{Text: abstract.HoleText, Splits: true}}
	if in != nil && in.Known() && strings.Count(in.Text, "\n") <= MaxAlts {
		list = nil
		for l := range strings.SplitSeq(strings.TrimSuffix(in.Text, "\n"), "\n") {
			list = append(list, in.With(l))
		}
	}
	c.Shell.Scope.set(name, variable{array: true, list: list})
}

// getWords runs getopts: the option and its value come from the arguments.
func (c *Call) getWords() {
	if len(c.Args) < 2 {
		return
	}
	values := []abstract.Arg{abstract.UnknownArg()}
	from := c.Shell.Scope.args
	if len(c.Args) > 2 {
		from = c.Args[2:]
	}
	for _, a := range from {
		values = append(values, a)
		if a.HasPrefix("-") && len(a.Text) > 2 {
			values = append(values, a.With(a.Text[2:]))
		}
	}
	c.Shell.Scope.SetText("OPTARG", values...)
	c.Shell.Scope.SetText(c.Args[1].Text, abstract.UnknownArg())
}
