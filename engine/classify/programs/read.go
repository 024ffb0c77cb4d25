package programs

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// What takes a value differs from one grep to the next: -r is recursive here and
// a replacement there. A flag that is taken for one with a value makes the
// pattern its value, and the file the pattern.
// relativeNames is a list of names below the present directory.
func relativeNames(c *shell.Call, roots []abstract.Arg) abstract.Arg {
	var text strings.Builder
	for _, r := range roots {
		if r.Text == "." || r.Text == "" {
			r.Text = "."
		}
		text.WriteString(strings.TrimSuffix(r.Text, "/") + "/" + abstract.HoleText + "\n")
	}
	if len(roots) == 0 {
		return abstract.Word("./" + abstract.HoleText + "\n")
	}
	return abstract.Word(text.String())
}

func listFiles(c *shell.Call) {
	c.Reads(c.Opts.Operands...)
	c.Out = relativeNames(c, nil)
	for _, a := range c.Opts.Operands {
		if a.HasPrefix("/") || a.HasPrefix("~") || a.HasPrefix("..") || !a.Known() {
			c.Out = abstract.UnknownArg()
		}
	}
}

// printFiles is cat: what the script has written is printed again.
func printFiles(c *shell.Call) {
	in := c.Shell.Frame.Stdin
	out := abstract.Arg{}
	for _, a := range c.Opts.Operands {
		text, ok := c.Shell.Shown(a)
		switch {
		case a.Is("-") && in != nil:
			text = *in
		case a.From != nil:
			text = *a.From
		case a.Is("/dev/null"):
			text = abstract.Arg{}
		case a.Is("/dev/zero", "/dev/urandom", "/dev/random"):
			endlessOutput(c)
			text = abstract.UnknownArg()
		case !ok:
			text = abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed}
		}
		out = abstract.Concat(out, text)
	}
	if len(c.Opts.Operands) == 0 {
		out = abstract.UnknownArg()
		if in != nil {
			out = *in
		}
	}
	c.Reads(c.Opts.Operands...)
	c.Out = out
}

func readOperands(c *shell.Call) {
	for _, a := range c.Opts.Operands {
		if a.From != nil {
			c.Out.Taint |= a.From.Taint
		}
	}
	c.Reads(c.Opts.Operands...)
	c.Reads(c.Opts.PerhapsFiles()...)
}

// search is grep: the first operand is a pattern unless an option gave one.
func search(c *shell.Call) {
	files := c.Opts.Operands
	patterns := c.Opts.All("-e", "--regexp")
	if !c.Opts.Has("-e", "-f", "--regexp", "--file", "--files") && len(files) > 0 {
		patterns, files = files[:1], files[1:]
	}
	if c.Shell.Frame.Piped && len(files) == 0 { // ps | grep NAME
		c.LooksUp(patterns...)
	}
	if pre, ok := c.Opts.Get("--pre"); ok {
		c.Child(func() shell.Outcome { return c.Shell.Invoke([]abstract.Arg{pre, abstract.UnknownArg()}, c.Node) })
	}
	c.Reads(files...)
	c.Reads(c.Opts.All("-f", "--file", "--exclude-from", "--ignore-file")...)
	if c.Opts.Has("-l", "--files-with-matches", "--files", "-L") {
		c.Out = relativeNames(c, files)
	}
}

// transform is a filter over text that is followed where it is known: rot13
// and reversed text hide code.
func transform(c *shell.Call) {
	in := c.Shell.Frame.Stdin
	if c.Name == "cut" || in == nil || !in.Known() {
		if c.Name != "tr" {
			c.Reads(c.Opts.Operands...)
		}
		return
	}
	c.Out.Taint |= abstract.Decoded
	switch {
	case c.Name == "rev":
		lines := strings.Split(in.Text, "\n")
		for i, l := range lines {
			lines[i] = abstract.Reversed(l)
		}
		c.Out.Text = strings.Join(lines, "\n")
	case len(c.Opts.Operands) == 2 && len(c.Opts.List) == 0:
		c.Out.Text = translate(in.Text, c.Opts.Operands[0].Text, c.Opts.Operands[1].Text)
	case len(c.Opts.Operands) == 1 && c.Opts.Has("-d"):
		set := rangeSet(c.Opts.Operands[0].Text)
		c.Out.Text = strings.Map(func(r rune) rune {
			if strings.ContainsRune(set, r) {
				return -1
			}
			return r
		}, in.Text)
	}
}

func translate(text, from, to string) string {
	a, b := []rune(rangeSet(from)), []rune(rangeSet(to))
	if len(a) == 0 || len(b) == 0 {
		return text
	}
	table := map[rune]rune{}
	for i, r := range a {
		table[r] = b[min(i, len(b)-1)]
	}
	return strings.Map(func(r rune) rune {
		if t, ok := table[r]; ok {
			return t
		}
		return r
	}, text)
}

// rangeSet spells out a-z in a set of tr.
func rangeSet(set string) string {
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

func query(c *shell.Call) {
	files := c.Opts.Operands
	filtered := c.Opts.Has("-f", "--from-file", "--slurpfile", "--rawfile") // those take a name and a file
	if len(files) > 0 && !filtered {
		files = files[1:]
	}
	if c.Name == "yq" && c.Opts.Has("-i", "--inplace") {
		c.Writes("write", files...)
		return
	}
	c.Reads(files...)
}

func sortFiles(c *shell.Call) {
	c.Reads(c.Opts.Operands...)
	if out, ok := c.Opts.Get("-o", "--output"); ok {
		c.Writes("write", out)
	}
	if prog, ok := c.Opts.Get("--compress-program"); ok {
		c.Child(func() shell.Outcome { return c.Shell.Invoke([]abstract.Arg{prog}, c.Node) })
	}
}

func uniq(c *shell.Call) {
	c.Reads(c.Opts.Operand(0))
	c.Writes("write", c.Opts.Operand(1))
}

// encode is base64 and xxd; what they decode is followed where it is known.
func encode(c *shell.Call) {
	c.Reads(c.Opts.Operands...)
	c.Reads(c.Opts.PerhapsFiles()...)
	for _, out := range c.Opts.All("-o") {
		c.Writes("write", out)
	}
	decodes := c.Opts.Has("-d", "-D", "--decode") || c.Name == "xxd" && c.Opts.Has("-r", "-revert") || c.Name == "uudecode"
	if !decodes {
		return
	}
	c.Out.Taint |= abstract.Decoded
	kind := "base64"
	if c.Name == "xxd" {
		kind = "hex"
	}
	in := c.Shell.Frame.Stdin
	if in == nil && len(c.Opts.Operands) > 0 {
		if text, ok := c.Shell.Written(c.Opts.Operands[0]); ok {
			in = &text
		} else if from := c.Opts.Operands[0].From; from != nil {
			in = from
		}
	}
	if in == nil || !in.Known() || len(c.Opts.Operands) > 0 && c.Shell.Frame.Stdin == in {
		return
	}
	if text, ok := shell.DecodeText(kind, in.Text); ok {
		c.Out.Text = text
	}
}

func environment(c *shell.Call) {
	if len(c.Opts.Operands) == 0 {
		c.Signal(engine.SignalEnvDump)
	}
}

// looksUp asks which processes have a name.
func looksUp(c *shell.Call) { c.LooksUp(c.Opts.Operands...) }

// whichProgram is which: it prints where programs are.
func whichProgram(c *shell.Call) { c.Out = shell.ProgramPath(c.Opts.Operands) }
