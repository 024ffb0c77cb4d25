package classify

import (
	"regexp"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// edit is an editor that is told what to do: by its arguments, by a script, or
// by what it reads.
func edit(c *call) {
	for _, cmd := range append(c.opts.all("-c", "--cmd"), plusCommands(c.args)...) {
		c.editorLine(cmd)
	}
	if script, ok := c.opts.get("-S", "-s"); ok && c.name != "ed" {
		c.reads(script)
		if text, ok := c.s.written(script); ok {
			c.editorLines(text)
		}
	}
	if in := c.s.frame.stdin; in != nil && (c.name == "ed" || c.name == "ex" || c.opts.has("-e", "-E", "-es", "-Es")) {
		c.editorLines(*in)
	}
	for _, a := range c.opts.operands {
		if !a.hasPrefix("+") {
			c.writes("write", a)
		}
	}
}

func plusCommands(args []arg) []arg {
	var out []arg
	for _, a := range args {
		if a.hasPrefix("+") {
			out = append(out, a.with(a.text[1:]))
		}
	}
	return out
}

// editorLines are the commands of a script. What is typed in after "a" or "i"
// is text up to a line with a dot alone.
func (c *call) editorLines(text arg) {
	typing := false
	for l := range strings.SplitSeq(text.text, "\n") {
		if typing {
			typing = l != "."
			continue
		}
		c.editorLine(text.with(l))
		typing = inserts.MatchString(strings.TrimSpace(l))
	}
}

var (
	inserts      = regexp.MustCompile(`^[0-9$.,%]*(a|i|c|append|insert|change)$`)
	editorRange  = regexp.MustCompile(`^[:\s]*(silent!?\s+|keep\w+\s+|noauto\w*\s+|exec(ute)?\s+["'])*[0-9$.,%;'<>+-]*\s*`)
	editorWrite  = regexp.MustCompile(`^(w|wr|write|wq|x|xit|exi|exit|W|sav|saveas|up|update|wn)!?\s*(>>)?\s*([^|!\s]\S*)`)
	editorOpen   = regexp.MustCompile(`^(e|ed|edit|f|file|sp|split|new|tabe|tabedit|badd|enew)!?\s+([^|!\s]\S*)`)
	editorShell  = regexp.MustCompile(`^(?:(?:(?:w|write|e|f)\s+|(?:r|read)\s*)?!|(?:te|ter|term|terminal)\s+)(.*)`)
	editorSystem = regexp.MustCompile(`\b(system|systemlist|termopen|jobstart|job_start)\(\s*(?:'([^']*)'|"((?:[^"\\]|\\.)*)")`)
	editorDelete = regexp.MustCompile(`\b(delete|mkdir|writefile|rename)\((?:[^'"]*\],\s*)?\s*['"]([^'"]*)['"](?:\s*,\s*['"]([^'"]*)['"])?`)
	editorCode   = regexp.MustCompile(`^(py|pyt\w*|py3|pyx|perl|rub\w*|lua)\s+(.+)`)
)

// editorLine is one command of vi, ex or ed.
func (c *call) editorLine(line arg) {
	text := line.text[len(editorRange.FindString(line.text)):]
	if m := editorShell.FindStringSubmatch(text); m != nil {
		c.child(func() outcome { return c.s.embed(line.with(m[1]), "editor", false) })
		return
	}
	if m := editorCode.FindStringSubmatch(text); m != nil {
		c.extract(editorLanguage(m[1]), line.with(m[2]), "editor")
		return
	}
	if m := editorWrite.FindStringSubmatch(text); m != nil {
		c.writes("write", c.editorPath(line.with(m[3])))
	}
	if m := editorOpen.FindStringSubmatch(text); m != nil {
		c.writes("write", c.editorPath(line.with(m[2])))
	}
	for _, m := range editorSystem.FindAllStringSubmatch(text, -1) {
		c.child(func() outcome { return c.s.embed(line.with(m[2]+m[3]), "editor", false) })
	}
	for _, m := range editorDelete.FindAllStringSubmatch(text, -1) {
		c.editorFile(m[1], line.with(m[2]), m[3])
	}
}

// editorPath is a file name as editors take it, with ~ for the home directory.
func (c *call) editorPath(a arg) arg {
	if rest, ok := strings.CutPrefix(a.text, "~"); ok && (rest == "" || rest[0] == '/') {
		return concat(c.s.homeOf(""), a.with(rest))
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
func (c *call) editorFile(function string, file arg, flags string) {
	switch function {
	case "delete":
		c.emit(rawEffect{kind: engine.EffectFileDelete, verb: "delete", recursive: strings.Contains(flags, "r")}, file)
	case "rename":
		c.emit(rawEffect{kind: engine.EffectFileDelete, verb: "move"}, file)
		c.writes("write", file.with(flags))
	default:
		c.writes("write", file)
	}
}

// splitFile is split and csplit: pieces of a file below a beginning of names.
func splitFile(c *call) {
	c.reads(c.opts.operand(0))
	stem := word("x")
	if c.name == "csplit" {
		stem = word("xx")
		if f, ok := c.opts.get("-f", "--prefix"); ok {
			stem = f
		}
	} else if len(c.opts.operands) > 1 {
		stem = c.opts.operand(1)
	}
	if code, ok := c.opts.get("--filter"); ok {
		c.child(func() outcome {
			c.s.frame.piped, c.s.frame.stdin = true, &arg{text: holeText, taint: filed}
			return c.s.embed(code, "split", false)
		})
		return
	}
	c.writes("create", stem.with(stem.text+holeText))
}
