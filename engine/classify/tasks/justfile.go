package tasks

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// justfile is the recipes and variables of a justfile.
type justfile struct {
	recipes []justRecipe
	vars    map[string]string // expressions
	aliases map[string]string
}

type justRecipe struct {
	name   string
	params []string // as written: name, name='default', +rest, *rest
	needs  [][]string
	lines  []string
}

// parseJustfile reads a justfile: indented lines belong to the recipe above.
func parseJustfile(text string) *justfile {
	j := &justfile{vars: map[string]string{}, aliases: map[string]string{}}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || !indented && strings.ContainsAny(trimmed[:1], "#["):
		case indented:
			if n := len(j.recipes); n > 0 {
				j.recipes[n-1].lines = append(j.recipes[n-1].lines, trimmed)
			}
		default:
			j.line(trimmed)
		}
	}
	return j
}

func (j *justfile) line(line string) {
	line = strings.TrimPrefix(line, "export ")
	if name, v, ok := strings.Cut(line, ":="); ok {
		if alias, is := strings.CutPrefix(name, "alias "); is {
			j.aliases[strings.TrimSpace(alias)] = strings.TrimSpace(v)
			return
		}
		j.vars[strings.TrimSpace(name)] = strings.TrimSpace(v)
		return
	}
	head, needs, ok := cutUnquoted(line, ':')
	words := justWords(strings.TrimPrefix(head, "@"))
	if !ok || len(words) == 0 {
		return
	}
	r := justRecipe{name: words[0], params: words[1:]}
	for _, need := range justWords(needs) {
		if need != "&&" {
			r.needs = append(r.needs, justWords(strings.Trim(need, "()")))
		}
	}
	j.recipes = append(j.recipes, r)
}

// cutUnquoted cuts a line at the first c outside quotes.
func cutUnquoted(line string, c byte) (before, after string, found bool) {
	var open byte
	for i := range len(line) {
		switch b := line[i]; {
		case open != 0:
			if b == open {
				open = 0
			}
		case b == '\'' || b == '"':
			open = b
		case b == c:
			return line[:i], line[i+1:], true
		}
	}
	return line, "", false
}

// justWords splits a line at spaces outside quotes and brackets.
func justWords(line string) []string {
	var list []string
	start, depth := -1, 0
	var open byte
	for i := 0; i <= len(line); i++ {
		blank := i == len(line) || (line[i] == ' ' || line[i] == '\t') && open == 0 && depth == 0
		if blank && start >= 0 {
			list, start = append(list, line[start:i]), -1
		}
		if blank || i == len(line) {
			continue
		}
		if start < 0 {
			start = i
		}
		switch b := line[i]; {
		case open != 0:
			if b == open {
				open = 0
			}
		case b == '\'' || b == '"':
			open = b
		case b == '(':
			depth++
		case b == ')':
			depth--
		}
	}
	return list
}

// justRun runs recipes of a justfile.
type justRun struct {
	c    *shell.Call
	file *justfile
	set  map[string]abstract.Arg // variables and parameters that have a value
	done []string
}

// JustRecipes runs the recipes in the arguments of just; without any, the first
// one.
func JustRecipes(c *shell.Call) (seen bool) {
	if DryRuns(c) || c.On(false, "-l", "--list", "--summary", "--show", "-s", "--evaluate", "--dump") {
		return true
	}
	run := func(code abstract.Arg) bool {
		r := &justRun{c: c, file: parseJustfile(code.Text), set: map[string]abstract.Arg{}}
		return r.start(c.Opts.Operands)
	}
	if files := c.Opts.All("-f", "--justfile"); len(files) > 0 {
		if code, ok := c.Shell.CodeIn(files[0], "tasks"); ok {
			ran := false
			whole := c.Shell.InTask(code, files[0], func() { ran = run(code.Text) })
			return ran && whole
		}
		return false
	}
	return taskFile(c, run, "justfile", "Justfile", ".justfile")
}

// start runs what the command line names, and reports whether there is such a
// recipe.
func (r *justRun) start(words []abstract.Arg) bool {
	for len(words) > 0 {
		name, v, ok := strings.Cut(words[0].Text, "=")
		if !ok {
			break
		}
		r.set[name], words = words[0].With(v), words[1:]
	}
	switch {
	case len(r.file.recipes) == 0:
		return false
	case len(words) == 0:
		return r.recipe(r.file.recipes[0].name, nil)
	}
	return r.recipe(words[0].Text, words[1:])
}

func (r *justRun) recipe(name string, args []abstract.Arg) bool {
	if to, ok := r.file.aliases[name]; ok {
		name = to
	}
	i := slices.IndexFunc(r.file.recipes, func(x justRecipe) bool { return x.name == name })
	if i < 0 || slices.Contains(r.done, name) {
		return i >= 0
	}
	r.done = append(r.done, name)
	recipe := r.file.recipes[i]
	set := r.bind(recipe.params, args)
	for _, need := range recipe.needs {
		if len(need) > 0 {
			r.recipe(need[0], r.values(need[1:], set))
		}
	}
	r.lines(recipe.lines, set)
	if rest := args[min(len(args), len(recipe.params)):]; len(rest) > 0 { // just build test
		return r.recipe(rest[0].Text, rest[1:])
	}
	return true
}

// bind sets the parameters of a recipe.
func (r *justRun) bind(params []string, args []abstract.Arg) map[string]abstract.Arg {
	set := map[string]abstract.Arg{}
	for name, v := range r.set {
		set[name] = v
	}
	for i, p := range params {
		name, def, _ := strings.Cut(p, "=")
		name = strings.TrimLeft(name, "$")
		switch rest := strings.TrimLeft(name, "+*"); {
		case rest != name:
			set[rest] = shell.JoinWords(args[min(i, len(args)):])
			if len(args) <= i && def != "" {
				set[rest] = r.value(def, set)
			}
		case i < len(args):
			set[name] = args[i]
		default:
			set[name] = r.value(def, set)
		}
	}
	return set
}

func (r *justRun) values(words []string, set map[string]abstract.Arg) []abstract.Arg {
	var list []abstract.Arg
	for _, w := range words {
		list = append(list, r.value(w, set))
	}
	return list
}

// lines runs a recipe: each line in a shell of its own, or all of it as the
// script that its first line names.
func (r *justRun) lines(lines []string, set map[string]abstract.Arg) {
	var all []abstract.Arg
	for _, l := range lines {
		all = append(all, r.expand(l, set))
	}
	if len(all) > 0 && all[0].HasPrefix("#!") {
		code := all[0]
		for _, l := range all[1:] {
			code = abstract.Concat(abstract.Concat(code, abstract.Word("\n")), l)
		}
		if lang := shell.Shebang(code.Text); lang == "shell" {
			r.c.Child(func() shell.Outcome { return r.c.Shell.Embed(code, "just", false) })
		} else if lang != "" {
			r.c.Extract(lang, code, "just")
		}
		return
	}
	for _, l := range all {
		l.Text = strings.TrimLeft(l.Text, "@- \t")
		r.c.Child(func() shell.Outcome { return r.c.Shell.Embed(l, "just", false) })
	}
}

// expand replaces {{…}} with values.
func (r *justRun) expand(line string, set map[string]abstract.Arg) abstract.Arg {
	var out abstract.Arg
	for {
		before, rest, ok := strings.Cut(line, "{{")
		out = abstract.Concat(out, abstract.Word(before))
		if !ok {
			return out
		}
		if quoted, is := strings.CutPrefix(rest, "{{"); is {
			out, line = abstract.Concat(out, abstract.Word("{{")), quoted
			continue
		}
		expression, after, _ := strings.Cut(rest, "}}")
		out, line = abstract.Concat(out, r.value(expression, set)), after
	}
}

// value evaluates an expression: literals and variables, joined by + and /.
func (r *justRun) value(expression string, set map[string]abstract.Arg) abstract.Arg {
	e := strings.TrimSpace(expression)
	for _, op := range []byte{'+', '/'} {
		if a, b, ok := cutUnquoted(e, op); ok && !strings.ContainsAny(a, "(`") {
			left, right := r.value(a, set), r.value(b, set)
			if !r.c.Shell.Spend(len(left.Text) + len(right.Text)) {
				return abstract.UnknownArg()
			}
			if op == '/' {
				left = abstract.Concat(left, abstract.Word("/"))
			}
			return abstract.Concat(left, right)
		}
	}
	if len(e) >= 2 && strings.ContainsAny(e[:1], `'"`) && e[len(e)-1] == e[0] {
		return abstract.Word(strings.Trim(e, e[:1]))
	}
	if len(e) >= 2 && e[0] == '`' {
		code := r.expand(strings.Trim(e, "`"), set)
		return r.c.Child(func() shell.Outcome {
			r.c.Shell.Frame.Wants = true
			return r.c.Shell.Embed(code, "just", false)
		}).Out.Line()
	}
	if v, ok := set[e]; ok {
		return v
	}
	if v, ok := r.file.vars[e]; ok && r.c.Shell.Spend(len(v)) && !strings.Contains(v, e) {
		return r.value(v, set)
	}
	switch e {
	case "justfile_directory()", "invocation_directory()", "source_directory()":
		return shell.JoinDirs(r.c.Shell.Scope.Dirs)
	case "home_directory()":
		return r.c.Shell.Read("HOME")
	}
	return abstract.UnknownArg()
}
