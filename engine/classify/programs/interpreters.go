package programs

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/tasks"
)

// interpreter is the entry of sh, python, node … in the tables.
func interpreter(c *shell.Call) {
	lang := shell.Language(c.Name)
	if lang == "shell" {
		runShell(c)
		return
	}
	runLanguage(c, lang)
}

// runShell finds the code that a shell is told to run.
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
			if a.Is("--rcfile", "--init-file") && len(args) > 0 {
				startup(c, args[0])
				args = args[1:]
			}
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

// startup is the file that an interactive shell runs first.
func startup(c *shell.Call, file abstract.Arg) {
	c.Reads(file)
	if text, ok := c.Shell.Written(file); ok {
		c.Bound(text, "file", nil, false)
	} else if file.From != nil {
		c.Bound(*file.From, "process-substitution", nil, false)
	}
}

// Input runs what a shell reads from its standard input.
func shellInput(c *shell.Call, args []abstract.Arg) {
	in := c.Shell.Frame.Stdin
	if in == nil {
		c.Process()
		return
	}
	if in.Taint&(abstract.Filed|abstract.Decoded|abstract.Fetched) == abstract.Filed && !in.Known() {
		c.Process() // sh < script.sh is sh script.sh
		return
	}
	c.Bound(*in, inputVia(c), append([]abstract.Arg{abstract.Word(c.Name)}, args...), false)
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
	}
}

// runLanguage finds the code that an interpreter of another language is told
// to run.
func runLanguage(c *shell.Call, lang string) {
	p := shell.Program{First: true, Values: interpreterValues(lang)}
	o := shell.ParseOptions(c.Args, p)
	c.Opts = o
	if c.Name == "bun" && len(o.Operands) > 0 && o.Operands[0].Is(bunPackages...) {
		manager, _, _ := c.Shell.In.Rows.Program("npm")
		c.Opts = shell.ParseOptions(c.Args, grammar(manager.Program))
		follow(c, manager.Program)
		return
	}
	if lang == "node" && len(o.Operands) > 0 && o.Operands[0].Is("eval", "run", "x", "-", "exec") {
		runtimeCommand(c, o)
		return
	}
	found := false
	for _, code := range o.All(codeOptions(lang)...) {
		found = true
		c.Extract(lang, code, c.Name+"-e")
	}
	switch {
	case found:
	case o.Has("-m") && lang == "python":
		module(c, o)
	case len(o.Operands) == 0 || o.Operands[0].Is("-", "/dev/stdin"):
		languageInput(c, lang)
	default:
		languageFile(c, lang, o.Operands[0])
	}
	if lang == "perl" || lang == "ruby" {
		inPlace(c, o, found)
	}
}

// bunPackages are the words with which bun is a package manager, and no runtime.
var bunPackages = []string{"install", "i", "add", "ci", "update", "link", "publish", "create", "init", "outdated", "audit", "why", "pm"}

func interpreterValues(lang string) string {
	switch lang {
	case "python":
		return " -c -m -W -X -Q "
	case "node":
		return " -e -p -r --eval --print --require --import --loader --experimental-loader -C --conditions --env-file "
	case "php":
		return " -r -B -R -E -d -c -z "
	case "perl", "ruby":
		return " -e -E -I -M -r -C -F "
	}
	return " -e "
}

func codeOptions(lang string) []string {
	switch lang {
	case "python":
		return []string{"-c"}
	case "node":
		return []string{"-e", "-p", "--eval", "--print"}
	case "php":
		return []string{"-r", "-B", "-R", "-E"}
	case "perl":
		return []string{"-e", "-E"}
	}
	return []string{"-e"}
}

func runtimeCommand(c *shell.Call, o shell.Options) {
	switch {
	case o.Operands[0].Is("eval") && len(o.Operands) > 1:
		c.Extract("node", o.Operands[len(o.Operands)-1], c.Name+"-e")
	case len(o.Operands) > 1 && c.Name == "bun" && o.Operands[0].Is("x"):
		c.Child(func() shell.Outcome { return c.Shell.Invoke(o.Operands[1:], c.Node) })
	case o.Operands[0].Is("-"):
		languageInput(c, "node")
	case tasks.RunPackageScript(c, o.Operands):
	default:
		if c.Name == "bun" || c.Name == "deno" {
			for _, a := range o.Operands[1:] {
				if abstract.IsURL(a) {
					c.Fetches(a)
					c.Shell.Unseen(abstract.Arg{Text: abstract.HoleText, Taint: abstract.Fetched}, c.Name)
				}
			}
		}
		c.Process()
	}
}

func languageInput(c *shell.Call, lang string) {
	in := c.Shell.Frame.Stdin
	if in == nil || in.Taint&(abstract.Filed|abstract.Decoded|abstract.Fetched) == abstract.Filed && !in.Known() {
		c.Process()
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

// module is python -m NAME.
func module(c *shell.Call, o shell.Options) {
	name, _ := o.Get("-m")
	switch name.Text {
	case "http.server", "SimpleHTTPServer", "pyftpdlib":
		c.Listens(abstract.Word("0.0.0.0"), c.Args)
	case "pip", "venv", "twine", "build", "pytest", "unittest", "poetry", "uv", "pipx", "virtualenv":
		out := c.Child(func() shell.Outcome {
			return c.Shell.Invoke(append([]abstract.Arg{name}, o.Operands...), c.Node)
		})
		c.Out = out.Out
	default:
		c.Process()
	}
}

// inPlace is perl -i and ruby -i: the files are rewritten.
func inPlace(c *shell.Call, o shell.Options, code bool) {
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
