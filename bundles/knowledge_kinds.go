package bundles

import (
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// paths checks a row of places/: which paths are of a class.
func (c *rowCheck) paths(names string, row rows.Paths, n *yaml.Node) {
	for _, name := range strings.Fields(names) {
		c.class(name, row, n)
	}
	if !row.Says() && len(row.Also) == 0 && row.Decides == nil && !row.Replace {
		c.p.wrong(n, "%s: a row must select paths by names, extensions, ends, home, system, folders, inside, parts or packages", names)
	}
	c.pathEntry(row, n)
	nodes := RowValues(n)
	for key, entry := range map[string]*rows.Paths{"except": row.Except, "decides": row.Decides} {
		if entry != nil {
			c.nested(*entry, nodes[key], key)
		}
	}
	for i, also := range row.Also {
		at := nodes["also"].Content[i]
		c.nested(also, at, "also")
		if also.Except != nil {
			c.nested(*also.Except, RowValues(at)["except"], "except")
		}
	}
}

// class checks that a row's name is a class, and that the layer may have it.
func (c *rowCheck) class(name string, row rows.Paths, n *yaml.Node) {
	loosens := rows.Loosens(name)
	switch known := append(engine.Classes(), rows.NoClasses()...); {
	case !slices.Contains(known, name):
		c.p.wrong(n, "unknown class of paths %s", engine.Suggest(name, known))
	case c.adds && loosens:
		c.p.wrong(n, "%s: a row of the %s layer may only make facts stricter; move this to the organisation's layer", name, c.layer)
	case c.adds && row.Replace:
		c.p.wrong(n, "%s: replace: a row of the %s layer may not remove anything; move this to the organisation's layer", name, c.layer)
	case row.Replace && name == string(engine.ClassGuard):
		c.p.wrong(n, "guard: replace: reviewer's own files always stay protected; remove replace")
	case row.Decides != nil && name != string(engine.ClassAgent):
		c.p.wrong(n, "%s: decides is for agent_config only", name)
	}
}

// nested checks an entry of a row, which may only select paths.
func (c *rowCheck) nested(entry rows.Paths, n *yaml.Node, key string) {
	inner := entry.Except
	if key == "also" {
		inner = nil
	}
	if entry.About != "" || entry.Replace || entry.Examples != nil || len(entry.Also) > 0 || entry.Decides != nil || inner != nil {
		c.p.wrong(n, "%s: an entry may only select paths and exceptions", key)
	}
	if !entry.Says() {
		c.p.wrong(n, "%s: an entry selects no path without names, extensions, ends, home, system, folders, inside, parts or packages", key)
	}
	c.pathEntry(entry, n)
}

// pathEntry checks the lists of a row or an entry of one.
func (c *rowCheck) pathEntry(entry rows.Paths, n *yaml.Node) {
	nodes := RowValues(n)
	if entry.Below+entry.NotBelow != "" && entry.Folders+entry.Inside == "" && !entry.Packages {
		c.p.wrong(n, "below and not_below refer to folders, inside or packages; add one of these")
	}
	lists := entry.Lists()
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		seen := map[string]bool{}
		for _, name := range rows.List(lists[key]) {
			if seen[name] {
				c.p.wrong(nodes[key], "%s: duplicate %s", key, name)
			}
			seen[name] = true
			if why := pathName(key, name); why != "" {
				c.p.wrong(nodes[key], "%s: %q %s", key, name, why)
			}
		}
	}
}

// pathName reports what is wrong with a name in a list; empty: nothing.
func pathName(key, name string) string {
	_, malformed := path.Match(name, "")
	drive := len(name) > 2 && name[1] == ':' && name[2] == '/'
	switch {
	case malformed != nil:
		return "is not a valid pattern: close the [ or put a backslash before it"
	case key != "names" && strings.ToLower(name) != name:
		return "contains upper case letters; write it in lower case, since case is ignored here"
	case strings.Contains(name, "/") && rows.Has("names extensions parts below not_below", key):
		return "contains a slash; use ends, home, system, folders or inside for more than one part of a path"
	case key == "extensions" && !strings.HasPrefix(name, "."):
		return "is not an extension: it does not start with a dot"
	case key == "system" && !strings.HasPrefix(name, "/") && !drive:
		return "is not absolute; use home, folders or ends for such paths"
	case key != "system" && (strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~")):
		return "starts at the root or in a home directory; remove that, or use system"
	case strings.HasSuffix(name, "/"):
		return "ends in a slash; remove it"
	}
	return ""
}

// checks checks the key checks, and that a row in checks.yaml has no other keys.
func (c *rowCheck) checks(row rows.Program, nodes map[string]*yaml.Node, n *yaml.Node) {
	seen := map[string]bool{}
	for _, word := range strings.Fields(row.Checks) {
		if seen[word] {
			c.p.wrong(nodes["checks"], "checks: duplicate %s", word)
		}
		if word == "true" && row.Checks != "true" {
			c.p.wrong(nodes["checks"], "checks: true means that every call is a check; remove the other words")
		}
		seen[word] = true
	}
	for _, key := range slices.Sorted(maps.Keys(nodes)) {
		if c.p.file == rows.ChecksFile && key != "checks" && key != "about" {
			c.p.wrong(nodes[key], "%s: rows of %s may only have checks; move this to the program's row in another file", key, rows.ChecksFile)
		}
	}
	if c.p.file == rows.ChecksFile && row.Checks == "" {
		c.p.wrong(n, "rows of %s need checks: the words that make a call of the program a check, or true", rows.ChecksFile)
	}
}

// reveals checks that a row in reveals.yaml has no other keys, since it applies in
// addition to the program's other row.
func (c *rowCheck) reveals(nodes map[string]*yaml.Node) {
	if c.p.file != rows.RevealsFile {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(nodes)) {
		if !slices.Contains([]string{"about", "values", "glued", "flags", "grammar", "notes", "examples"}, key) {
			c.p.wrong(nodes[key], "%s: rows of %s only add notes; move this to the program's row in another file", key, rows.RevealsFile)
		}
	}
}

// toolName reports whether a row may have this name for a tool.
func toolName(name string) bool {
	strange := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.", r))
	}
	name, _ = strings.CutSuffix(name, "*")
	return name != "" && !strings.ContainsFunc(name, strange)
}

// tool checks a row of tools/.
func (c *rowCheck) tool(names string, row rows.Tool, n *yaml.Node) {
	nodes := RowValues(n)
	for _, name := range strings.Fields(names) {
		if !toolName(name) {
			c.p.wrong(n, "%q: expected the name of a tool such as mcp__shop__refund_order; a * can only be at the end", name)
		}
	}
	if row.Type != "" {
		c.words(nodes["type"], row.Type, engine.Types(), "type")
	}
	if row.Go != "" && !slices.Contains(rows.ToolFunctions(), row.Go) {
		c.p.wrong(nodes["go"], "go: unknown function %s", engine.Suggest(row.Go, rows.ToolFunctions()))
	}
	c.arguments(row.Args, nodes["args"])
	if p := row.Prompts; p != nil && (p.Days < 0 || p.Days == 0 && strings.TrimSpace(p.Args) == "") {
		c.p.wrong(nodes["prompts"], "prompts: expected names of arguments in args, a number of days, or both")
	}
	for i, s := range row.Do {
		c.toolStep(names, s, nodes["do"].Content[i])
	}
	for i, one := range row.Cases {
		c.toolCase(names, one, nodes["cases"].Content[i])
	}
	if c.adds {
		c.onlyAddsTool(row, nodes)
	}
}

// arguments checks the entries of args: NAME ROLE, or NAME ROLE required.
func (c *rowCheck) arguments(args []string, n *yaml.Node) {
	seen := map[string]bool{}
	for i, text := range args {
		a, ok := rows.Arg(text)
		name := strings.Join(a.Names, "|")
		switch {
		case !ok:
			c.p.wrong(n.Content[i], "args: %q: expected the name of an argument, its role, and perhaps the word required", text)
		case !slices.Contains(rows.Roles(), a.Role):
			c.p.wrong(n.Content[i], "args: %s: unknown role %s", name, engine.Suggest(a.Role, rows.Roles()))
		case c.adds && rows.Hides(a.Role):
			c.p.wrong(n.Content[i], "args: %s: a row of the %s layer only adds to what a tool does: it cannot remove an argument from the facts",
				name, c.layer)
		}
		for _, one := range a.Names {
			if seen[one] {
				c.p.wrong(n.Content[i], "args: duplicate %s", one)
			}
			seen[one] = true
		}
	}
}

func (c *rowCheck) toolCase(names string, one rows.Case, n *yaml.Node) {
	if one.Sub+one.Names+one.Operands != "" || len(one.Words) > 0 {
		c.p.wrong(n, "a case of a tool needs value, option or without, which name arguments")
	}
	for i, s := range one.Do {
		c.toolStep(names, s, RowValues(n)["do"].Content[i])
	}
}

// toolStep checks a step of a tool: its words are those of a program's steps, but
// they select arguments by their names.
func (c *rowCheck) toolStep(names string, s rows.Step, n *yaml.Node) {
	nodes := RowValues(n)
	for _, key := range slices.Sorted(maps.Keys(nodes)) {
		if known := append(rows.ToolOps(), rows.ToolKeys()...); !slices.Contains(known, key) {
			c.p.wrong(nodes[key], "%s: a step of a tool has the keys %s", key, strings.Join(known, ", "))
			return
		}
		if value := nodes[key].Value; strings.HasPrefix(value, "$") || value == rows.Usual {
			c.p.wrong(nodes[key], "%s: %s stands for words of a command, which a tool does not have; name an argument", key, value)
		}
	}
	s.Read, s.Write, s.Delete, s.Fetch, s.Send, s.Code, s.On, s.Run = named(s.Read), named(s.Write), named(s.Delete), named(s.Fetch),
		named(s.Send), named(s.Code), named(s.On), named(s.Run)
	c.step(names, s, n)
}

// named is used instead of a selector for a list of arguments.
func named(list string) string {
	if list == "" {
		return ""
	}
	return rows.SelectUnknown
}

// onlyAddsTool refuses keys that remove facts, in a layer that may only add some.
func (c *rowCheck) onlyAddsTool(row rows.Tool, nodes map[string]*yaml.Node) {
	taken := map[string]bool{"action": row.Action != "", "type": row.Type != "", "resource": row.Resource != "",
		"contents": row.Contents != "", "waits": row.Waits != "", "watches": row.Watches, "plan": row.Plan != nil, "go": row.Go != "", "replace": row.Replace}
	for _, key := range slices.Sorted(maps.Keys(taken)) {
		if taken[key] {
			c.p.wrong(nodes[key], "%s: a row of the %s layer only adds to what a tool does; move this to the organisation's layer", key, c.layer)
		}
	}
}

// wordList checks a list of words.
func (c *rowCheck) wordList(names string, list rows.WordList, n *yaml.Node) {
	words := append(strings.Fields(list.Words), list.Phrases...)
	if len(words) == 0 && !list.Replace {
		c.p.wrong(n, "%s: a list needs words or phrases", names)
	}
	if c.adds && (list.Replace || list.Loosens) {
		c.p.wrong(n, "%s: the %s layer may only add words that make facts stricter", names, c.layer)
	}
	for _, name := range strings.Fields(names) {
		c.listNamed(name, words, n)
	}
	slices.Sort(words)
	for i := 1; i < len(words); i++ {
		if words[i] == words[i-1] {
			c.p.wrong(n, "%s: duplicate %s", names, words[i])
		}
	}
}

// listNamed checks that a list exists, and that the layer may add these words.
func (c *rowCheck) listNamed(name string, words []string, n *yaml.Node) {
	known := shippedWords()
	section, key, _ := strings.Cut(name, ".")
	switch {
	case slices.Contains(rows.SettingLists(), name):
		c.p.wrong(n, "%s is a setting, which rules also use; write %s: {%s: [...]} into settings.yaml", name, section, key)
	case c.layer == Base: // the base layer defines the lists
	case !slices.Contains(known.Lists(), name):
		c.p.wrong(n, "unknown list of words %s", engine.Suggest(name, known.Lists()))
	case c.adds && known.Loosens(name):
		c.p.wrong(n, "%s: additional words can make facts less strict; move this to the organisation's layer", name)
	case c.adds:
		for _, w := range words {
			if why := known.Taken(name, w); why != "" {
				c.p.wrong(n, "%s: the %s layer may not add %q: %s", name, c.layer, w, why)
			}
		}
	}
}

// token checks the description of a kind of secret.
func (c *rowCheck) token(names string, row rows.Token, n *yaml.Node) {
	for _, name := range strings.Fields(names) {
		if !rows.TokenKind(name) {
			c.p.wrong(n, "%q: the name of a kind of secret has 2 to 30 lower-case letters, digits and _", name)
		}
	}
	if len(row.Forms)+len(row.Inside)+len(row.Named) == 0 && row.Go == "" {
		c.p.wrong(n, "%s: a token needs forms, such as shop_live_ alnum 24", names)
	}
	nodes := RowValues(n)
	c.forms(nodes["forms"], row.Forms, rows.ParseForm)
	c.forms(nodes["inside"], row.Inside, rows.ParseInside)
	c.forms(nodes["named"], row.Named, rows.ParseNamed)
	if c.adds && (len(row.Inside)+len(row.Named) > 0 || row.Go != "") {
		c.p.wrong(n, "%s: a token of the %s layer may only have forms with a fixed prefix", names, c.layer)
	}
	c.words(nodes["go"], row.Go, rows.TokenFunctions(), "a function that finds tokens")
	if e := nodes["examples"]; e != nil && row.Examples != nil {
		c.specimens(RowValues(e)["match"], row.Examples.Match)
		c.specimens(RowValues(e)["no_match"], row.Examples.NoMatch)
	}
}

func (c *rowCheck) specimens(n *yaml.Node, texts []string) {
	for i, text := range texts {
		if _, err := rows.Specimen(text); err != nil {
			c.p.wrong(n.Content[i], "%v", err)
		}
	}
}

// forms refuses forms that cannot be read, that occur twice, and, in a layer that can
// only add, forms that could hide something.
func (c *rowCheck) forms(n *yaml.Node, forms []string, parse func(string) (rows.Form, error)) {
	for i, text := range forms {
		form, err := parse(text)
		if err == nil && c.adds {
			err = form.Narrow()
		}
		if err != nil {
			c.p.wrong(n.Content[i], "%v", err)
		}
		for _, earlier := range forms[:i] {
			if strings.Join(strings.Fields(earlier), " ") == strings.Join(strings.Fields(text), " ") {
				c.p.wrong(n.Content[i], "duplicate %s", text)
			}
		}
	}
}
