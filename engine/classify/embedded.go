package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

func shellName(name string) bool {
	switch name {
	case "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "rbash", "fish", "yash", "oksh", "pdksh":
		return true
	}
	return false
}

// language returns what an interpreter runs; empty if name is none.
func language(name string) string {
	switch {
	case shellName(name):
		return "shell"
	case strings.HasPrefix(name, "python"), strings.HasPrefix(name, "pypy"):
		return "python"
	case name == "node" || name == "nodejs" || name == "bun" || name == "deno" || name == "ts-node" || name == "tsx":
		return "node"
	case strings.HasPrefix(name, "perl"):
		return "perl"
	case strings.HasPrefix(name, "ruby"), name == "irb":
		return "ruby"
	case strings.HasPrefix(name, "php"), name == "lua", name == "Rscript", name == "rscript", name == "osascript", name == "tclsh", name == "groovy":
		return strings.TrimRight(name, "0123456789.")
	}
	return ""
}

// codeBuiltin runs the builtins whose arguments are commands or code.
func (c *call) codeBuiltin() (outcome, bool) {
	s := c.s
	here := outcome{fail: s.scope.dirs}
	switch c.name {
	case "emulate": // zsh
		if n := len(c.args); n > 1 && c.args[n-2].is("-c") {
			return s.embed(c.args[n-1], "eval", true), true
		}
		return here, true
	case "eval":
		code := joinWords(c.args)
		if strings.TrimSpace(code.text) == "" {
			return here, true
		}
		return s.embed(code, "eval", true), true
	case ".", "source":
		return c.sourceFile(), true
	case "trap":
		c.trap()
		return here, true
	case "exec":
		return c.execute()
	}
	args := c.args
	for len(args) > 0 && args[0].is("-p", "--") {
		args = args[1:]
	}
	if len(args) == 0 || args[0].is("-v", "-V") {
		c.record()
		c.finish()
		here.out = programPath(args[min(1, len(args)):])
		return here, true
	}
	saved := s.frame
	s.frame.wrappers = appendText(saved.wrappers, c.name)
	inner := *c
	inner.path, inner.args = args[0], args[1:]
	defer func() { s.frame = saved }()
	if !inner.resolve() {
		return inner.unknown(), true
	}
	return inner.run(), true
}

// programPath is the output of which and command -v: some directory, then the
// name.
func programPath(names []arg) arg {
	if len(names) == 0 {
		return unknownArg()
	}
	last := names[len(names)-1]
	return last.with(holeText + "/" + last.text + "\n")
}

// execute is exec: the shell becomes another program.
func (c *call) execute() (outcome, bool) {
	s := c.s
	o := parseOptions(c.args, program{first: true, values: " -a "})
	if len(o.operands) == 0 {
		c.record()
		c.finish()
		return outcome{fail: s.scope.dirs}, true
	}
	out := c.nested(func() outcome { return s.invoke(o.operands, c.node) })
	out.ends = true
	return out, true
}

// sourceFile runs a file's code in this shell.
func (c *call) sourceFile() outcome {
	s := c.s
	if len(c.args) == 0 {
		return outcome{fail: s.scope.dirs}
	}
	file := c.args[0]
	switch code, ok := s.codeIn(file, "shell"); {
	case file.from != nil:
		return s.embed(*file.from, "source", true)
	case ok:
		if code.via == "script" {
			c.record()
			c.reads(file)
			c.finish()
		}
		return c.sources(code)
	case file.is("/dev/stdin") && s.frame.stdin != nil:
		return s.embed(*s.frame.stdin, "source", true)
	}
	c.record()
	c.reads(file)
	c.finish()
	return outcome{out: unknownArg(), fail: s.scope.dirs}
}

// trap keeps code for later. It runs in the state of then, which is not known
// better than the state of now.
func (c *call) trap() {
	args := c.args
	for len(args) > 0 && args[0].is("--", "-p", "-l") {
		args = args[1:]
	}
	for _, a := range args[min(1, len(args)):] {
		c.s.traps = c.s.traps || !args[0].is("-") && !a.is("EXIT", "ERR", "DEBUG", "RETURN", "0")
	}
	if len(args) < 2 || args[0].is("-", "") {
		return
	}
	c.signal(engine.SignalDeferred)
	c.s.runTrap(args[0])
	if len(c.s.pending) < maxDepth {
		c.s.pending = append(c.s.pending, args[0])
	} else {
		c.s.overBudget("trap")
	}
}

func (s *shell) runTrap(code arg) {
	if s.trees[code.text] == nil {
		if list, ok := parseShell(code.text); ok {
			s.trees[code.text] = list
		}
	}
	s.subshell(func() outcome { return s.embed(code, "trap", true) })
}

// runTraps runs once more what traps do: their variables, functions and
// directory are those of the end.
func (s *shell) runTraps(from int) {
	list := s.pending[from:]
	s.pending = s.pending[:from:from]
	for _, code := range list {
		s.runTrap(code)
	}
}

// interpreter is the entry of sh, python, node … in the tables.
func interpreter(c *call) {
	lang := language(c.name)
	if lang == "shell" {
		c.runShell()
		return
	}
	c.runLanguage(lang)
}

// runShell finds the code that a shell is told to run.
func (c *call) runShell() {
	args := c.args
	var code, errexit, input, checks bool
	for len(args) > 0 && (args[0].hasPrefix("-") || args[0].hasPrefix("+")) && len(args[0].text) > 1 {
		a := args[0]
		args = args[1:]
		if a.is("--") {
			break
		}
		if a.hasPrefix("--") {
			if a.is("--rcfile", "--init-file") && len(args) > 0 {
				c.startup(args[0])
				args = args[1:]
			}
			continue
		}
		errexit = errexit || a.hasPrefix("-") && strings.Contains(a.text, "e")
		code = code || a.hasPrefix("-") && strings.Contains(a.text, "c")
		if strings.HasSuffix(a.text, "o") || strings.HasSuffix(a.text, "O") {
			args = args[min(1, len(args)):]
		}
		input = input || a.hasPrefix("-") && strings.Contains(a.text, "s")
		checks = a.hasPrefix("-") && !strings.Contains(a.text, "i") && (checks || strings.Contains(a.text, "n"))
	}
	switch {
	case checks: // the syntax, and runs nothing
		c.reads(args...)
	case code && len(args) > 0:
		c.bound(args[0], "sh-c", args[1:], errexit)
	case code:
	case input || len(args) == 0:
		c.shellInput(args)
	default:
		c.shellFile(args)
	}
}

// startup is the file that an interactive shell runs first.
func (c *call) startup(file arg) {
	c.reads(file)
	if text, ok := c.s.written(file); ok {
		c.bound(text, "file", nil, false)
	} else if file.from != nil {
		c.bound(*file.from, "process-substitution", nil, false)
	}
}

// bound runs code with $0, $1 … set.
func (c *call) bound(code arg, via string, args []arg, errexit bool) {
	c.out = c.child(func() outcome {
		s := c.s
		s.scope.args, s.scope.bound, s.scope.name = nil, true, arg{}
		s.scope.errexit = errexit
		s.scope.funcs, s.scope.aliases = nil, nil
		if len(args) > 0 {
			s.scope.name, s.scope.args = args[0], args[1:]
		} else {
			s.scope.bound = false
		}
		from := len(s.pending)
		o := s.embed(code, via, true)
		s.frame.via = appendText(s.frame.via, via)
		s.runTraps(from)
		return o
	}).out
}

// nested runs f as a child process of this command, which is a wrapper of what
// f runs.
func (c *call) nested(f func() outcome) outcome {
	s := c.s
	if s.nesting++; s.nesting > maxNesting {
		s.overBudget(c.name)
	}
	defer func() { s.nesting-- }()
	return s.subshell(func() outcome {
		s.frame.wrappers = appendText(s.frame.wrappers, c.name)
		return f()
	})
}

// child runs f as a process that this command starts.
func (c *call) child(f func() outcome) outcome {
	c.s.frame.depth++
	defer func() { c.s.frame.depth-- }()
	return c.s.subshell(f)
}

// shellInput runs what a shell reads from its standard input.
func (c *call) shellInput(args []arg) {
	in := c.s.frame.stdin
	if in == nil {
		c.process()
		return
	}
	if in.taint&(filed|decoded|fetched) == filed && !in.known() {
		c.process() // sh < script.sh is sh script.sh
		return
	}
	c.bound(*in, c.inputVia(), append([]arg{word(c.name)}, args...), false)
}

func (c *call) inputVia() string {
	if c.s.frame.piped {
		return "pipe"
	}
	return "heredoc"
}

// shellFile runs a script file.
func (c *call) shellFile(args []arg) {
	file := args[0]
	code, ok := c.s.codeIn(file, "shell")
	switch {
	case file.from != nil:
		c.bound(*file.from, "process-substitution", args, false)
	case ok && code.via == "file":
		c.runsCode(code, args)
	case file.is("/dev/stdin", "-"):
		c.shellInput(args[1:])
	default:
		c.reads(file)
		if !ok || !c.runsCode(code, args) {
			c.process()
		}
	}
}

// runLanguage finds the code that an interpreter of another language is told
// to run.
func (c *call) runLanguage(lang string) {
	p := program{first: true, values: interpreterValues(lang)}
	o := parseOptions(c.args, p)
	c.opts = o
	if c.name == "bun" && len(o.operands) > 0 && o.operands[0].is(bunPackages...) {
		manager := packagePrograms("npm")
		c.opts = parseOptions(c.args, manager)
		manager.run(c)
		return
	}
	if lang == "node" && len(o.operands) > 0 && o.operands[0].is("eval", "run", "x", "-", "exec") {
		c.runtimeCommand(o)
		return
	}
	found := false
	for _, code := range o.all(codeOptions(lang)...) {
		found = true
		c.extract(lang, code, c.name+"-e")
	}
	switch {
	case found:
	case o.has("-m") && lang == "python":
		c.module(o)
	case len(o.operands) == 0 || o.operands[0].is("-", "/dev/stdin"):
		c.languageInput(lang)
	default:
		c.languageFile(lang, o.operands[0])
	}
	if lang == "perl" || lang == "ruby" {
		c.inPlace(o, found)
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

func (c *call) runtimeCommand(o options) {
	switch {
	case o.operands[0].is("eval") && len(o.operands) > 1:
		c.extract("node", o.operands[len(o.operands)-1], c.name+"-e")
	case len(o.operands) > 1 && c.name == "bun" && o.operands[0].is("x"):
		c.child(func() outcome { return c.s.invoke(o.operands[1:], c.node) })
	case o.operands[0].is("-"):
		c.languageInput("node")
	case c.runPackageScript(o.operands):
	default:
		if c.name == "bun" || c.name == "deno" {
			for _, a := range o.operands[1:] {
				if isURL(a) {
					c.fetches(a)
					c.s.unseen(arg{text: holeText, taint: fetched}, c.name)
				}
			}
		}
		c.process()
	}
}

func (c *call) languageInput(lang string) {
	in := c.s.frame.stdin
	if in == nil || in.taint&(filed|decoded|fetched) == filed && !in.known() {
		c.process()
		return
	}
	c.extract(lang, *in, c.inputVia())
}

func (c *call) languageFile(lang string, file arg) {
	code, ok := c.s.codeIn(file, lang)
	base, _ := file.base()
	if p := databasePrograms(base); p.run != nil {
		c.child(func() outcome { return c.s.invoke(c.opts.operands, c.node) }) // python manage.py flush
	}
	switch {
	case file.from != nil:
		c.extract(lang, *file.from, "process-substitution")
	case ok && code.via == "file":
		c.runsCode(code, c.opts.operands)
	default:
		if isURL(file) {
			c.fetches(file)
			c.s.unseen(arg{text: holeText, taint: fetched}, c.name)
			return
		}
		c.reads(file)
		c.process()
		if ok {
			c.runsCode(code, c.opts.operands)
		}
	}
}

// module is python -m NAME.
func (c *call) module(o options) {
	name, _ := o.get("-m")
	switch name.text {
	case "http.server", "SimpleHTTPServer", "pyftpdlib":
		c.listens(word("0.0.0.0"), c.args)
	case "pip", "venv", "twine", "build", "pytest", "unittest", "poetry", "uv", "pipx", "virtualenv":
		out := c.child(func() outcome {
			return c.s.invoke(append([]arg{name}, o.operands...), c.node)
		})
		c.out = out.out
	default:
		c.process()
	}
}

// listens is a server on this machine. Only one bound to the machine itself is
// out of others' reach.
func (c *call) listens(bind arg, args []arg) {
	for i, a := range args {
		if a.is("--bind", "-b", "--host", "-H") && i+1 < len(args) {
			bind = args[i+1]
		}
	}
	if !bind.is("127.0.0.1", "localhost", "::1") {
		c.signal(engine.SignalListen)
	}
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: "listen"}, bind)
}

// inPlace is perl -i and ruby -i: the files are rewritten.
func (c *call) inPlace(o options, code bool) {
	edits := false
	for _, opt := range o.list {
		if opt.name == "-i" {
			edits = true
		}
	}
	if !code {
		return
	}
	if edits {
		c.writes("write", o.operands...)
		c.spoils(o.operands)
	} else {
		c.reads(o.operands...)
	}
}

// extract finds the effects of code in another language.
func (c *call) extract(lang string, code arg, via string) {
	s := c.s
	if code.taint&decoded != 0 {
		s.signal(engine.SignalObfuscated)
	}
	if strings.Trim(code.text, holes+" \t\n") == "" && !code.known() {
		s.unseen(code, via)
		return
	}
	if s.frame.depth >= maxDepth || s.parsed+len(code.text) > maxEmbedded {
		s.overBudget(via)
		return
	}
	s.parsed += len(code.text)
	c.record()
	c.child(func() outcome {
		s.frame.via = appendText(s.frame.via, via)
		s.in.knows.code(c, lang, code)
		return outcome{}
	})
	c.out = arg{text: holeText}
}

// envCode looks at variables whose value is run by the programs that find them
// in their environment.
func (s *shell) envCode(name string, a arg) {
	s.agentVariable(name, a)
	s.trustVariable(name, a)
	switch name {
	case "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "PYTHONSTARTUP", "PERL5DB", "PROMPT_COMMAND", "PS4":
		if a.text == "" || name == "PS4" && !strings.ContainsAny(a.text, "$`") || name == "ENV" && !strings.Contains(a.text, "/") {
			return
		}
		s.signal(engine.SignalEnvInjected)
		if name == "PROMPT_COMMAND" {
			s.embed(a, "env", false)
		}
		if code, ok := s.codeIn(a, "shell"); ok && strings.HasSuffix(name, "ENV") {
			s.inFile(code, a, func() { s.embed(code.text, "env", false) })
		}
	case "PS0", "PS1", "PS2":
		s.subshell(func() outcome { return outcome{out: s.document(a)} })
	case "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "PYTHONPATH_HOOK", "JAVA_TOOL_OPTIONS":
		if strings.Contains(a.text, "-r") || strings.Contains(a.text, "--import") || strings.Contains(a.text, "--loader") || strings.Contains(a.text, "-M") || strings.Contains(a.text, "-javaagent") {
			s.signal(engine.SignalEnvInjected)
		}
	case "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_PROXY_COMMAND",
		"SSH_ASKPASS", "SUDO_ASKPASS", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "BROWSER", "FCEDIT", "RSYNC_RSH":
		s.commandVariable(strings.TrimPrefix(a.text, "|"), a)
	case "HUSKY", "LEFTHOOK":
		if a.is("0", "false") {
			s.signal(engine.SignalGitNoVerify)
		}
	case "HUSKY_SKIP_HOOKS", "SKIP", "PRE_COMMIT_ALLOW_NO_CONFIG":
		if a.text != "" {
			s.signal(engine.SignalGitNoVerify)
		}
	case "HISTFILE", "HISTSIZE", "HISTFILESIZE":
		if a.is("/dev/null", "0", "") {
			s.signal(engine.SignalGuardTamper)
		}
	}
}

// commandVariable is a variable that holds a command: what the command does is
// part of the script; an ordinary pager or editor is nothing to talk about.
func (s *shell) commandVariable(text string, a arg) {
	if text == "" || ordinaryTool(strings.Fields(text + " x")[0]) {
		return
	}
	s.signal(engine.SignalEnvInjected)
	s.embed(a.with(text), "env", false)
}

func ordinaryTool(name string) bool {
	switch baseName(name) {
	case "cat", "less", "more", "most", "bat", "delta", "true", "false", ":", "echo", "vi", "vim", "nvim", "nano", "emacs", "code", "ssh", "diff", "sed", "open", "xdg-open", "none", "touch":
		return true
	}
	return strings.Trim(name, holes) == ""
}
