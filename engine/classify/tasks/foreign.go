package tasks

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// interpreter splits the setting for the shell of recipes into the program and the
// words before the code.
func interpreter(words []string) (program string, options []string) {
	for i, w := range words {
		name := path.Base(w)
		if name == "env" || name == "-S" {
			continue
		}
		return w, words[i+1:]
	}
	return "", nil
}

// foreign reports whether the program that runs recipes is not a shell.
func foreign(program string) bool {
	lang := shell.Language(path.Base(program))
	return program != "" && lang != "shell"
}

// codeOption is the option after which an interpreter takes code.
func codeOption(program string) string {
	switch shell.Language(path.Base(program)) {
	case "node", "perl", "ruby", "lua", "Rscript":
		return "-e"
	case "php":
		return "-r"
	}
	return "-c"
}

// inForeign returns the command that passes code to a program.
func inForeign(program string, options []string, code string) string {
	if len(options) == 0 {
		options = []string{codeOption(program)}
	}
	return quoteAll(append(append([]string{program}, options...), code))
}

var (
	shellSet   = engine.Regexp(`(?m)^\s*(?:export\s+|override\s+)*SHELL\s*[?:+]*=\s*(.+)$`)
	shellFlags = engine.Regexp(`(?m)^\s*\.SHELLFLAGS\s*[?:+]*=\s*(.+)$`)
	justShell  = engine.Regexp(`(?m)^\s*set\s+(?:windows-)?shell\s*:=\s*\[(.+)\]`)
	indented   = engine.Regexp(`(?m)(?:^[ \t]+.*(?:\n|$)|^[ \t]*\n)+`)
)

// foreignLines returns the recipes of a makefile or justfile that a program other than
// a shell runs, each block as one string: the program is set for all of them, or named
// in the first line of one.
func foreignLines(text string) []string {
	program, options := recipeShell(text)
	var list []string
	for _, block := range indented().FindAllString(text, maxLines) {
		code := dedent(block)
		if first, _, _ := strings.Cut(code, "\n"); strings.HasPrefix(first, "#!") {
			if p, o := interpreter(strings.Fields(first[2:])); foreign(p) {
				list = append(list, inForeign(p, o, code))
			}
			continue
		}
		if program != "" {
			list = append(list, inForeign(program, options, code))
		}
	}
	return list
}

// recipeShell returns the program that runs all recipes of a file, if it is not a
// shell or has options that contain commands.
func recipeShell(text string) (program string, options []string) {
	if m := justShell().FindStringSubmatch(text); m != nil {
		var argv []string
		for _, l := range literal().FindAllStringSubmatch(m[1], 16) {
			argv = append(argv, literalText(l))
		}
		program, options = interpreter(argv)
	}
	if m := shellSet().FindStringSubmatch(text); m != nil {
		program, options = interpreter(strings.Fields(m[1]))
	}
	if m := shellFlags().FindStringSubmatch(text); m != nil {
		if program == "" {
			program = "sh"
		}
		options = shellWords(m[1])
		if !foreign(program) && strings.ContainsAny(m[1], "'\"") {
			return program, options
		}
	}
	if !foreign(program) {
		return "", nil
	}
	return program, options
}

// shellWords splits a line at spaces outside quotes, and removes the quotes.
func shellWords(line string) []string {
	words := justWords(line)
	for i, w := range words {
		words[i] = strings.Trim(w, `'";`)
	}
	return words
}

// dedent removes the common indentation, and the signs of make, from the lines of a
// block.
func dedent(block string) string {
	lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
	lead := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " \t"))]
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, lead)
	}
	lines[0] = strings.TrimLeft(lines[0], "@-+")
	return strings.ReplaceAll(strings.Join(lines, "\n"), "$$", "$")
}

var lispCall = engine.Regexp(`\(\s*([\w:./*!?<>=-]+)((?:\s+(?:"(?:[^"\\]|\\.)*"|'?\(|\(?list\b|:?[\w-]+))*)`)

// lisp returns the calls with literals in code whose brackets are before the name.
func (r Reader) lisp(text string) []string {
	var list []string
	for _, m := range lispCall().FindAllStringSubmatch(text, maxLines) {
		does := r.lispDoes(m[1])
		var argv []string
		for _, l := range literal().FindAllStringSubmatch(m[2], 16) {
			argv = append(argv, literalText(l))
		}
		switch {
		case does == "" || len(argv) == 0:
		case does == callDeletes:
			list = append(list, "rm -rf -- "+pathWord(argv[0]))
		case does == callRuns:
			list = append(list, runLine(argv))
		}
	}
	return list
}

// lispDoes looks up a name as written, without its package, and without the suffix for
// its variant.
func (r Reader) lispDoes(name string) string {
	if does := r.Does(name); does != "" {
		return does
	}
	if does := r.Does(name[strings.LastIndexAny(name, ":/")+1:]); does != "" {
		return does
	}
	name, _, _ = strings.Cut(name, "/") // delete-directory/files
	return r.Does(strings.TrimRight(name, "*!"))
}

var appliedTo = engine.Regexp("(?m)\\b([A-Za-z_][\\w.']*)[ \\t]*\\$?[ \\t]+([\\[(]?[ \\t]*[\"`].*)$")

// applied returns calls without brackets whose words are literals, in Haskell, OCaml,
// Nim and others: callCommand "make".
func (r Reader) applied(text string) []string {
	var list []string
	for _, m := range appliedTo().FindAllStringSubmatch(text, maxLines) {
		name := m[1][strings.LastIndexByte(m[1], '.')+1:]
		does := r.Does(m[1])
		if does == "" {
			does = r.Does(name)
		}
		var argv []string
		for _, l := range literal().FindAllStringSubmatch(m[2], 16) {
			argv = append(argv, literalText(l))
		}
		switch {
		case len(argv) == 0:
		case does == callRuns:
			list = append(list, runLine(argv))
		case does == callDeletes:
			list = append(list, "rm -rf -- "+pathWord(argv[0]))
		}
	}
	return list
}

// notebook is the part of a notebook that is read.
type notebook struct {
	Cells []struct {
		Type   string `json:"cell_type"`
		Source any    `json:"source"`
	} `json:"cells"`
}

// cells returns the code cells of a notebook, each as the command that runs it, and
// the shell commands in it; for another text, its code chunks, or all of it.
func (r Reader) cells(text string) []string {
	var doc notebook
	if len(text) > maxDecoded || json.Unmarshal([]byte(text), &doc) != nil {
		return append(chunks(text), cellLines(text)...)
	}
	var list []string
	for _, cell := range doc.Cells {
		if cell.Type != "code" {
			continue
		}
		source, _ := cell.Source.(string)
		for _, part := range listOf(cell.Source) {
			if line, ok := part.(string); ok && source != line {
				source += line
			}
		}
		list = append(list, cellLines(source)...)
	}
	return list
}

// cellLines returns the commands in a cell: lines with a shell prefix, the whole cell
// after a cell magic, otherwise Python code.
func cellLines(source string) []string {
	if first, rest, _ := strings.Cut(source, "\n"); strings.HasPrefix(first, "%%") {
		word := strings.TrimSpace(first[2:])
		if lang := shell.Language(strings.SplitN(word, " ", 2)[0]); lang != "" && lang != "shell" {
			return []string{inForeign(word, nil, rest)}
		}
		return []string{rest}
	}
	var list, code []string
	for line := range strings.SplitSeq(source, "\n") {
		bare := strings.TrimLeft(line, " \t")
		switch {
		case strings.HasPrefix(bare, "!"), strings.HasPrefix(bare, "%sx "), strings.HasPrefix(bare, "%system "):
			list = append(list, strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(bare, "%system "), "%sx "), "!"))
		case strings.HasPrefix(bare, "%"):
		default:
			code = append(code, line)
		}
	}
	return append(list, inForeign("python3", nil, strings.Join(code, "\n")))
}

var chunk = engine.Regexp("(?ms)^```\\s*\\{?\\s*(\\w+)[^\\n]*\\n(.*?)^```")

// chunks returns the code blocks of a document that is rendered by running them.
func chunks(text string) []string {
	var list []string
	for _, m := range chunk().FindAllStringSubmatch(text, maxLines) {
		switch lang := strings.ToLower(m[1]); {
		case lang == "r":
			list = append(list, inForeign("Rscript", nil, m[2]))
		case foreign(lang) && shell.Language(lang) != "":
			list = append(list, inForeign(lang, nil, m[2]))
		case shell.Language(lang) == "shell":
			list = append(list, m[2])
		}
	}
	return list
}

var write18 = engine.Regexp(`\\(?:write\s*18|ShellEscape)\s*\{(.*?)\}|\\input\s*\|\s*"([^"]*)"|os\.execute\(["'](.*?)["']\)`)

// texLines returns the shell commands that a TeX document runs.
func texLines(text string) []string {
	var list []string
	for _, m := range write18().FindAllStringSubmatch(text, maxLines) {
		list = append(list, m[1]+m[2]+m[3])
	}
	return list
}
