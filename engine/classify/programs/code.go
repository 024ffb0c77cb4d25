package programs

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/tasks"
)

// editorCommands handles the commands in an editor's arguments: -c COMMAND, +COMMAND.
func editorCommands(c *shell.Call) {
	list := c.Opts.All("-c", "--cmd")
	for _, a := range c.Args {
		if a.HasPrefix("+") {
			list = append(list, a.With(a.Text[1:]))
		}
	}
	for _, cmd := range list {
		editorLine(c, cmd)
	}
	editorEmpties(c, list)
}

// editorEmpties records that commands delete all lines of the files that an editor is
// given, and write them.
func editorEmpties(c *shell.Call, list []abstract.Arg) {
	drops, writes := false, false
	for _, cmd := range list {
		for part := range strings.FieldsFuncSeq(cmd.Text, func(r rune) bool { return r == '|' || r == '\n' }) {
			drops = drops || editorDrops().MatchString(part)
			writes = writes || editorSaves().MatchString(part)
		}
	}
	if drops && writes {
		languages.Empties(c, slices.DeleteFunc(slices.Clone(c.Opts.Operands), func(a abstract.Arg) bool { return a.HasPrefix("+") })...)
	}
}

// editorScript handles a file of commands.
func editorScript(c *shell.Call) {
	if script, ok := c.Opts.Get("-S", "-s"); ok {
		c.Reads(script)
		if text, ok := c.Shell.Written(script); ok {
			editorLines(c, text)
		}
	}
}

// editorInput handles commands that an editor reads from standard input.
func editorInput(c *shell.Call) {
	if in := c.Shell.Frame.Stdin; in != nil {
		editorLines(c, *in)
		editorEmpties(c, []abstract.Arg{*in})
	}
}

// editorLines returns the commands of a script. Text inserted after "a" or "i" ends with a
// line that contains only a dot.
func editorLines(c *shell.Call, text abstract.Arg) {
	typing := false
	for l := range strings.SplitSeq(text.Text, "\n") {
		if typing {
			typing = l != "."
			continue
		}
		editorLine(c, text.With(l))
		typing = inserts().MatchString(strings.TrimSpace(l))
	}
}

var (
	editorDrops = engine.Regexp(`^[:\s]*(?:(?:silent!?|exec(?:ute)?\s+["']|normal!?)\s+)*` +
		`(?:(?:%|[01],\$|,|g/[.^$*]*/)\s*d(?:el\w*)?\b|%d_|gg"?_?dG|ggVGd)`)
	editorSaves  = engine.Regexp(`^[:\s]*(?:silent!?\s+)*(?:w|wq|x|xit|exit|up|update|wa|wqa|wall|xa|xall|ZZ)!?a?\s*["']?\s*$`)
	inserts      = engine.Regexp(`^[0-9$.,%]*(a|i|c|append|insert|change)$`)
	editorRange  = engine.Regexp(`^[:\s]*(silent!?\s+|keep\w+\s+|noauto\w*\s+|exec(ute)?\s+["'])*[0-9$.,%;'<>+-]*\s*`)
	editorWrite  = engine.Regexp(`^(w|wr|write|wq|x|xit|exi|exit|W|sav|saveas|up|update|wn)!?\s*(>>)?\s*([^|!\s]\S*)`)
	editorOpen   = engine.Regexp(`^(e|ed|edit|f|file|sp|split|new|tabe|tabedit|badd|enew)!?\s+([^|!\s]\S*)`)
	editorRead   = engine.Regexp(`^(?:r|re|read)\s+([^|!\s]\S*)`)
	editorShell  = engine.Regexp(`^(?:(?:(?:w|write|e|f)\s+|(?:r|read)\s*)?!|(?:te|ter|term|terminal)\s+)(.*)`)
	editorSystem = engine.Regexp(`\b(system|systemlist|termopen|jobstart|job_start)\(\s*(?:'([^']*)'|"((?:[^"\\]|\\.)*)")`)
	editorDelete = engine.Regexp(`\b(delete|mkdir|writefile|rename|fs_unlink|fs_rmdir|fs_rename)\((?:[^'"]*\],\s*)?\s*['"]([^'"]*)['"](?:\s*,\s*['"]([^'"]*)['"])?`)
	editorCode   = engine.Regexp(`^(py|pyt\w*|py3|pyx|perl|rub\w*|lua|luado)\s+(.+)`)
)

// editorLine handles one command of vi, ex or ed.
func editorLine(c *shell.Call, line abstract.Arg) {
	text := line.Text[len(editorRange().FindString(line.Text)):]
	if m := editorShell().FindStringSubmatch(text); m != nil {
		c.Child(func() shell.Outcome { return c.Shell.Embed(line.With(m[1]), "editor", false) })
		return
	}
	if m := editorCode().FindStringSubmatch(text); m != nil {
		c.Extract(editorLanguage(m[1]), line.With(m[2]), "editor")
	}
	if m := editorWrite().FindStringSubmatch(text); m != nil {
		c.Writes("write", editorPath(c, line.With(m[3])))
	}
	if m := editorOpen().FindStringSubmatch(text); m != nil {
		c.Writes("write", editorPath(c, line.With(m[2])))
	}
	if m := editorRead().FindStringSubmatch(text); m != nil {
		c.Reads(editorPath(c, line.With(m[1])))
	}
	for _, m := range editorSystem().FindAllStringSubmatch(text, -1) {
		c.Child(func() shell.Outcome { return c.Shell.Embed(line.With(m[2]+m[3]), "editor", false) })
	}
	for _, m := range editorDelete().FindAllStringSubmatch(text, -1) {
		editorFile(c, m[1], line.With(m[2]), m[3])
	}
}

// editorPath returns a file name as editors interpret it, with ~ for the home directory.
func editorPath(c *shell.Call, a abstract.Arg) abstract.Arg {
	if rest, ok := strings.CutPrefix(a.Text, "~"); ok && (rest == "" || rest[0] == '/') {
		return abstract.Concat(c.Shell.HomeOf(""), a.With(rest))
	}
	return a
}

func editorLanguage(command string) string {
	switch {
	case strings.HasPrefix(command, "py"):
		return "python"
	case strings.HasPrefix(command, "rub"):
		return "ruby"
	case strings.HasPrefix(command, "lua"):
		return "lua"
	}
	return command
}

// editorFile handles a function of an editor that changes a file.
func editorFile(c *shell.Call, function string, file abstract.Arg, flags string) {
	switch strings.TrimPrefix(function, "fs_") {
	case "delete", "unlink", "rmdir":
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Recursive: strings.Contains(flags, "r")}, file)
	case "rename":
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "move"}, file)
		c.Writes("write", file.With(flags))
	default:
		c.Writes("write", file)
	}
}

// debuggerCommands handles the commands that a debugger is given before the program that it
// starts: those that go to a shell, and code.
func debuggerCommands(c *shell.Call) {
	if !slices.ContainsFunc(c.Args, func(a abstract.Arg) bool { return a.Is("--args") || a.Is("--") }) {
		return // the row defines the rest
	}
	for _, a := range c.Args {
		m := debuggerRuns().FindStringSubmatch(a.Text)
		switch {
		case a.Is("--args"), a.Is("--"):
			return
		case m == nil:
		case m[1] != "":
			c.Child(func() shell.Outcome { return c.Shell.Embed(a.With(m[2]), c.Name, false) })
		default:
			c.Extract("python", a.With(m[2]), c.Name)
		}
	}
}

var debuggerRuns = engine.Regexp(`^(?:(shell |!|platform shell |pipe .*\|)|(?:python|py|script) )\s*(.+)$`)

// settingPrograms runs the programs that settings among the values of an option name:
// --config target.x.runner="CODE". The row names the option and the last parts of the keys;
// the value may be a string or a list of words in quotes.
func settingPrograms(c *shell.Call) {
	for _, a := range c.Opts.All(c.Words[0]) {
		key, value, ok := strings.Cut(a.Text, "=")
		last := strings.TrimSpace(key[strings.LastIndexByte(key, '.')+1:])
		if !ok || !slices.Contains(c.Words[1:], last) {
			continue
		}
		c.Child(func() shell.Outcome { return c.Shell.Embed(a.With(settingValue(value)), c.Name, false) })
	}
}

// settingValue is the command in the value of a setting: "CODE", or ["PROGRAM", "WORD"].
func settingValue(value string) string {
	value = strings.TrimSpace(value)
	if list, ok := strings.CutPrefix(value, "["); ok {
		return strings.ReplaceAll(strings.TrimSuffix(list, "]"), ",", " ")
	}
	if n := len(value); n > 1 && value[0] == value[n-1] && strings.ContainsRune(`"'`, rune(value[0])) {
		return value[1 : n-1]
	}
	return value
}

// outputCommand runs the commands that a program is given in place of a file: words
// that begin with one of the marks that the row names (else | and !), the value of an
// option that is in the same word (-o|CODE, -sOutputFile=%pipe%CODE), and operands that
// end with a bar, where the row has *|.
func outputCommand(c *shell.Call) {
	marks := c.Words
	if len(marks) == 0 {
		marks = []string{"|", "!"}
	}
	for _, a := range c.Opts.Operands {
		if code, ok := strings.CutSuffix(strings.TrimSpace(a.Text), "|"); ok && slices.Contains(marks, "*|") {
			c.Child(func() shell.Outcome { return c.Shell.Embed(a.With(code), c.Name, false) })
		}
	}
	for _, a := range c.Args {
		for _, mark := range marks {
			before, code, found := strings.Cut(a.Text, mark)
			option := strings.HasPrefix(before, "-") && (len(before) == 2 || strings.HasSuffix(before, "="))
			if found && (before == "" || option) && strings.TrimSpace(code) != "" {
				c.Child(func() shell.Outcome { return c.Shell.Embed(a.With(code), c.Name, false) })
				break
			}
		}
	}
}

// makeTargets runs the recipes of a makefile's targets. A downloaded makefile is unseen
// code: make -f <(curl …).
func makeTargets(c *shell.Call) {
	for _, f := range c.Opts.All("-f", "--file", "--makefile") {
		if f.From != nil && f.From.Taint&abstract.Fetched != 0 {
			c.Shell.Unseen(*f.From, c.Name)
		}
	}
	recipes(c, tasks.MakeTargets)
}

func justRecipes(c *shell.Call) { recipes(c, tasks.JustRecipes) }

func taskCommands(c *shell.Call) { recipes(c, tasks.TaskCommands) }

// recipes interprets those tasks of a project that a runner is asked to run; otherwise what the
// runner does is unseen.
func recipes(c *shell.Call, run func(*shell.Call) (seen bool)) {
	if !run(c) {
		c.Process()
	}
}

// Bounds of the search for commands among the arguments of an unknown
// program: what exceeds them is not a command line that a person writes.
const (
	maxGuessedWords = 32
	maxGuessedText  = 8 << 10
	maxGuesses      = 16
)

// guesses finds commands in the arguments of an unknown program, which it may run: the
// words from the name of a known program on, and each text that contains spaces.
func guesses(c *shell.Call) {
	if c.Shell.Frame.Perhaps || c.Shell.Frame.Depth >= shell.MaxDepth {
		return
	}
	left := maxGuesses
	for i, a := range c.Args[:min(len(c.Args), maxGuessedWords)] {
		if left <= 0 || len(a.Text) > maxGuessedText {
			continue
		}
		if namesProgram(c, a) && !isSubcommand(c, i) {
			left--
			supposes(c, func() { c.Shell.Invoke(c.Args[i:], c.Node) })
		}
		if strings.ContainsAny(a.Text, " \t\n") && !isText(c, i) {
			left -= guessesIn(c, a)
		}
		if callsMethod().MatchString(a.Text) && !isText(c, i) {
			left--
			supposes(c, func() { extract(c, rows.Unread, a) })
		}
	}
}

// callsMethod finds calls of methods in code: User.delete_all(x).
var callsMethod = engine.Regexp(`^[A-Z][\w.:>-]*[.:>]\w+[!?]?\(`)

// isText reports whether a word is the value of an option that is text for people, which
// nothing runs.
func isText(c *shell.Call, i int) bool {
	name, _, glued := strings.Cut(c.Args[i].Text, "=")
	if glued && strings.HasPrefix(name, "--") {
		return listed(c, "texts", name)
	}
	return i > 0 && listed(c, "texts", c.Args[i-1].Text)
}

// supposes runs f as a process that the program may start.
func supposes(c *shell.Call, f func()) {
	c.Shell.Perhaps(func() {
		c.Nested(func() shell.Outcome {
			c.Shell.Frame.Stdin, c.Shell.Frame.Piped = nil, false
			f()
			return shell.Outcome{}
		})
	})
}

// namesProgram reports whether a word is the name of a known program.
func namesProgram(c *shell.Call, a abstract.Arg) bool {
	if !a.Known() || a.Text == "" || strings.ContainsAny(a.Text, " \t\n=:,") {
		return false
	}
	base, ok := a.Base()
	return ok && base != "" && c.Shell.In.Knows.Program(base)
}

// isSubcommand reports whether a word is more likely a subcommand, or the name of what is looked at, than another program.
func isSubcommand(c *shell.Call, i int) bool {
	looked := i == 1 && len(c.Args) == 2 && listed(c, "looking", c.Args[0].Text) && !strings.Contains(c.Path.Text, "/")
	if !looked && !listed(c, "subcommands", c.Args[i].Text) || i > 0 && c.Args[i-1].Is("--") {
		return false
	}
	return i+1 >= len(c.Args) || !c.Args[i+1].HasPrefix("-") && !strings.ContainsAny(c.Args[i+1].Text, "/~")
}

// guessesIn looks for commands in a string, and in its quoted parts; it returns the number of
// attempts.
func guessesIn(c *shell.Call, a abstract.Arg) int {
	parts := quotedParts(a.Text)
	tried := 0
	for _, text := range append(codeParts(c, a.Text), parts.texts...) {
		if mentionsProgram(c, text) {
			tried++
			supposes(c, func() { c.Shell.Embed(a.With(text), c.Name, false) })
		}
	}
	for _, list := range parts.lists {
		for i, w := range list {
			if namesProgram(c, abstract.Word(w)) && i+1 < len(list) {
				tried++
				supposes(c, func() { c.Shell.Invoke(argumentsOf(a, list[i:]), c.Node) })
				break
			}
		}
	}
	return tried
}

func argumentsOf(a abstract.Arg, texts []string) (list []abstract.Arg) {
	for _, t := range texts {
		list = append(list, a.With(t))
	}
	return list
}

// codeParts returns a string, the value assigned to a name in it (--exec=CODE), what follows
// a word that starts a program (spawn CODE), and the contents of brackets: execute(CODE).
func codeParts(c *shell.Call, text string) []string {
	list := []string{strings.TrimLeft(text, "!| ")}
	if name, value, ok := strings.Cut(text, "="); ok && !strings.ContainsAny(name, " \t\n") {
		list = append(list, strings.TrimLeft(value, "!| "))
	}
	for segment := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		if verb, rest, ok := strings.Cut(strings.TrimSpace(segment), " "); ok && listed(c, "starting", verb) {
			list = append(list, rest)
		}
	}
	if from, to := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')'); from >= 0 && to > from {
		list = append(list, text[from+1:to])
	}
	return list
}

// mentionsProgram reports whether a string contains the name of a known program where a
// command may start.
func mentionsProgram(c *shell.Call, text string) bool {
	begins := true
	for f := range strings.FieldsSeq(text) {
		word := strings.Trim(f, "(){};&|`$\"'")
		if (begins || word != f) && namesProgram(c, abstract.Word(word)) {
			return strings.ContainsAny(text, " \t\n")
		}
		begins = strings.HasSuffix(f, ";") || slices.Contains([]string{"&&", "||", "|", "&", "then", "do", "else", "!"}, f) ||
			begins && abstract.IsAssignment(abstract.Word(f))
	}
	return false
}

// quotes are the strings in a string of any language.
type quotes struct {
	texts []string   // those with blanks in them
	lists [][]string // consecutive words: "rm", ["-rf", "x"]
}

// quotedParts finds the quoted parts of a string in an unknown language.
func quotedParts(text string) (q quotes) {
	var list []string
	end := 0
	flush := func() {
		if len(list) > 1 {
			q.lists = append(q.lists, list)
		}
		list = nil
	}
	for i := 0; i < len(text) && len(q.texts)+len(q.lists) < maxGuesses; i++ {
		if strings.IndexByte("'\"`", text[i]) < 0 {
			continue
		}
		n := strings.IndexByte(text[i+1:], text[i])
		if n < 0 {
			continue // an apostrophe
		}
		inner := text[i+1 : i+1+n]
		if strings.ContainsAny(inner, " \t\n") {
			q.texts = append(q.texts, inner)
		}
		if strings.Trim(text[end:i], " ,[](){}\t\n") != "" && strings.TrimSpace(text[end:i]) != "(list" {
			flush()
		}
		list = append(list, inner)
		i += n + 1
		end = i + 1
	}
	flush()
	return q
}

// mayRun looks for commands in the arguments of a known program, or in the values of the
// options that the row names: it may run them.
func mayRun(c *shell.Call) {
	list := c.Args
	if len(c.Words) > 0 {
		list = c.Opts.All(c.Words...)
	}
	if c.Shell.Frame.Perhaps || c.Shell.Frame.Depth >= shell.MaxDepth {
		return
	}
	for _, a := range list[:min(len(list), maxGuessedWords)] {
		if strings.ContainsAny(a.Text, " \t\n") && len(a.Text) <= maxGuessedText {
			guessesIn(c, a)
		}
	}
}

// foreign handles code in a language that cannot be analysed. Its quoted parts may be run,
// and if it contains a word that accesses the machine, what it does is unknown.
func foreign(c *shell.Call, code abstract.Arg) {
	if len(code.Text) <= maxGuessedText && !c.Shell.Frame.Perhaps {
		guessesIn(c, code)
	}
	if reaches(c, code.Text) {
		c.Shell.Unseen(code, c.Name)
	}
}

// reaches reports whether code contains a word that accesses the machine: as a whole name,
// or as part of one as in deleteFile.
func reaches(c *shell.Call, code string) bool {
	able := c.Shell.In.Rows.Words("programs.able")
	for name := range strings.FieldsFuncSeq(code, func(r rune) bool { return !unicode.IsLetter(r) && r != '`' }) {
		if strings.Contains(name, "`") || slices.Contains(able, strings.ToLower(name)) {
			return true
		}
		for _, part := range humps(name) {
			if slices.Contains(able, part) {
				return true
			}
		}
	}
	return false
}

// humps returns the parts of a name such as deleteFile, in lower case.
func humps(name string) (parts []string) {
	start := 0
	for i, r := range name {
		if i > start && unicode.IsUpper(r) {
			parts = append(parts, strings.ToLower(name[start:i]))
			start = i
		}
	}
	return append(parts, strings.ToLower(name[start:]))
}
