package programs

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/tasks"
)

// editorCommands are those among an editor's arguments: -c COMMAND, +COMMAND.
func editorCommands(c *shell.Call) {
	list := c.Opts.All("-c", "--cmd")
	for _, a := range c.Args {
		if a.HasPrefix("+") {
			list = append(list, a.With(a.Text[1:]))
		}
	}
	for _, cmd := range list {
		editorLine(c, cmd)
	}
}

// editorScript is a file of commands.
func editorScript(c *shell.Call) {
	if script, ok := c.Opts.Get("-S", "-s"); ok {
		c.Reads(script)
		if text, ok := c.Shell.Written(script); ok {
			editorLines(c, text)
		}
	}
}

// editorInput is commands that an editor reads.
func editorInput(c *shell.Call) {
	if in := c.Shell.Frame.Stdin; in != nil {
		editorLines(c, *in)
	}
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

// makeTargets runs what a makefile says of the targets. One that was fetched is
// code that nobody has seen: make -f <(curl …).
func makeTargets(c *shell.Call) {
	for _, f := range c.Opts.All("-f", "--file", "--makefile") {
		if f.From != nil && f.From.Taint&abstract.Fetched != 0 {
			c.Shell.Unseen(*f.From, c.Name)
		}
	}
	recipes(c, tasks.MakeTargets)
}

func justRecipes(c *shell.Call) { recipes(c, tasks.JustRecipes) }

func taskCommands(c *shell.Call) { recipes(c, tasks.TaskCommands) }

// recipes runs those of a project that a runner is told to run, or else the runner
// does what nobody has seen.
func recipes(c *shell.Call, run func(*shell.Call) (seen bool)) {
	if !run(c) {
		c.Process()
	}
}
