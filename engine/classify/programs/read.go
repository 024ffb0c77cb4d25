package programs

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// printFiles handles cat: what the script has written is printed again.
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
			text = abstract.Arg{Text: abstract.HoleText, Taint: c.Shell.OfFile(a)}
			if code, ok := c.Shell.PrintedCode(a); ok {
				text.Part = &code.Text
			}
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

// hidden returns the input of a filter that may hide code: rot13, reversed text. Nil:
// nothing is known about it.
func hidden(c *shell.Call) *abstract.Arg {
	in := c.Shell.Frame.Stdin
	if in == nil || !in.Known() {
		return nil
	}
	c.Out.Taint |= abstract.Decoded
	return in
}

// reverse handles rev.
func reverse(c *shell.Call) {
	in := hidden(c)
	if in == nil {
		c.Reads(c.Opts.Operands...)
		return
	}
	lines := strings.Split(in.Text, "\n")
	for i, l := range lines {
		lines[i] = abstract.Reversed(l)
	}
	c.Out.Text = strings.Join(lines, "\n")
}

// translate handles tr: it replaces or deletes a set of characters.
func translate(c *shell.Call) {
	in, sets := hidden(c), c.Opts.Operands
	switch {
	case in == nil:
	case len(sets) == 2 && len(c.Opts.List) == 0 && sets[1].Text != "":
		c.Out.Text = languages.Translated(in.Text, languages.RangeSet(sets[0].Text), languages.RangeSet(sets[1].Text))
	case len(sets) == 1 && c.Opts.Has("-d"):
		c.Out.Text = languages.Translated(in.Text, languages.RangeSet(sets[0].Text), "")
	}
}

func decodeBase64(c *shell.Call) { decode(c, "base64") }

func decodeHex(c *shell.Call) { decode(c, "hex") }

// decode decodes known input.
func decode(c *shell.Call, kind string) {
	c.Out.Taint |= abstract.Decoded
	in, files := c.Shell.Frame.Stdin, c.Opts.Operands
	switch {
	case in != nil && len(files) > 0:
		return
	case len(files) > 0:
		if text, ok := c.Shell.Written(files[0]); ok {
			in = &text
		} else {
			in = files[0].From
		}
	}
	if in != nil && in.Known() {
		if text, ok := shell.DecodeText(kind, in.Text); ok {
			c.Out.Text = text
		}
	}
}

// whichProgram handles which: it prints the locations of programs.
func whichProgram(c *shell.Call) { c.Out = shell.ProgramPath(c.Opts.Operands) }
