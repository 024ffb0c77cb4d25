package tasks

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// makefile is the rules and variables of a makefile, as they are written. Conditions
// are not evaluated: both of their branches count.
type makefile struct {
	rules []makeRule
	vars  map[string][]string // values that a variable may have
	more  []string            // files that it includes
}

// makeRule describes how targets are made. Text in it is not expanded.
type makeRule struct {
	targets, needs string
	lines          []string // of the recipe, with what continues them
}

// parseMakefile reads a makefile, line by line as make does: a line that
// begins with a tab belongs to the rule above it.
func parseMakefile(text string) *makefile {
	m := &makefile{vars: map[string][]string{}}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSuffix(lines[i], "\r")
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line += "\n" + strings.TrimSuffix(lines[i], "\r")
		}
		if name, ok := definition(line); ok {
			var body []string
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "endef"; i++ {
				body = append(body, lines[i])
			}
			m.vars[name] = append(m.vars[name], strings.Join(body, "\n"))
			continue
		}
		m.line(line)
	}
	return m
}

// definition is the name in "define NAME".
func definition(line string) (string, bool) {
	f := strings.Fields(line)
	if len(f) < 2 || f[0] != "define" || strings.HasPrefix(line, "\t") {
		return "", false
	}
	return f[1], true
}

func (m *makefile) line(line string) {
	if code, ok := strings.CutPrefix(line, "\t"); ok && len(m.rules) > 0 {
		last := &m.rules[len(m.rules)-1]
		last.lines = append(last.lines, code)
		return
	}
	line = strings.TrimSpace(strings.ReplaceAll(withoutComment(line), "\\\n", " "))
	for _, word := range []string{"export ", "override ", "unexport ", "private "} {
		line = strings.TrimSpace(strings.TrimPrefix(line, word))
	}
	first, rest, _ := strings.Cut(line, " ")
	switch first {
	case "", "ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "vpath":
		return
	case "include", "-include", "sinclude":
		m.more = append(m.more, strings.Fields(rest)...)
		return
	}
	m.statement(line)
}

// withoutComment removes text after an unescaped #.
func withoutComment(line string) string {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] != '\\') {
			return line[:i]
		}
	}
	return line
}

// statement parses an assignment or the head of a rule, whichever of = and a colon
// outside variable references comes first.
func (m *makefile) statement(line string) {
	depth := 0
	for i := range len(line) {
		switch c := line[i]; {
		case c == '(' || c == '{':
			depth++
		case c == ')' || c == '}':
			depth--
		case depth > 0:
		case c == '=' || strings.HasPrefix(line[i:], ":=") || strings.HasPrefix(line[i:], "::="):
			m.assign(line[:i], line[i+strings.IndexByte(line[i:], '=')+1:])
			return
		case c == ':':
			m.rule(line[:i], strings.TrimPrefix(line[i+1:], ":"))
			return
		}
	}
}

func (m *makefile) assign(name, v string) {
	add := strings.HasSuffix(name, "+")
	name, v = strings.TrimSpace(strings.TrimRight(name, "+?!: \t")), strings.TrimSpace(v)
	if old := m.vars[name]; add && len(old) > 0 {
		for i := range old {
			old[i] += " " + v
		}
		return
	}
	if !slices.Contains(m.vars[name], v) {
		m.vars[name] = append(m.vars[name], v)
	}
}

// rule begins a rule. The text after the colon may set a variable for the target only
// (debug: FLAGS = -g), and a recipe may begin after a semicolon.
func (m *makefile) rule(targets, needs string) {
	if i := strings.IndexByte(needs, '='); i > 0 && !strings.ContainsAny(needs[:i], "(;") {
		m.assign(needs[:i], needs[i+1:])
		return
	}
	needs, code, inline := strings.Cut(needs, ";")
	r := makeRule{targets: targets, needs: strings.ReplaceAll(needs, "|", " ")}
	if inline {
		r.lines = []string{strings.TrimSpace(code)}
	}
	m.rules = append(m.rules, r)
}

// makeRun runs targets of a makefile.
type makeRun struct {
	c        *shell.Call
	file     *makefile
	set      map[string]abstract.Arg // variables of the command line
	auto     map[string]abstract.Arg // variables of the rule that runs
	done     map[string]bool         // targets that were looked up, and whether they exist
	goal     string                  // the default target
	exact    map[string][]int        // rules by target
	patterns []makePattern
	chain    map[int]bool // pattern rules in use: as in make, none is used twice in a chain
	dry      bool         // only lines that run in a dry run, too
	pick     int          // which value of a variable with several is used
	values   int          // how many values the variables in a line have
	depth    int
}

// maxMakeValues bounds how often a line runs for the values of its variables.
const maxMakeValues = 4

// target runs the recipes of a target, after its prerequisites. It reports whether the
// target exists.
func (r *makeRun) target(name string) bool {
	if found, ok := r.done[name]; ok {
		return found
	}
	r.done[name] = true // a target that needs itself is running already
	if !r.c.Shell.Spend(len(name) + 1) {
		return true // over the budget, which is reported: it may exist
	}
	found := false
	for _, i := range r.exact[name] {
		r.recipe(r.file.rules[i], name, "")
		found = true
	}
	for _, p := range r.patterns {
		before, after, _ := strings.Cut(p.text, "%")
		if !r.chain[p.rule] && len(name) > len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			r.chain[p.rule] = true
			r.recipe(r.file.rules[p.rule], name, name[len(before):len(name)-len(after)])
			r.chain[p.rule] = false
			found = true
		}
	}
	r.done[name] = found
	return found
}

// makePattern is a target with a % in it.
type makePattern struct {
	text string
	rule int
}

// index indexes the rules by target.
func (r *makeRun) index() {
	r.exact = map[string][]int{}
	for i, rule := range r.file.rules {
		for _, t := range strings.Fields(r.expand(rule.targets).Text) {
			switch {
			case strings.Contains(t, "%"):
				r.patterns = append(r.patterns, makePattern{t, i})
			default:
				r.exact[t] = append(r.exact[t], i)
				if r.goal == "" && !strings.HasPrefix(t, ".") {
					r.goal = t
				}
			}
		}
	}
}

func (r *makeRun) recipe(rule makeRule, name, stem string) {
	needs := strings.Fields(strings.ReplaceAll(r.expand(rule.needs).Text, "%", stem))
	for _, n := range needs {
		r.target(n)
	}
	all := abstract.Word(strings.Join(needs, " "))
	r.auto = map[string]abstract.Arg{"@": abstract.Word(name), "*": abstract.Word(stem), "^": all, "?": all, "+": all,
		"<": abstract.Word(strings.Join(needs[:min(1, len(needs))], ""))}
	for _, line := range r.file.shells(rule.lines) {
		r.values = 1
		for r.pick = 0; r.pick < min(r.values, maxMakeValues); r.pick++ {
			r.line(line)
		}
		r.pick = 0
	}
	r.auto = nil
}

// shells splits a recipe into the parts that each run in a shell of their own.
func (m *makefile) shells(lines []string) []string {
	for _, rule := range m.rules {
		if strings.TrimSpace(rule.targets) == ".ONESHELL" {
			return []string{strings.Join(lines, "\n")}
		}
	}
	return lines
}

func (r *makeRun) line(line string) {
	code := r.expand(line)
	plain := strings.TrimLeft(code.Text, "@-+ \t")
	if always := strings.Contains(code.Text[:len(code.Text)-len(plain)], "+") || strings.Contains(line, "MAKE)"); r.dry && !always {
		return
	}
	r.c.Child(func() shell.Outcome { return r.c.Shell.Embed(code.With(plain), "make", false) })
}

// expand replaces references to variables with their values.
func (r *makeRun) expand(text string) abstract.Arg {
	if r.depth++; r.depth > shell.MaxDepth || !r.c.Shell.Spend(len(text)) {
		r.depth--
		return abstract.UnknownArg()
	}
	defer func() { r.depth-- }()
	var out abstract.Arg
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 || i+1 == len(text) {
			return abstract.Concat(out, abstract.Word(text))
		}
		out = abstract.Concat(out, abstract.Word(text[:i]))
		ref := text[i+1:]
		end := 1
		if ref[0] == '(' || ref[0] == '{' {
			if end = bracketEnd(ref); end < 0 {
				return abstract.Concat(out, abstract.UnknownArg())
			}
			ref, text = ref[1:end], text[i+2+end:]
		} else {
			ref, text = ref[:1], text[i+2:]
		}
		if out = abstract.Concat(out, r.reference(ref)); !r.c.Shell.Spend(len(out.Text)) {
			return abstract.UnknownArg()
		}
	}
}

// bracketEnd returns where the first bracket of a string is closed.
func bracketEnd(text string) int {
	open, shut, depth := text[0], byte(')'), 0
	if open == '{' {
		shut = '}'
	}
	for i := range len(text) {
		switch text[i] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// reference is the value of what is in $(…).
func (r *makeRun) reference(ref string) abstract.Arg {
	if ref == "$" {
		return abstract.Word("$")
	}
	if v, ok := r.auto[ref]; ok {
		return v
	}
	if v, ok := r.set[ref]; ok {
		return v
	}
	if values := r.file.vars[ref]; len(values) > 0 {
		r.values = max(r.values, len(values))
		return r.expand(values[min(r.pick, len(values)-1)])
	}
	if fn, rest, ok := strings.Cut(ref, " "); ok {
		return r.function(fn, strings.TrimSpace(rest))
	}
	if before, _, ok := strings.Cut(ref, ":"); ok { // $(SRC:.c=.o)
		r.reference(before)
		return abstract.UnknownArg()
	}
	return r.builtin(ref)
}

// call is the value of a variable as a function: $(call NAME,WORD,WORD), in which $(1)
// is the first word.
func (r *makeRun) call(args string) abstract.Arg {
	parts, saved := topLevel(args), r.auto
	auto := maps.Clone(saved)
	if auto == nil {
		auto = map[string]abstract.Arg{}
	}
	for i, part := range parts[1:] {
		auto[strconv.Itoa(i+1)] = r.expand(part)
	}
	r.auto = auto
	v := r.reference(strings.TrimSpace(parts[0]))
	r.auto = saved
	return v
}

// topLevel splits the arguments of a function at commas outside brackets.
func topLevel(args string) (parts []string) {
	depth, begin := 0, 0
	for i := range len(args) {
		switch args[i] {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		case ',':
			if depth == 0 {
				parts, begin = append(parts, args[begin:i]), i+1
			}
		}
	}
	return append(parts, args[begin:])
}

// function evaluates a call of one of make's functions, except those that transform
// text.
func (r *makeRun) function(name, args string) abstract.Arg {
	switch name {
	case "call":
		return r.call(args)
	case "shell":
		code := r.expand(args)
		return r.c.Child(func() shell.Outcome {
			r.c.Shell.Frame.Wants = true
			return r.c.Shell.Embed(code, "make", false)
		}).Out.Line()
	case "wildcard", "strip", "sort":
		return r.expand(args)
	case "dir":
		return abstract.Word(path.Dir(r.expand(args).Text) + "/")
	}
	r.expand(args)
	return abstract.UnknownArg()
}

// builtin returns a built-in variable of make, or one of the environment, which may be
// empty.
func (r *makeRun) builtin(name string) abstract.Arg {
	switch name {
	case "RM":
		return abstract.Word("rm -f")
	case "MAKE":
		return abstract.Word("make")
	case "SHELL":
		return abstract.Word("/bin/sh")
	case "CURDIR":
		return shell.JoinDirs(r.c.Shell.Scope.Dirs)
	case "CC", "CXX", "LD", "AR", "AS", "CPP":
		return abstract.Word(strings.ToLower(name))
	}
	return r.c.Shell.Get(name)
}
