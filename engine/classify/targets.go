package classify

import (
	"encoding/json"
	"strings"
)

// taskFile looks for the first of some files in the directory of the command
// and those above it, and runs f with its code in the directory where it lies.
// It tells whether that says all that the command does.
func (c *call) taskFile(f func(code arg) bool, names ...string) bool {
	for _, name := range c.taskFiles(names) {
		if code, ok := c.s.codeIn(name, "tasks"); ok {
			ran, whole := false, false
			c.s.subshell(func() outcome {
				if name.hasPrefix("/") {
					c.s.scope.enter([]value{{text: dirOf(name.text)}})
				}
				whole = c.s.inTask(code, name, func() { ran = f(code.text) })
				return outcome{}
			})
			return ran && whole
		}
	}
	return false
}

// taskFiles are the places where a file of one of the names may lie: what the
// call itself has written here, and the first on the disk from here upwards.
func (c *call) taskFiles(names []string) []arg {
	var list []arg
	for _, n := range names {
		if _, ok := c.s.written(word(n)); ok {
			list = append(list, word(n))
		}
	}
	here := c.s.scope.dirs[0]
	if c.s.in.disk == nil || here.sure != literal {
		return list
	}
	if name, ok := c.s.in.disk.above(here.text, names...); ok {
		list = append(list, word(name))
	}
	return list
}

// dryRuns tells whether a runner only prints what it would do.
func (c *call) dryRuns() bool {
	return c.opts.has("-n", "--dry-run", "--just-print", "--recon", "--dry")
}

// makeTargets runs the recipes of the targets that make is told to make. It
// tells whether that says all that make does.
func (c *call) makeTargets() (seen bool) {
	goals, set := c.makeGoals()
	files := c.opts.all("-f", "--file", "--makefile")
	if len(files) == 0 {
		files = []arg{word("GNUmakefile"), word("makefile"), word("Makefile")}
	}
	for _, f := range files {
		code, ok := c.s.codeIn(f, "tasks")
		if f.is("-", "/dev/stdin") && c.s.frame.stdin != nil {
			code, ok = fileCode{text: *c.s.frame.stdin, lang: "tasks", via: "file"}, true
		}
		if ok {
			ran := false
			whole := c.s.inTask(code, f, func() { ran = c.makes(code.text, goals, set) })
			seen = seen || ran && whole
		}
	}
	return seen
}

// makeGoals are the targets and variables among the operands. A target that
// follows -j is no number of jobs.
func (c *call) makeGoals() (goals []arg, set map[string]arg) {
	set = map[string]arg{}
	words := c.opts.operands
	for _, jobs := range c.opts.all("-j", "--jobs") {
		if strings.Trim(jobs.text, "0123456789") != "" {
			words = append(words[:len(words):len(words)], jobs)
		}
	}
	for _, a := range words {
		if name, v, ok := strings.Cut(a.text, "="); ok {
			set[strings.TrimRight(name, ":+?!")] = a.with(v)
		} else {
			goals = append(goals, a)
		}
	}
	return goals, set
}

// makes runs the recipes of some targets, and tells whether there are any for
// each of them.
func (c *call) makes(code arg, goals []arg, set map[string]arg) bool {
	r := &makeRun{c: c, file: parseMakefile(code.text), set: set, done: map[string]bool{}, chain: map[int]bool{}, dry: c.dryRuns()}
	r.includes()
	r.index()
	if len(goals) == 0 {
		goals = []arg{word(r.goal)}
	}
	all := true
	for _, g := range goals {
		if g.known() {
			all = r.target(g.text) && all
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
	for i := 0; i < len(r.file.more) && i < maxCodeFiles; i++ {
		for _, name := range strings.Fields(r.expand(r.file.more[i]).text) {
			code, ok := r.c.s.codeIn(word(name), "tasks")
			if !ok {
				continue
			}
			m := parseMakefile(code.text.text)
			r.file.rules, r.file.more = append(r.file.rules, m.rules...), append(r.file.more, m.more...)
			for name, values := range m.vars {
				r.file.vars[name] = append(r.file.vars[name], values...)
			}
		}
	}
}

// packageScripts runs the scripts of a package.json that a subcommand of npm
// and its like would run.
func (c *call) packageScripts(sub arg, rest []arg) (seen bool) {
	names, main, args := scriptNames(sub, rest)
	return c.taskFile(func(code arg) bool {
		var file struct{ Scripts map[string]string }
		if err := json.Unmarshal([]byte(code.text), &file); err != nil {
			c.s.unseen(unknownArg(), "package.json")
			return false
		}
		ran := false
		for _, n := range names {
			script := code.with(file.Scripts[n])
			if script.text == "" {
				continue
			}
			if ran = true; n == main {
				script = withArgs(script, args)
			}
			c.child(func() outcome { return c.s.embed(script, "npm", false) })
		}
		return ran
	}, "package.json")
}

// scriptNames are the scripts that a subcommand runs, and the one of them that
// is given the arguments behind it.
func scriptNames(sub arg, rest []arg) (names []string, main string, args []arg) {
	main = sub.text
	switch {
	case sub.is("install", "i", "add", "ci", ""):
		return []string{"preinstall", "install", "postinstall", "prepare"}, "", nil
	case sub.is("publish", "pack"):
		return []string{"prepublishOnly", "prepack", "prepare", "postpack", "publish", "postpublish"}, "", nil
	case sub.is("run", "run-script", "rum", "urn") && len(rest) > 0:
		main, rest = rest[0].text, rest[1:]
	case sub.is("t", "tst"):
		main = "test"
	case sub.is("restart"):
		return []string{"prestop", "stop", "poststop", "restart", "prestart", "start", "poststart"}, "", nil
	}
	return []string{"pre" + main, main, "post" + main}, main, rest
}

// withArgs is code with arguments behind it.
func withArgs(code arg, args []arg) arg {
	for _, a := range args {
		text := quote(a.text)
		if !a.known() {
			text = a.text
		}
		code = concat(code, a.with(" "+text))
	}
	return code
}

// runPackageScript is bun run X and deno task X.
func (c *call) runPackageScript(operands []arg) bool {
	if len(operands) < 2 || !operands[0].is("run", "task") {
		return false
	}
	if operands[1].hasPrefix("-") || strings.ContainsAny(operands[1].text, "./") {
		return false
	}
	if !c.packageScripts(word("run"), operands[1:]) {
		c.process()
	}
	return true
}

// manual is man: a page, shown by a program that an option may name.
func manual(c *call) {
	for _, pager := range c.opts.all("-P", "--pager", "-H", "--html") {
		c.s.commandVariable(pager.text, pager)
	}
}
