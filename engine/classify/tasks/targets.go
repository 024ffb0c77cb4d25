package tasks

import (
	"encoding/json"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// taskFile looks for the first of some files in the directory of the command and its
// parents, and runs f with its code in its directory. It reports whether the result is
// complete.
func taskFile(c *shell.Call, f func(code abstract.Arg) bool, names ...string) bool {
	for _, name := range taskFiles(c, names) {
		if code, ok := c.Shell.CodeIn(name, "tasks"); ok {
			ran, whole := false, false
			c.Shell.Subshell(func() shell.Outcome {
				if abstract.InDirectory(name.Text) {
					c.Shell.Scope.Enter([]abstract.Value{{Text: place.DirOf(name.Text)}})
				}
				whole = c.Shell.InTask(code, name, func() { ran = f(code.Text) })
				return shell.Outcome{}
			})
			return ran && whole
		}
	}
	return false
}

// taskFiles returns the places where a file with one of the names may be: a file that
// the call itself wrote, and the first on the disk from here upwards.
func taskFiles(c *shell.Call, names []string) []abstract.Arg {
	var list []abstract.Arg
	for _, n := range names {
		if _, ok := c.Shell.Written(abstract.Word(n)); ok {
			list = append(list, abstract.Word(n))
		}
	}
	here := c.Shell.Scope.Dirs[0]
	if c.Shell.In.Disk == nil || here.Sure != abstract.Literal {
		return list
	}
	if name, ok := c.Shell.In.Disk.Above(here.Text, names...); ok {
		list = append(list, abstract.Word(name))
	}
	return list
}

// DryRuns reports whether a runner only prints what it would do.
func DryRuns(c *shell.Call) bool {
	return c.On(true, "-n", "--dry-run", "--just-print", "--recon", "--dry")
}

// MakeTargets runs the recipes of make's targets. It reports whether the result is
// complete.
func MakeTargets(c *shell.Call) (seen bool) {
	goals, set := makeGoals(c)
	files := c.Opts.All("-f", "--file", "--makefile")
	if len(files) == 0 {
		files = []abstract.Arg{abstract.Word("GNUmakefile"), abstract.Word("makefile"), abstract.Word("Makefile")}
	}
	for _, f := range files {
		code, ok := c.Shell.CodeIn(f, "tasks")
		if f.Is("-", "/dev/stdin") && c.Shell.Frame.Stdin != nil {
			code, ok = shell.FileCode{Text: *c.Shell.Frame.Stdin, Lang: "tasks", Via: "file"}, true
		}
		if f.From != nil {
			code, ok = shell.FileCode{Text: *f.From, Lang: "tasks", Via: "file"}, true
		}
		if ok {
			ran := false
			whole := c.Shell.InTask(code, f, func() { ran = makes(c, code.Text, goals, set) })
			seen = seen || ran && whole
		}
	}
	return seen
}

// makeGoals returns the targets and variables among the operands. A target that
// follows -j is not a number of jobs.
func makeGoals(c *shell.Call) (goals []abstract.Arg, set map[string]abstract.Arg) {
	set = map[string]abstract.Arg{}
	words := c.Opts.Operands
	for _, jobs := range c.Opts.All("-j", "--jobs") {
		if strings.Trim(jobs.Text, "0123456789") != "" {
			words = append(words[:len(words):len(words)], jobs)
		}
	}
	for _, a := range words {
		if name, v, ok := strings.Cut(a.Text, "="); ok {
			set[strings.TrimRight(name, ":+?!")] = a.With(v)
		} else {
			goals = append(goals, a)
		}
	}
	return goals, set
}

// makes runs the recipes of some targets, and reports whether each target exists.
func makes(c *shell.Call, code abstract.Arg, goals []abstract.Arg, set map[string]abstract.Arg) bool {
	r := &makeRun{c: c, file: parseMakefile(code.Text), set: set, done: map[string]bool{}, chain: map[int]bool{}, dry: DryRuns(c)}
	r.includes()
	r.index()
	if len(goals) == 0 {
		goals = []abstract.Arg{abstract.Word(r.goal)}
	}
	all := true
	for _, g := range goals {
		if g.Known() {
			all = r.target(g.Text) && all
			continue
		}
		for _, rule := range r.file.rules { // any of them
			r.recipe(rule, strings.TrimSpace(rule.targets), "")
		}
	}
	return all
}

// includes reads the files that a makefile includes.
func (r *makeRun) includes() {
	for i := 0; i < len(r.file.more) && i < shell.MaxCodeFiles; i++ {
		for _, name := range strings.Fields(r.expand(r.file.more[i]).Text) {
			code, ok := r.c.Shell.CodeIn(abstract.Word(name), "tasks")
			if !ok {
				continue
			}
			m := parseMakefile(code.Text.Text)
			r.file.rules, r.file.more = append(r.file.rules, m.rules...), append(r.file.more, m.more...)
			for name, values := range m.vars {
				r.file.vars[name] = append(r.file.vars[name], values...)
			}
		}
	}
}

// PackageScripts runs the scripts of a package.json that a subcommand of npm
// and its like would run.
func PackageScripts(c *shell.Call, sub abstract.Arg, rest []abstract.Arg) (seen bool) {
	names, main, args := scriptNames(sub, rest)
	return taskFile(c, func(code abstract.Arg) bool {
		var file struct{ Scripts map[string]string }
		if err := json.Unmarshal([]byte(code.Text), &file); err != nil {
			c.Shell.Unseen(abstract.UnknownArg(), "package.json")
			return false
		}
		ran := false
		for _, n := range names {
			script := code.With(file.Scripts[n])
			if script.Text == "" {
				continue
			}
			if ran = true; n == main {
				c.FollowsTasks()
				script = withArgs(script, args)
			}
			c.Child(func() shell.Outcome { return c.Shell.Embed(script, "npm", false) })
		}
		return ran
	}, "package.json")
}

// scriptNames returns the scripts that a subcommand runs, and the one of them that
// gets the further arguments.
func scriptNames(sub abstract.Arg, rest []abstract.Arg) (names []string, main string, args []abstract.Arg) {
	main = sub.Text
	switch {
	case sub.Is("install", "i", "add", "ci", ""):
		return []string{"preinstall", "install", "postinstall", "prepare"}, "", nil
	case sub.Is("publish", "pack"):
		return []string{"prepublishOnly", "prepack", "prepare", "postpack", "publish", "postpublish"}, "", nil
	case sub.Is("run", "run-script", "rum", "urn") && len(rest) > 0:
		main, rest = rest[0].Text, rest[1:]
	case sub.Is("t", "tst"):
		main = "test"
	case sub.Is("restart"):
		return []string{"prestop", "stop", "poststop", "restart", "prestart", "start", "poststart"}, "", nil
	}
	return []string{"pre" + main, main, "post" + main}, main, rest
}

// withArgs appends arguments to code.
func withArgs(code abstract.Arg, args []abstract.Arg) abstract.Arg {
	for _, a := range args {
		text := shell.Quote(a.Text)
		if !a.Known() {
			text = a.Text
		}
		code = abstract.Concat(code, a.With(" "+text))
	}
	return code
}

// RunPackageScript runs bun run X and deno task X.
func RunPackageScript(c *shell.Call, operands []abstract.Arg) bool {
	if len(operands) < 2 || !operands[0].Is("run", "task") {
		return false
	}
	if operands[1].HasPrefix("-") || strings.ContainsAny(operands[1].Text, "./") {
		return false
	}
	if !PackageScripts(c, abstract.Word("run"), operands[1:]) {
		c.Process()
	}
	return true
}

// Manual runs man: a page is shown by a program that an option may name.
func Manual(c *shell.Call) {
	for _, pager := range c.Opts.All("-P", "--pager", "-H", "--html") {
		c.Shell.CommandVariable(pager.Text, pager)
	}
}
