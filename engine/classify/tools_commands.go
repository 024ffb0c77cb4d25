package classify

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// Lists of words that convert the structured arguments of a tool to the equivalent command, so
// that one table of programs serves both.
const (
	toolPrograms  = "commands.programs"  // k8s=kubectl: a word of the tool's name, and the program
	toolPhrases   = "commands.phrases"   // docker remove volume=volume rm
	toolNoise     = "commands.noise"     // words of a name without a meaning
	toolWrappers  = "commands.wrappers"  // programs that run the command in an argument
	toolVerbs     = "commands.verbs"     // arguments that name the operation
	toolOperands  = "commands.operands"  // arguments that are operands, in their order
	toolPlaces    = "commands.places"    // arguments that are the working directory
	toolRaw       = "commands.raw"       // arguments that are words of the command
	toolOptions   = "commands.options"   // volumes=--volume: the option for an argument
	toolIgnored   = "commands.ignored"   // arguments that change nothing
	inputWords    = "arguments.inputs"   // arguments that are typed in, or run, if the tool runs something
	jsonWords     = "arguments.json"     // arguments whose text may be JSON with arguments in it
	executables   = "arguments.programs" // arguments that name a program, next to its arguments
	argumentLists = "arguments.lists"    // its arguments
	innerTools    = "arguments.tools"    // arguments that name another tool, next to its arguments
	guardKeys     = "guard.keys"         // settings of clients that switch a guard off
	settingTools  = "guard.tools"        // words of the names of tools that change settings
)

// pairOf returns the rest of the entry of a list that begins with "word=".
func (r *toolReader) pairOf(list, word string) (string, bool) {
	for _, entry := range r.in.Rows.Words(list) {
		if left, right, ok := strings.Cut(entry, "="); ok && left == word {
			return right, true
		}
	}
	return "", false
}

// translated returns the command that is equivalent to the tool by its name and arguments. Its
// effects count, but not that a program is started.
func (r *toolReader) translated(server, name string) {
	program, subs, ok := r.programOf(server, name)
	if !ok {
		return
	}
	t := translation{r: r, argv: append([]string{program}, subs...)}
	t.behind = slices.Contains(r.in.Rows.Words(toolWrappers), strings.Join(t.argv, " "))
	t.arguments(r.args)
	if phrase, known := r.pairOf(toolPhrases, strings.Join(t.argv, " ")); known {
		t.argv = append([]string{program}, strings.Fields(phrase)...) // git branch, with delete as an argument
	}
	command := mask.QuoteAll(slices.Concat(t.argv, t.options, t.operands, t.last))
	if t.whole != "" {
		command = t.whole
	}
	if t.cd != "" {
		command = "cd " + mask.QuoteWord(t.cd) + " && " + command
	}
	r.likeCommand(command)
}

// likeCommand adds the effects of a tool's equivalent command.
func (r *toolReader) likeCommand(command string) {
	s := shell.Interpret(command, r.in)
	s.Commands, s.Opaque, s.Waits = nil, nil, false
	delete(s.Signals, engine.SignalUnknownCommand)
	s.Effects = slices.DeleteFunc(s.Effects, func(e abstract.RawEffect) bool {
		return (e.Kind == engine.EffectProcess || e.Kind == engine.EffectNetwork) && plainTalk(e)
	})
	for i := range s.Effects {
		s.Effects[i].Command = -1
	}
	r.run(s)
}

// plainTalk reports whether an effect is only a client's connection to its service.
func plainTalk(e abstract.RawEffect) bool {
	return e.Object == "" && (e.Verb == "fetch" || e.Verb == "send" || e.Verb == "exec")
}

// programOf returns the program that a tool stands for, and the words after it, by the words
// of its name and its server's.
func (r *toolReader) programOf(server, name string) (program string, subs []string, ok bool) {
	own := operation.NameParts(name)
	for i, part := range own {
		if program, ok = r.pairOf(toolPrograms, part); ok {
			own = slices.Concat(own[:i], own[i+1:])
			break
		}
	}
	for _, part := range operation.NameParts(server) {
		if !ok {
			program, ok = r.pairOf(toolPrograms, part)
		}
	}
	if !ok {
		return "", nil, false
	}
	if phrase, known := r.pairOf(toolPhrases, program+" "+strings.Join(own, " ")); known {
		return program, strings.Fields(phrase), true
	}
	noise := r.in.Rows.Words(toolNoise)
	return program, slices.DeleteFunc(own, func(w string) bool { return slices.Contains(noise, w) }), true
}

// translation is a command line under construction.
type translation struct {
	r        *toolReader
	argv     []string // the program, and its operation
	options  []string
	operands []string
	last     []string
	whole    string // an argument was the whole command
	cd       string
	behind   bool // the program runs another command, which comes last
}

// arguments puts the arguments of a tool in the order of a command line: first the operation,
// then its objects in the order of the list, then options.
func (t *translation) arguments(m map[string]any) {
	lists := func(name string) []string { return t.r.in.Rows.Words(name) }
	done := map[string]bool{}
	take := func(list string, place func(v any)) {
		for _, word := range lists(list) {
			for _, key := range slices.Sorted(maps.Keys(m)) {
				if !done[key] && strings.Join(operation.NameParts(key), "") == word {
					done[key] = true
					place(m[key])
				}
			}
		}
	}
	take(toolIgnored, func(any) {})
	take(toolPlaces, func(v any) { t.cd, _ = v.(string) })
	take(toolVerbs, func(v any) { t.command(v) })
	take(toolRaw, func(v any) { t.raw(v) })
	take(toolOperands, func(v any) { t.operands = append(t.operands, plainTexts(v)...) })
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !done[key] {
			t.option(key, m[key])
		}
	}
}

// command handles the argument that names the operation: a word, several, or the whole
// command.
func (t *translation) command(v any) {
	text, _ := v.(string)
	if underscored().MatchString(text) {
		text = strings.ReplaceAll(text, "_", "-") // delete_bucket, as libraries spell it
	}
	words := strings.Fields(text)
	switch {
	case t.behind && text != "":
		t.last = append(t.last, words...)
	case t.behind:
		t.last = append(t.last, plainTexts(v)...)
	case len(words) > 0 && words[0] == t.argv[0]:
		t.whole = text
	case len(words) > 0 && (len(t.argv) < 2 || t.argv[len(t.argv)-1] != words[0]):
		t.argv = append(t.argv, words...)
	}
}

// raw handles words of the command line itself.
func (t *translation) raw(v any) {
	switch v := v.(type) {
	case string:
		t.argv = append(t.argv, strings.Fields(v)...)
	case []any:
		t.argv = append(t.argv, plainTexts(v)...)
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			t.option(key, v[key])
		}
	}
}

// option handles an argument that has the name of an option: force, auto_approve.
func (t *translation) option(key string, v any) {
	name := "--" + strings.Join(operation.NameParts(key), "-")
	plain := name
	if other, ok := t.r.pairOf(toolOptions, strings.Join(operation.NameParts(key), "")); ok {
		name = other
	}
	switch v := v.(type) {
	case bool:
		if v {
			t.options = append(t.options, strings.TrimSuffix(name, "$"))
			if name != plain { // the other name may be that of an option with a value: volumes
				t.options = append(t.options, plain)
			}
		}
	case map[string]any:
		t.raw(v)
	case nil:
	default:
		for _, text := range plainTexts(v) {
			switch before, ok := strings.CutSuffix(name, "$"); {
			case ok && before == "": // an operand that comes last
				t.last = append(t.last, text)
			case ok:
				t.options = append(t.options, before+text) // mode: hard is --hard
			default:
				t.options = append(t.options, name+"="+text)
			}
		}
	}
}

var underscored = engine.Regexp(`^[a-z]+(?:_[a-z]+)+$`)

// plainTexts returns the texts and numbers of an argument.
func plainTexts(v any) (list []string) {
	switch v := v.(type) {
	case string:
		if v != "" {
			list = append(list, v)
		}
	case float64, int, int64, json.Number:
		list = append(list, fmt.Sprint(v))
	case []any:
		for _, item := range v {
			list = append(list, plainTexts(item)...)
		}
	}
	return list
}

// textsIn returns the texts of all arguments.
func textsIn(m map[string]any) (list []string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list = append(list, plainTexts(m[key])...)
	}
	return list
}

// templated runs a command of a row, in which $NAME is an argument.
func (r *toolReader) templated(template string) {
	words := strings.Fields(template)
	for i, w := range words {
		before, name, ok := strings.Cut(w, "$")
		if !ok {
			continue
		}
		rest := strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")
		value := r.shown(strings.TrimSuffix(name, rest))
		words[i] = mask.QuoteWord(before + value)
		if rest != "" {
			words[i] = mask.QuoteWord(before + value + r.filled(rest))
		}
	}
	r.likeCommand(strings.Join(words, " "))
}

// filled replaces arguments in the rest of a word: /$repo/collaborators/$username.
func (r *toolReader) filled(text string) string {
	before, name, ok := strings.Cut(text, "$")
	if !ok {
		return text
	}
	rest := strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")
	return before + r.shown(strings.TrimSuffix(name, rest)) + r.filled(rest)
}

// shown returns an argument as text.
func (r *toolReader) shown(name string) string {
	if on, ok := r.args[name].(bool); ok {
		return fmt.Sprint(on)
	}
	return strings.Join(plainTexts(r.args[name]), " ")
}

// separate reports whether the texts of a list are a command each, and not the words of one:
// the first contains a blank, or a later one contains a blank and begins with a program, and
// none is an option.
func (r *toolReader) separate(list []string) bool {
	if slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, "-") }) {
		return false
	}
	return strings.Contains(list[0], " ") || slices.ContainsFunc(list[1:], func(s string) bool {
		return strings.Contains(strings.TrimSpace(s), " ") && r.startsProgram(s)
	})
}

// startsProgram reports whether a string begins with the name of a known program.
func (r *toolReader) startsProgram(text string) bool {
	words := strings.Fields(text)
	if len(words) == 0 {
		return false
	}
	_, known, _ := r.in.Rows.Program(shell.BaseName(words[0]))
	return known || shell.Language(shell.BaseName(words[0])) != ""
}

// decodedJSON returns the JSON value in an argument's text.
func decodedJSON(text string) (v any, ok bool) {
	text = strings.TrimSpace(text)
	if len(text) < 2 || len(text) > maxJSON || text[0] != '{' && text[0] != '[' {
		return nil, false
	}
	return v, json.Unmarshal([]byte(text), &v) == nil
}

// maxJSON limits the JSON in a string that is examined.
const maxJSON = 64 << 10

// proxied handles a call of another tool that the arguments name.
func (r *toolReader) proxied(m map[string]any, depth int) {
	name, inner, ok := "", map[string]any(nil), false
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts := strings.Join(operation.NameParts(key), "")
		text, isText := m[key].(string)
		switch {
		case isText && slices.Contains(r.in.Rows.Words(innerTools), parts) && !strings.ContainsAny(text, " \n"):
			name = text
		case slices.Contains(r.in.Rows.Words(jsonWords), parts):
			v := m[key]
			if isText {
				v, _ = decodedJSON(text)
			}
			inner, ok = v.(map[string]any)
		}
	}
	if !ok || name == "" || depth > maxScan || r.nested >= maxProxies {
		return
	}
	if !KnowsTool(r.in.Rows, name) && !strings.HasPrefix(name, "mcp__") {
		server, _, _ := strings.Cut(strings.TrimPrefix(r.name, "mcp__"), "__")
		name = "mcp__" + server + "__" + name
	}
	other := readNested(name, inner, r.in, r.nested+1)
	other.script.Commands, other.script.Opaque = nil, nil
	for i := range other.script.Effects {
		other.script.Effects[i].Command = -1
	}
	r.run(other.script)
	texts, _ := other.promptArgs()
	r.spoken = slices.Concat(r.spoken, other.spoken, texts)
}

// maxProxies limits tools that call tools that call tools.
const maxProxies = 3

// programBeside runs a program that one argument names, with the arguments next to it.
func (r *toolReader) programBeside(m map[string]any) {
	var program string
	var words []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts := strings.Join(operation.NameParts(key), "")
		if text, ok := m[key].(string); ok && slices.Contains(r.in.Rows.Words(executables), parts) {
			if program = text; m["args"] != nil && r.keyIs(key, commandWords) {
				return // scanCommand runs it
			}
		} else if slices.Contains(r.in.Rows.Words(argumentLists), parts) {
			if text, ok := m[key].(string); ok {
				words = strings.Fields(text)
			} else {
				words = plainTexts(m[key])
			}
		}
	}
	if program != "" && len(words) > 0 && !strings.ContainsAny(program, " \n") {
		r.run(shell.Interpret(mask.QuoteAll(append([]string{program}, words...)), r.in))
	}
}

var (
	patchFile = engine.Regexp(`(?m)^(?:\*\*\* (?:Update|Add) File: |\*\*\* Move to: |\+\+\+ (?:b/)?)([^\t\r\n]+)`)
	patchGone = engine.Regexp(`(?m)^\*\*\* Delete File: ([^\r\n]+)`)
)

// patched returns the files that a patch in a string changes.
func (r *toolReader) patched(text string) {
	if !strings.Contains(text, "*** Begin Patch") && !(strings.Contains(text, "\n+++ ") && strings.Contains(text, "--- ")) {
		return
	}
	for _, m := range patchFile().FindAllStringSubmatch(text, maxPatch) {
		if m[1] != "/dev/null" {
			r.path(engine.EffectFileWrite, "edit", abstract.Value{Text: strings.TrimSpace(m[1])}, false)
		}
	}
	for _, m := range patchGone().FindAllStringSubmatch(text, maxPatch) {
		r.path(engine.EffectFileDelete, "delete", abstract.Value{Text: strings.TrimSpace(m[1])}, false)
	}
}

// patches searches all arguments of a tool for a patch.
func (r *toolReader) patches() {
	for _, text := range textsIn(r.args) {
		r.patched(text)
	}
}

// maxPatch limits the files of a patch that are examined.
const maxPatch = 64

// setsGuard handles a tool that changes a setting by its name, if the setting turns a guard
// off.
func (r *toolReader) setsGuard(name string, m map[string]any) {
	parts := operation.NameParts(name)
	words := r.in.Rows.Words(settingTools)
	if !slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(words, p) }) ||
		operation.WordsOf(r.in.Rows).Verb(name) != "write" {
		return
	}
	keys := r.in.Rows.Words(guardKeys)
	guard := func(text string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(text, k) || strings.HasPrefix(text, k+".") })
	}
	for key, v := range m {
		text, _ := v.(string)
		inner, _ := v.(map[string]any)
		if guard(key) || guard(text) || slices.ContainsFunc(slices.Collect(maps.Keys(inner)), guard) {
			r.script.Signals[engine.SignalGuardTamper] = true
		}
	}
}
