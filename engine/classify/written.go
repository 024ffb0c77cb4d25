package classify

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/tasks"
	"github.com/agent-reviewer/reviewer/engine/classify/windows"
	"mvdan.cc/sh/v3/syntax"
)

// Limits of reading the code that one call writes. Larger texts are not read.
const (
	maxWrittenFiles = 8
	maxWrittenText  = 256 << 10
	maxCodeEffects  = 8 // of one file
	maxCodeOfKind   = 3 // of these, of one kind
)

// writing is a string that a call puts into a file.
type writing struct {
	path string
	old  string // of an edit: the text that is replaced
	text string
	edit bool
	few  bool // the call writes into no more than maxShownFiles files
}

// written lists the code in files that a call writes, with what it would do.
func (c *Classifier) written(r *toolReader, res *place.Resolver, m *mask.Masker) []engine.Code {
	var list []engine.Code
	seen := map[string]int{}
	writings := r.writings()
	few := fewFiles(writings)
	for _, w := range writings {
		if len(list) == maxWrittenFiles {
			break
		}
		w.few = few
		code, ok := c.codeOf(w, r, res, m)
		if !ok {
			continue
		}
		if i, again := seen[code.Path]; again {
			list[i] = code
			continue
		}
		seen[code.Path] = len(list)
		list = append(list, code)
	}
	return list
}

// codeOf judges one string. ok: it has an effect to report.
func (c *Classifier) codeOf(w writing, r *toolReader, res *place.Resolver, m *mask.Masker) (engine.Code, bool) {
	e := res.Effect(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "write", Target: abstract.Value{Text: w.path}, Dir: r.in.Cwd,
		Command: -1})
	if e.Certainty != engine.CertaintyExact || e.Short == "" {
		return engine.Code{}, false
	}
	before, now, whole := c.wholeText(w, &e)
	kinds := kindsOf(r.in.Rows, e.Target, now)
	if len(kinds) == 0 || len(now) > maxWrittenText {
		return engine.Code{}, false
	}
	code := engine.Code{Path: m.Text(e.Place()), Kinds: kinds, Part: !whole}
	c.judge(&code, e.Target, now, r, res, m)
	if e.Git == "clean" && before != "" && code.Digest != "" {
		c.without(&code, e.Target, before, r, res, m)
	}
	if w.few && (e.Class == engine.ClassStartup || e.Location == engine.LocationHome || e.Location == engine.LocationSystem) {
		c.added(&code, e.Target, before, now, w, r, res, m)
	}
	return code, code.Digest != "" || whole && w.edit || len(code.Added)+len(code.AddedSignals) > 0 || code.AddedUnread
}

// wholeText returns the contents of a file before and after a string is put into it, and whether
// they are complete.
func (c *Classifier) wholeText(w writing, e *engine.Effect) (before, now string, whole bool) {
	if e.Exists == "yes" && c.World.ReadHead != nil {
		if b, err := c.World.ReadHead(e.Target, maxWrittenText+1); err == nil {
			before = string(b)
		}
	}
	if !w.edit {
		return before, w.text, true
	}
	if w.old != "" && strings.Contains(before, w.old) {
		return before, strings.Replace(before, w.old, w.text, 1), true
	}
	return before, w.text, false
}

// without removes effects that the committed version of the file has too: they are not the
// session's.
func (c *Classifier) without(code *engine.Code, file, before string, r *toolReader, res *place.Resolver, m *mask.Masker) {
	old := engine.Code{Kinds: code.Kinds}
	if c.judge(&old, file, before, r, res, m); old.Digest == "" {
		return
	}
	had := map[string]bool{}
	for i := range old.Effects {
		had[digestOfCode(&old.Effects[i])] = true
	}
	code.Effects = slices.DeleteFunc(code.Effects, func(e engine.Effect) bool { return had[digestOfCode(&e)] })
	code.Signals = slices.DeleteFunc(code.Signals, func(s engine.Signal) bool { return slices.Contains(old.Signals, s) })
	if len(code.Effects)+len(code.Signals) == 0 {
		code.Digest = ""
	}
}

// digestOfCode is equal for effects that do the same to the same object.
func digestOfCode(e *engine.Effect) string {
	return strings.Join([]string{string(e.Kind), e.Verb, e.Place(), e.Target, e.Object, string(e.Certainty)}, "\x00")
}

// judge interprets a string by its kind, and records what it would do.
func (c *Classifier) judge(code *engine.Code, file, text string, r *toolReader, res *place.Resolver, m *mask.Masker) {
	run := &toolReader{in: r.in, contents: map[string]string{}, script: readKind(code.Kinds, file, text, r.in)}
	a := assemble(run, res)
	a.Effects = distinctiveEffects(a.Effects)
	forgetAbsence(a.Effects)
	a.Signals = slices.DeleteFunc(a.Signals, func(s engine.Signal) bool { return slices.Contains(textSignals, s) })
	if len(a.Effects)+len(a.Signals) == 0 {
		return
	}
	maskAction(a, m) // before anything is cut
	code.Effects = a.Effects
	keepTheirCommands(code, a.Commands)
	a.Commands, a.Effects = code.Commands, code.Effects
	a.Paths, a.Hosts = pathsOf(a.Effects), a.Hosts[:min(len(a.Hosts), maxCodeOfKind)]
	code.Types, code.Intent, code.Hosts, code.Signals = typesOf(run, a), intentOf(run, typesOf(run, a)), a.Hosts, a.Signals
	code.Digest = c.digestOf(code)
}

// forgetAbsence removes from code that runs later what only holds now: that a folder outside the workspace which it
// deletes is not there.
func forgetAbsence(list []engine.Effect) {
	for i := range list {
		e := &list[i]
		if e.Kind == engine.EffectFileDelete && e.Recursive && e.Exists == "no" &&
			slices.Contains([]engine.Location{engine.LocationOutside, engine.LocationHome, engine.LocationBeside}, e.Location) {
			e.Exists, e.Reversibility = "", ""
		}
	}
}

// textSignals are signals about how a string is written, which do no harm by themselves.
var textSignals = []engine.Signal{engine.SignalDryRun, engine.SignalUnknownCommand, engine.SignalMuted, engine.SignalUnbounded}

// digestOf identifies what code does: another text that does the same has the same digest.
func (c *Classifier) digestOf(code *engine.Code) string {
	var parts []string
	for i := range code.Effects {
		parts = append(parts, digestOfCode(&code.Effects[i]))
	}
	slices.Sort(parts)
	for _, s := range code.Signals {
		parts = append(parts, string(s))
	}
	return c.MAC([]byte(strings.Join(parts, "\x01")))[:16]
}

// readKind returns what a string of a kind would do. The reader of a kind is not a matter of
// policy: there is one for each supported language.
func readKind(kinds []string, file, text string, in shell.Input) abstract.Script {
	reader := tasks.Reader{Prose: proseKeys(in.Rows), Does: pairsOf(in.Rows, "code.calls").first}
	switch kind := kinds[0]; kind {
	case "powershell":
		return windows.InterpretPowerShell(text, in)
	case "ruby", "groovy", "python":
		s := shell.ReadCode(file, kind, []string{text}, in)
		return joinScripts(s, shell.ReadCode(file, "shell", reader.Lines(kind, text), in))
	case engine.CodeMarkdown:
		s := shell.ReadCode(file, "shell", reader.Lines(kind, text), in)
		return joinScripts(s, readText(file, text, reader, in))
	case engine.CodeText, engine.CodeData:
		return readText(file, text, reader, in)
	case "shell", "node", "perl", "php", "lua":
		return shell.ReadCode(file, kind, []string{text}, in)
	case "r":
		return shell.ReadCode(file, "Rscript", []string{text}, in)
	case "hook":
		lang := shell.Shebang(text)
		if lang == "" {
			lang = "shell"
		}
		return shell.ReadCode(file, lang, []string{text}, in)
	default:
		return shell.ReadCode(file, "shell", reader.Lines(kind, text), in)
	}
}

// readText returns what a string that is not code by its name would do, in any language in which
// someone may run it.
func readText(file, text string, reader tasks.Reader, in shell.Input) abstract.Script {
	s := shell.ReadCode(file, "shell", []string{text}, in)
	s = joinScripts(s, shell.ReadCode(file, "shell", reader.Lines("lines", text), in))
	for _, lang := range anyLanguages {
		s = joinScripts(s, shell.ReadCode(file, lang, []string{text}, in))
	}
	return s
}

// anyLanguages are the languages besides the shell's in which a string is interpreted if its
// name does not indicate its language.
var anyLanguages = []string{"python", "node", "ruby", "perl", "php"}

// joinScripts combines what two readers found in one string.
func joinScripts(a, b abstract.Script) abstract.Script {
	r := &toolReader{script: a}
	r.run(b)
	return r.script
}

func proseKeys(set *rows.Set) func(string) bool {
	keys := set.Words("code.prose")
	return func(key string) bool { return slices.Contains(keys, key) }
}

// distinctiveEffects returns the worst of the effects that are distinctive, a few of each
// kind.
func distinctiveEffects(list []engine.Effect) []engine.Effect {
	var kept []engine.Effect
	count := map[engine.EffectKind]int{}
	for _, e := range list {
		if distinctive(&e) && count[e.Kind] < maxCodeOfKind && len(kept) < maxCodeEffects {
			count[e.Kind]++
			kept = append(kept, e)
		}
	}
	if !slices.ContainsFunc(kept, func(e engine.Effect) bool { return e.Kind != engine.EffectFileRead }) {
		return nil
	}
	return kept
}

// distinctive reports whether an effect is more than work on the files of the project.
// Deletions and changes there can be judged when the code runs: tests and builds consist of
// them.
func distinctive(e *engine.Effect) bool {
	around := slices.Contains([]engine.Location{engine.LocationInside, engine.LocationWorktree, engine.LocationTemp, engine.LocationBeside,
		engine.LocationNull, engine.LocationUnknown}, e.Location)
	secret := e.Class == engine.ClassCredential || e.Class == engine.ClassEnvFile
	switch e.Kind {
	case engine.EffectProcess:
		return e.Verb != "exec" || e.Object == "host" // a container with access to the machine
	case engine.EffectFileRead:
		return !around || secret
	case engine.EffectFileWrite, engine.EffectFileDelete:
		return !around || e.Guard != "" || slices.Contains([]engine.Class{engine.ClassGuard, engine.ClassAgent, engine.ClassGitHook,
			engine.ClassGitData, engine.ClassStartup, engine.ClassCredential}, e.Class)
	case engine.EffectNetwork:
		return !e.Loopback
	}
	return true
}

// keepTheirCommands keeps the commands to which the kept effects belong.
func keepTheirCommands(code *engine.Code, commands []engine.Command) {
	at := map[int]int{}
	for i := range code.Effects {
		n := code.Effects[i].Command
		if n < 0 || n >= len(commands) {
			continue
		}
		if _, ok := at[n]; !ok {
			at[n] = len(code.Commands)
			code.Commands = append(code.Commands, shortCommand(commands[n]))
		}
		code.Effects[i].Command = at[n]
	}
}

func shortCommand(cmd engine.Command) engine.Command {
	cmd.Operands, cmd.Flags = cmd.Operands[:min(len(cmd.Operands), 3)], cmd.Flags[:min(len(cmd.Flags), 4)]
	for _, list := range []*[]string{&cmd.Operands, &cmd.Flags} {
		*list = slices.Clone(*list)
		for i, word := range *list {
			(*list)[i] = head(word, 80)
		}
	}
	return cmd
}

// writings returns the texts that a call writes into files: those among its arguments, and
// those of the commands that it runs.
func (r *toolReader) writings() []writing {
	var list []writing
	for _, t := range r.script.Written {
		list = append(list, writing{path: t.Path, text: t.Text})
	}
	for _, key := range slices.Sorted(maps.Keys(r.args)) {
		if text, ok := r.args[key].(string); ok && strings.Contains(text, patchBegin) {
			list = append(list, patched(text)...)
		}
	}
	writes := func(e abstract.RawEffect) bool { return e.Kind == engine.EffectFileWrite && e.Command < 0 }
	if slices.ContainsFunc(r.script.Effects, writes) || operation.WordsOf(r.in.Rows).Verb(r.name) == "write" {
		list = r.textsIn(list, r.args, "", "", 0)
	}
	return list
}

// textsIn searches for texts next to the path of a file, or under it.
func (r *toolReader) textsIn(list []writing, v any, file, old string, depth int) []writing {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			list = r.textsIn(list, item, file, old, depth)
		}
	case map[string]any:
		if depth > maxScan {
			return list
		}
		file, old = r.fileOf(v, file), ""
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if text, ok := v[key].(string); ok && r.keyIs(key, "arguments.replaced") {
				old = text
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = r.textAt(list, v, key, file, old, depth)
		}
	}
	return list
}

// fileOf returns the file that an object of arguments, or the object around it, names.
func (r *toolReader) fileOf(m map[string]any, file string) string {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if text, ok := m[key].(string); ok && pathLike(text) && text != "" && (r.keyIs(key, pathWords) || strings.HasSuffix(key, "_path")) {
			return text
		}
	}
	return file
}

func (r *toolReader) textAt(list []writing, m map[string]any, key, file, old string, depth int) []writing {
	text, ok := m[key].(string)
	switch {
	case !ok:
		return r.textsIn(list, m[key], file, old, depth+1)
	case file == "" || text == "" || text == file || r.keyIs(key, "arguments.replaced"):
	case r.keyIs(key, "arguments.texts"):
		edit := old != "" || strings.Contains(key, "new") || r.name == "NotebookEdit"
		return append(list, writing{path: file, old: old, text: text, edit: edit})
	}
	return list
}

// patchBegin begins a patch as some agents write it.
const patchBegin = "*** Begin Patch"

// patched returns the lines that a patch adds to each file.
func patched(text string) []writing {
	var list []writing
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if name, ok := strings.CutPrefix(line, "*** Add File: "); ok {
			list = append(list, writing{path: name})
		} else if name, ok := strings.CutPrefix(line, "*** Update File: "); ok {
			list = append(list, writing{path: name, edit: true})
		} else if name, ok := strings.CutPrefix(line, "*** Move to: "); ok && len(list) > 0 {
			list[len(list)-1].path = name
		} else if code, ok := strings.CutPrefix(line, "+"); ok && len(list) > 0 {
			list[len(list)-1].text += code + "\n"
		}
	}
	return list
}

// pairs are words of a list that have a meaning: NAME=MEANING.
type pairs struct {
	exact    map[string][]string
	patterns []pair
}

type pair struct{ pattern, meaning string }

func pairsOf(set *rows.Set, list string) *pairs {
	return rows.Once(set, "pairs:"+list, func() *pairs {
		p := &pairs{exact: map[string][]string{}}
		for _, word := range set.Words(list) {
			name, meaning, ok := strings.Cut(word, "=")
			switch {
			case !ok:
			case strings.ContainsAny(name, "*?/"):
				p.patterns = append(p.patterns, pair{name, meaning})
			default:
				p.exact[name] = append(p.exact[name], meaning)
			}
		}
		return p
	})
}

func (p *pairs) first(name string) string {
	if list := p.exact[name]; len(list) > 0 {
		return list[0]
	}
	return ""
}

// kindsOf returns the kinds of code that a file is: by its name, else by its first line.
func kindsOf(set *rows.Set, name, text string) []string {
	p := pairsOf(set, "code.files")
	kinds := slices.Clone(p.exact[path.Base(name)])
	for _, f := range p.patterns {
		last := name
		if n := strings.Count(f.pattern, "/"); n == 0 {
			last = path.Base(name)
		} else if parts := strings.Split(name, "/"); len(parts) > n+1 {
			last = strings.Join(parts[len(parts)-n-1:], "/")
		}
		if ok, err := path.Match(f.pattern, last); ok && err == nil && !slices.Contains(kinds, f.meaning) {
			kinds = append(kinds, f.meaning)
		}
	}
	switch lang := shell.Shebang(text); {
	case len(kinds) > 0:
	case strings.HasPrefix(text, "#!") && lang != "":
		kinds = []string{lang}
	case slices.Contains(set.Words("code.data"), strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")):
		kinds = []string{engine.CodeData}
	default:
		kinds = []string{engine.CodeText}
	}
	if kinds[0] == engine.CodeMarkdown {
		kinds = []string{engine.CodeMarkdown, engine.CodeData}
	}
	return kinds
}

// loads reports which files of code the programs of a call may run: see engine.Action.
func loads(r *toolReader, a *engine.Action) []string {
	l := loader{set: r.in.Rows, runners: pairsOf(r.in.Rows, "code.runners"), found: map[string]bool{}}
	starts := map[int]bool{}
	for i := range a.Effects {
		if e := &a.Effects[i]; e.Kind == engine.EffectProcess && e.Verb == "exec" && e.Target != "source" && e.Target != "." {
			starts[e.Command] = true
		}
	}
	for i := range a.Commands {
		l.command(&a.Commands[i], starts[i], slices.Contains(r.script.Followed, i))
	}
	l.started(r.script.Tree)
	if len(l.found) > 0 || len(a.Commands) > 0 {
		for _, name := range r.script.Modules {
			l.found["="+name] = true
		}
	}
	for _, name := range r.script.Inputs {
		l.found[engine.ScriptMark+name] = true
	}
	list := slices.Sorted(maps.Keys(l.found))
	return list[:min(len(list), maxLoads)]
}

// started looks up the programs that the code names as commands, even if it is unknown what
// they run: eval "$line", parallel < jobs.
func (l *loader) started(tree []*syntax.Stmt) {
	for _, st := range tree {
		syntax.Walk(st, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				if name := path.Base(call.Args[0].Lit()); slices.Contains(l.runners.exact[name], engine.CodeNamed) {
					l.found[engine.CodeNamed] = true
				}
			}
			return true
		})
	}
}

// maxLoads limits the list of what a call may run.
const maxLoads = 16

type loader struct {
	set     *rows.Set
	runners *pairs
	found   map[string]bool
}

func (l *loader) command(c *engine.Command, starts, followed bool) {
	does := c.Sub
	if len(does) == 0 {
		does = c.Operands[:min(len(c.Operands), 2)]
	}
	if l.runner(c, does, followed) {
		return
	}
	for _, name := range c.Wrappers {
		l.runner(&engine.Command{Name: name}, wrapperWords, false)
	}
	known, ok, err := l.set.Program(c.Name)
	switch {
	case err == nil && !ok && starts:
		l.found[engine.CodeAny] = true
	case err != nil || !ok || known.Converted || !known.Does():
		if starts {
			l.found[engine.CodeNamed] = true
		}
	case known.Language != "":
		l.found[engine.CodeNamed] = true
		file := slices.ContainsFunc(c.Operands, func(o string) bool { return o != "-" && o != "/dev/stdin" })
		module := slices.ContainsFunc(c.Flags, func(f string) bool { return strings.HasPrefix(f, "-m") })
		if file && !inline(c, known.Code) || module {
			l.found[kindOfLanguage(known.Language)] = true
		}
		if !inline(c, known.Code) && !module {
			l.script(c.Name, c.Operands)
		}
	}
}

// script records the file that a program runs as its code: the first operand, or the one after
// a known subcommand, as in deno run FILE.
func (l *loader) script(program string, words []string) {
	if len(words) > 1 && len(l.runners.exact[program+":"+words[0]]) > 0 {
		words = words[1:]
	}
	for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' {
		words = words[1:]
	}
	if len(words) > 0 && words[0] != "-" && len(words[0]) <= maxScriptName {
		l.found[engine.ScriptMark+words[0]] = true
	}
}

// maxScriptName limits the name of a file that is recorded, in bytes.
const maxScriptName = 256

// inline reports whether an interpreter is given its code as an argument.
func inline(c *engine.Command, options string) bool {
	if options == "" {
		options = "-c"
	}
	return slices.ContainsFunc(strings.Fields(options), func(o string) bool {
		return slices.ContainsFunc(c.Flags, func(f string) bool { return f == o || strings.HasPrefix(f, o+"=") })
	})
}

func kindOfLanguage(lang string) string {
	if lang == "Rscript" {
		return "r"
	}
	return lang
}

// wrapperWords are the words after which a wrapper runs another program.
var wrapperWords = []string{"run", "exec", "x"}

// runner looks up a program in the list, alone and with each of its words. It reports whether
// one of them means that the program runs nothing. If all that its tasks do is among the
// commands, only an option can add more.
func (l *loader) runner(c *engine.Command, words []string, followed bool) (none bool) {
	kinds := slices.Clone(l.runners.exact[c.Name])
	for _, word := range words {
		word, _, _ = strings.Cut(word, "=")
		kinds = append(kinds, l.runners.exact[c.Name+":"+word]...)
	}
	if followed {
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == engine.CodeAny })
	}
	if slices.Contains(kinds, runsScript) {
		l.script(c.Name, c.Operands)
	}
	for _, flag := range c.Flags {
		name, value, given := strings.Cut(flag, "=")
		means := l.runners.exact[c.Name+":"+name]
		if kinds = append(kinds, means...); given && slices.Contains(means, runsScript) {
			l.script("", []string{value})
		}
	}
	if slices.Contains(kinds, runsNone) {
		return true
	}
	for _, kind := range kinds {
		if kind != runsScript {
			l.found[kind] = true
		}
	}
	return false
}

// runsScript is the entry of the list for programs whose first operand is run as code, and for
// options whose value is.
const runsScript = "script"

// runsNone is the entry of the list for words with which a program runs no code.
const runsNone = "none"
