package programs

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// edit is an editor that is told what to do: by its arguments, by a script, or
// by what it reads.
func edit(c *shell.Call) {
	for _, cmd := range append(c.Opts.All("-c", "--cmd"), plusCommands(c.Args)...) {
		editorLine(c, cmd)
	}
	if script, ok := c.Opts.Get("-S", "-s"); ok && c.Name != "ed" {
		c.Reads(script)
		if text, ok := c.Shell.Written(script); ok {
			editorLines(c, text)
		}
	}
	if in := c.Shell.Frame.Stdin; in != nil && (c.Name == "ed" || c.Name == "ex" || c.Opts.Has("-e", "-E", "-es", "-Es")) {
		editorLines(c, *in)
	}
	for _, a := range c.Opts.Operands {
		if !a.HasPrefix("+") {
			c.Writes("write", a)
		}
	}
}

func plusCommands(args []abstract.Arg) []abstract.Arg {
	var out []abstract.Arg
	for _, a := range args {
		if a.HasPrefix("+") {
			out = append(out, a.With(a.Text[1:]))
		}
	}
	return out
}

// editorLines are the commands of a script. What is typed in after "a" or "i"
// is text up to a line with a dot alone.
func editorLines(c *shell.Call, text abstract.Arg) {
	typing := false
	for l := range strings.SplitSeq(text.Text, "\n") {
		if typing {
			typing = l != "."
			continue
		}
		editorLine(c, text.With(l))
		typing = inserts().MatchString(strings.TrimSpace(l))
	}
}

var (
	inserts      = engine.Regexp(`^[0-9$.,%]*(a|i|c|append|insert|change)$`)
	editorRange  = engine.Regexp(`^[:\s]*(silent!?\s+|keep\w+\s+|noauto\w*\s+|exec(ute)?\s+["'])*[0-9$.,%;'<>+-]*\s*`)
	editorWrite  = engine.Regexp(`^(w|wr|write|wq|x|xit|exi|exit|W|sav|saveas|up|update|wn)!?\s*(>>)?\s*([^|!\s]\S*)`)
	editorOpen   = engine.Regexp(`^(e|ed|edit|f|file|sp|split|new|tabe|tabedit|badd|enew)!?\s+([^|!\s]\S*)`)
	editorShell  = engine.Regexp(`^(?:(?:(?:w|write|e|f)\s+|(?:r|read)\s*)?!|(?:te|ter|term|terminal)\s+)(.*)`)
	editorSystem = engine.Regexp(`\b(system|systemlist|termopen|jobstart|job_start)\(\s*(?:'([^']*)'|"((?:[^"\\]|\\.)*)")`)
	editorDelete = engine.Regexp(`\b(delete|mkdir|writefile|rename)\((?:[^'"]*\],\s*)?\s*['"]([^'"]*)['"](?:\s*,\s*['"]([^'"]*)['"])?`)
	editorCode   = engine.Regexp(`^(py|pyt\w*|py3|pyx|perl|rub\w*|lua)\s+(.+)`)
)

// editorLine is one command of vi, ex or ed.
func editorLine(c *shell.Call, line abstract.Arg) {
	text := line.Text[len(editorRange().FindString(line.Text)):]
	if m := editorShell().FindStringSubmatch(text); m != nil {
		c.Child(func() shell.Outcome { return c.Shell.Embed(line.With(m[1]), "editor", false) })
		return
	}
	if m := editorCode().FindStringSubmatch(text); m != nil {
		c.Extract(editorLanguage(m[1]), line.With(m[2]), "editor")
		return
	}
	if m := editorWrite().FindStringSubmatch(text); m != nil {
		c.Writes("write", editorPath(c, line.With(m[3])))
	}
	if m := editorOpen().FindStringSubmatch(text); m != nil {
		c.Writes("write", editorPath(c, line.With(m[2])))
	}
	for _, m := range editorSystem().FindAllStringSubmatch(text, -1) {
		c.Child(func() shell.Outcome { return c.Shell.Embed(line.With(m[2]+m[3]), "editor", false) })
	}
	for _, m := range editorDelete().FindAllStringSubmatch(text, -1) {
		editorFile(c, m[1], line.With(m[2]), m[3])
	}
}

// editorPath is a file name as editors take it, with ~ for the home directory.
func editorPath(c *shell.Call, a abstract.Arg) abstract.Arg {
	if rest, ok := strings.CutPrefix(a.Text, "~"); ok && (rest == "" || rest[0] == '/') {
		return abstract.Concat(c.Shell.HomeOf(""), a.With(rest))
	}
	return a
}

func editorLanguage(command string) string {
	switch {
	case strings.HasPrefix(command, "py"):
		return "python"
	case strings.HasPrefix(command, "rub"):
		return "ruby"
	}
	return command
}

// editorFile is a function of an editor that changes a file.
func editorFile(c *shell.Call, function string, file abstract.Arg, flags string) {
	switch function {
	case "delete":
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Recursive: strings.Contains(flags, "r")}, file)
	case "rename":
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "move"}, file)
		c.Writes("write", file.With(flags))
	default:
		c.Writes("write", file)
	}
}

// splitFile is split and csplit: pieces of a file below a beginning of names.
func splitFile(c *shell.Call) {
	c.Reads(c.Opts.Operand(0))
	stem := abstract.Word("x")
	if c.Name == "csplit" {
		stem = abstract.Word("xx")
		if f, ok := c.Opts.Get("-f", "--prefix"); ok {
			stem = f
		}
	} else if len(c.Opts.Operands) > 1 {
		stem = c.Opts.Operand(1)
	}
	if code, ok := c.Opts.Get("--filter"); ok {
		c.Child(func() shell.Outcome {
			c.Shell.Frame.Piped, c.Shell.Frame.Stdin = true, &abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed}
			return c.Shell.Embed(code, "split", false)
		})
		return
	}
	c.Writes("create", stem.With(stem.Text+abstract.HoleText))
}
