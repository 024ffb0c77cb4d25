package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/tasks"
)

// interpret interprets the code that an interpreter runs.
func interpret(c *shell.Call, p rows.Program) {
	if p.Language == "shell" {
		runShell(c)
		return
	}
	runLanguage(c, p)
}

// runShell finds the code that a shell runs.
func runShell(c *shell.Call) {
	args := c.Args
	var code, errexit, input, checks bool
	for len(args) > 0 && (args[0].HasPrefix("-") || args[0].HasPrefix("+")) && len(args[0].Text) > 1 {
		a := args[0]
		args = args[1:]
		if a.Is("--") {
			break
		}
		if a.HasPrefix("--") {
			if name, text, ok := strings.Cut(a.Text, "="); ok && (name == "--command" || name == "--init-command") { // fish
				c.Bound(a.With(text), "sh-c", nil, false)
			}
			if a.Is("--command", "--init-command") && len(args) > 0 {
				c.Bound(args[0], "sh-c", nil, false)
				args = args[1:]
			}
			if a.Is("--rcfile", "--init-file") && len(args) > 0 {
				startup(c, args[0])
				args = args[1:]
			}
			continue
		}
		if c.Name == "fish" && a.Is("-C") && len(args) > 0 {
			c.Bound(args[0], "sh-c", nil, false)
			args = args[1:]
			continue
		}
		errexit = errexit || a.HasPrefix("-") && strings.Contains(a.Text, "e")
		code = code || a.HasPrefix("-") && strings.Contains(a.Text, "c")
		if strings.HasSuffix(a.Text, "o") || strings.HasSuffix(a.Text, "O") {
			args = args[min(1, len(args)):]
		}
		input = input || a.HasPrefix("-") && strings.Contains(a.Text, "s")
		checks = a.HasPrefix("-") && !strings.Contains(a.Text, "i") && (checks || strings.Contains(a.Text, "n"))
	}
	switch {
	case checks: // the syntax, and runs nothing
		c.Reads(args...)
	case code && len(args) > 0:
		c.Bound(args[0], "sh-c", args[1:], errexit)
	case code:
	case input || len(args) == 0:
		shellInput(c, args)
	default:
		shellFile(c, args)
	}
}

// startup handles the file that an interactive shell runs first.
func startup(c *shell.Call, file abstract.Arg) {
	c.Reads(file)
	if text, ok := c.Shell.Written(file); ok {
		c.Bound(text, "file", nil, false)
	} else if file.From != nil {
		c.Bound(*file.From, "process-substitution", nil, false)
	}
}

// shellInput runs what a shell reads from its standard input.
func shellInput(c *shell.Call, args []abstract.Arg) {
	in := c.Shell.Frame.Stdin
	if in == nil {
		c.Process()
		c.Shell.SignalIf(!hasArg(c.Args, "--version", "--help"), engine.SignalInteractive)
		return
	}
	if in.Taint.AsFile() && !in.Known() {
		c.Process() // sh < script.sh is sh script.sh
		c.RunsInput()
		if in = in.Part; in == nil {
			return
		}
	}
	c.Bound(*in, inputVia(c), append([]abstract.Arg{abstract.Word(c.Name)}, args...), false)
}

// hasArg reports whether one of the words is an argument.
func hasArg(args []abstract.Arg, words ...string) bool {
	return slices.ContainsFunc(args, func(a abstract.Arg) bool { return a.Is(words...) })
}

// shellFile runs a script file.
func shellFile(c *shell.Call, args []abstract.Arg) {
	file := args[0]
	code, ok := c.Shell.CodeIn(file, "shell")
	switch {
	case file.From != nil:
		c.Bound(*file.From, "process-substitution", args, false)
	case ok && code.Via == "file":
		c.RunsCode(code, args)
	case file.Is("/dev/stdin", "-"):
		shellInput(c, args[1:])
	default:
		c.Reads(file)
		if !ok || !c.RunsCode(code, args) {
			c.Process()
		}
		mayRead(c, args[1:])
	}
}

// runLanguage finds the code that an interpreter of another language runs.
func runLanguage(c *shell.Call, p rows.Program) {
	lang, found := p.Language, false
	for _, code := range values(c.Opts, p.Code) {
		found = true
		c.Extract(lang, code, c.Name+"-e")
	}
	switch {
	case found:
	case len(c.Opts.Operands) == 0 || c.Opts.Operands[0].Is("-", "/dev/stdin"):
		languageInput(c, lang)
	default:
		languageFile(c, lang, c.Opts.Operands[0])
		mayRead(c, c.Opts.Operands[1:])
	}
	if lang == "perl" || lang == "ruby" {
		inPlace(c, c.Opts, found)
	}
}

// runTask runs a script of package.json: bun run build. A runtime runs the code at an
// address that it is given.
func runTask(c *shell.Call) {
	if tasks.RunPackageScript(c, c.Opts.Operands) {
		return
	}
	if words := registryProgram(c); words != nil {
		c.Process()
		c.Shell.Invoke(words, c.Node)
		return
	}
	for _, a := range c.Opts.Operands[1:] {
		if abstract.IsURL(a) && (c.Name == "bun" || c.Name == "deno") {
			c.Fetches(a)
			c.Shell.Unseen(abstract.Arg{Text: abstract.HoleText, Taint: abstract.Fetched}, c.Name)
		}
	}
	c.Process()
}

// registryProgram returns the command of a program that is fetched from a registry and run:
// deno run npm:rimraf@5 build.
func registryProgram(c *shell.Call) []abstract.Arg {
	for i, a := range c.Args {
		for _, registry := range []string{"npm:", "jsr:"} {
			name, ok := strings.CutPrefix(a.Text, registry)
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(strings.TrimPrefix(name, "@"), "@")
			c.Fetches(abstract.Word(strings.TrimSuffix(registry, ":")))
			return append([]abstract.Arg{a.With(path.Base(name))}, c.Args[i+1:]...)
		}
	}
	return nil
}

// listens handles a module that serves a folder: --directory DIR, or the current one. Other
// hosts can reach it, unless its arguments bind it to this machine.
func listens(c *shell.Call) {
	c.Listens(abstract.Word("0.0.0.0"), c.Args)
	c.Sweeps(abstract.Word(".")) // what it serves if no folder is named
	for i, a := range c.Args {
		if dir, ok := strings.CutPrefix(a.Text, "--directory="); ok {
			c.ReadsTree(a.With(dir))
		} else if a.Is("-d", "--directory") && i+1 < len(c.Args) {
			c.ReadsTree(c.Args[i+1])
		}
	}
}

// languageInput interprets what an interpreter reads from its standard input.
func languageInput(c *shell.Call, lang string) {
	in := c.Shell.Frame.Stdin
	if in != nil && in.Taint.AsFile() && !in.Known() {
		c.RunsInput()
		in = in.Part
	}
	if in == nil {
		c.Process()
		c.Shell.SignalIf(c.Shell.Frame.Stdin == nil && !hasArg(c.Args, "--version", "--help", "-v", "-V", "-h"), engine.SignalInteractive)
		return
	}
	c.Extract(lang, *in, inputVia(c))
}

func languageFile(c *shell.Call, lang string, file abstract.Arg) {
	code, ok := c.Shell.CodeIn(file, lang)
	base, _ := file.Base()
	if k, ok, _ := c.Shell.In.Rows.Program(base); ok && k.Kind == rows.Database {
		c.Child(func() shell.Outcome { return c.Shell.Invoke(c.Opts.Operands, c.Node) }) // python manage.py flush
	}
	switch {
	case file.From != nil:
		c.Extract(lang, *file.From, "process-substitution")
	case ok && code.Via == "file":
		c.RunsCode(code, c.Opts.Operands)
	default:
		if abstract.IsURL(file) {
			c.Fetches(file)
			c.Shell.Unseen(abstract.Arg{Text: abstract.HoleText, Taint: abstract.Fetched}, c.Name)
			return
		}
		c.Reads(file)
		c.Process()
		if ok {
			c.RunsCode(code, c.Opts.Operands)
		}
	}
}

// inPlace handles perl -i and ruby -i, which change files in place.
func inPlace(c *shell.Call, o options.Options, code bool) {
	edits := false
	for _, opt := range o.List {
		if opt.Name == "-i" {
			edits = true
		}
	}
	if !code {
		return
	}
	if edits {
		c.Writes("write", o.Operands...)
		languages.Spoils(c, o.Operands)
	} else {
		c.Reads(o.Operands...)
	}
}
