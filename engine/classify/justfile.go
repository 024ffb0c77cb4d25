package classify

import (
	"slices"
	"strings"
)

// justfile is what is read of a justfile: recipes and variables.
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

// parseJustfile reads a justfile: what is indented belongs to the recipe above.
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

// cutUnquoted cuts a line at the first c outside of quotes.
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

// justWords splits a line at blanks outside of quotes and brackets.
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
	c    *call
	file *justfile
	set  map[string]arg // variables and parameters that have a value
	done []string
}

// justRecipes runs the recipe that just is told to run, with its arguments;
// without one the first.
func (c *call) justRecipes() (seen bool) {
	if c.dryRuns() || c.opts.has("-l", "--list", "--summary", "--show", "-s", "--evaluate", "--dump") {
		return true
	}
	run := func(code arg) bool {
		r := &justRun{c: c, file: parseJustfile(code.text), set: map[string]arg{}}
		return r.start(c.opts.operands)
	}
	if files := c.opts.all("-f", "--justfile"); len(files) > 0 {
		if code, ok := c.s.codeIn(files[0], "tasks"); ok {
			ran := false
			whole := c.s.inTask(code, files[0], func() { ran = run(code.text) })
			return ran && whole
		}
		return false
	}
	return c.taskFile(run, "justfile", "Justfile", ".justfile")
}

// start runs what the command line names, and tells whether there is such a recipe.
func (r *justRun) start(words []arg) bool {
	for len(words) > 0 {
		name, v, ok := strings.Cut(words[0].text, "=")
		if !ok {
			break
		}
		r.set[name], words = words[0].with(v), words[1:]
	}
	switch {
	case len(r.file.recipes) == 0:
		return false
	case len(words) == 0:
		return r.recipe(r.file.recipes[0].name, nil)
	}
	return r.recipe(words[0].text, words[1:])
}

func (r *justRun) recipe(name string, args []arg) bool {
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
		return r.recipe(rest[0].text, rest[1:])
	}
	return true
}

// bind gives the parameters of a recipe their values.
func (r *justRun) bind(params []string, args []arg) map[string]arg {
	set := map[string]arg{}
	for name, v := range r.set {
		set[name] = v
	}
	for i, p := range params {
		name, def, _ := strings.Cut(p, "=")
		name = strings.TrimLeft(name, "$")
		switch rest := strings.TrimLeft(name, "+*"); {
		case rest != name:
			set[rest] = joinWords(args[min(i, len(args)):])
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

func (r *justRun) values(words []string, set map[string]arg) []arg {
	var list []arg
	for _, w := range words {
		list = append(list, r.value(w, set))
	}
	return list
}

// lines runs a recipe: each line in a shell of its own, or all of it as the
// script that its first line names.
func (r *justRun) lines(lines []string, set map[string]arg) {
	var all []arg
	for _, l := range lines {
		all = append(all, r.expand(l, set))
	}
	if len(all) > 0 && all[0].hasPrefix("#!") {
		code := all[0]
		for _, l := range all[1:] {
			code = concat(concat(code, word("\n")), l)
		}
		if lang := shebang(code.text); lang == "shell" {
			r.c.child(func() outcome { return r.c.s.embed(code, "just", false) })
		} else if lang != "" {
			r.c.extract(lang, code, "just")
		}
		return
	}
	for _, l := range all {
		l.text = strings.TrimLeft(l.text, "@- \t")
		r.c.child(func() outcome { return r.c.s.embed(l, "just", false) })
	}
}

// expand replaces {{…}} by values.
func (r *justRun) expand(line string, set map[string]arg) arg {
	var out arg
	for {
		before, rest, ok := strings.Cut(line, "{{")
		out = concat(out, word(before))
		if !ok {
			return out
		}
		if quoted, is := strings.CutPrefix(rest, "{{"); is {
			out, line = concat(out, word("{{")), quoted
			continue
		}
		expression, after, _ := strings.Cut(rest, "}}")
		out, line = concat(out, r.value(expression, set)), after
	}
}

// value evaluates an expression: literals and variables, joined by + and /.
func (r *justRun) value(expression string, set map[string]arg) arg {
	e := strings.TrimSpace(expression)
	for _, op := range []byte{'+', '/'} {
		if a, b, ok := cutUnquoted(e, op); ok && !strings.ContainsAny(a, "(`") {
			left, right := r.value(a, set), r.value(b, set)
			if !r.c.s.spend(len(left.text) + len(right.text)) {
				return unknownArg()
			}
			if op == '/' {
				left = concat(left, word("/"))
			}
			return concat(left, right)
		}
	}
	if len(e) >= 2 && strings.ContainsAny(e[:1], `'"`) && e[len(e)-1] == e[0] {
		return word(strings.Trim(e, e[:1]))
	}
	if len(e) >= 2 && e[0] == '`' {
		code := r.expand(strings.Trim(e, "`"), set)
		return r.c.child(func() outcome {
			r.c.s.frame.wants = true
			return r.c.s.embed(code, "just", false)
		}).out.line()
	}
	if v, ok := set[e]; ok {
		return v
	}
	if v, ok := r.file.vars[e]; ok && r.c.s.spend(len(v)) && !strings.Contains(v, e) {
		return r.value(v, set)
	}
	switch e {
	case "justfile_directory()", "invocation_directory()", "source_directory()":
		return joinDirs(r.c.s.scope.dirs)
	case "home_directory()":
		return r.c.s.read("HOME")
	}
	return unknownArg()
}
