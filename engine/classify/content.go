package classify

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// maxPlain is the length above which a text argument counts as content: names, paths,
// queries and messages are shorter.
const maxPlain = 2048

// contentMap returns ContentFacts in the form in which they replace an argument.
func contentMap(f engine.ContentFacts) map[string]any {
	m := map[string]any{"bytes": f.Bytes, "lines": f.Lines}
	if f.MAC != "" {
		m["mac"] = f.MAC
	}
	if len(f.Secrets) > 0 {
		secrets := map[string]any{}
		for k, n := range f.Secrets {
			secrets[k] = int64(n)
		}
		m["secrets"] = secrets
	}
	return m
}

// outputText returns the texts of a tool's response: what the agent reads.
// Numbers such as durations are left out, so that the same response has the
// same MAC.
func outputText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	v, err := engine.DecodeStrict(raw)
	if err != nil {
		return string(raw)
	}
	return strings.Join(appendTexts(nil, v), "\n")
}

func appendTexts(list []string, v any) []string {
	switch v := v.(type) {
	case string:
		if v != "" {
			list = append(list, v)
		}
	case []any:
		for _, item := range v {
			list = appendTexts(list, item)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			list = appendTexts(list, v[k])
		}
	}
	return list
}

// arguments masks a call's arguments and replaces contents.
type arguments struct {
	mask     *mask.Masker
	names    []string // nested arguments that are contents
	contents map[string]string
	roles    map[string]string
	facts    map[string]engine.ContentFacts
}

func maskArguments(m *mask.Masker, r *toolReader) *arguments {
	a := &arguments{mask: m, names: r.tool.contents, contents: r.contents, roles: map[string]string{}, facts: map[string]engine.ContentFacts{}}
	for _, arg := range r.tool.args {
		a.roles[arg.name] = arg.role
	}
	return a
}

func (a *arguments) object(m map[string]any, path string) map[string]any {
	out := make(map[string]any, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if v := a.value(m[k], join2(path, k), k); v != nil {
			out[a.mask.Text(k)] = v
		}
	}
	return out
}

func join2(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func (a *arguments) value(v any, path, key string) any {
	switch v := v.(type) {
	case string:
		return a.text(v, path, key)
	case bool:
		return v
	case json.Number:
		return number(v)
	case []any:
		out := make([]any, 0, len(v))
		for i, item := range v {
			if m := a.value(item, path+"["+strconv.Itoa(i)+"]", key); m != nil {
				out = append(out, m)
			}
		}
		return out
	case map[string]any:
		return a.object(v, path)
	}
	return nil
}

func (a *arguments) text(s, path, key string) any {
	_, content := a.contents[path]
	code := a.roles[path] == rows.RoleShell || a.roles[path] == rows.RolePowerShell
	if content || slices.Contains(a.names, key) || len(s) > maxPlain && !code {
		f := a.mask.ContentOf(s)
		a.facts[a.mask.Text(path)] = f
		return contentMap(f)
	}
	if secret, ok := a.named(key, s); ok {
		return secret
	}
	return a.mask.Text(s)
}

// named masks a value that is recognisable as a secret only by the argument's name.
func (a *arguments) named(key, s string) (string, bool) {
	lead := key + "="
	spans := a.mask.Secrets(lead + s)
	if len(spans) != 1 || spans[0].Start != len(lead) || spans[0].End != len(lead)+len(s) || spans[0].Kind == mask.KindMasked {
		return "", false
	}
	return a.mask.Replacement(spans[0].Kind, s), true
}

// number keeps integers that every reader interprets alike; others become text.
func number(n json.Number) any {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil && i > -1<<53 && i < 1<<53 {
		return i
	}
	return string(n)
}

// MayBeNumber reports whether a recorded text may have been a number in the call, in which detectors search no text. It may not
// if the number would be recorded as one: identifiers such as "7" were texts.
func MayBeNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	_, kept := number(json.Number(text)).(int64)
	return !kept && (err == nil || errors.Is(err, strconv.ErrRange))
}

// markedTexts returns the raw texts of a call: first those that describe the call, then
// contents.
func markedTexts(r *toolReader) []string {
	var short, long []string
	for _, name := range slices.Sorted(maps.Keys(r.args)) {
		texts := appendTexts(nil, r.args[name])
		if _, content := r.contents[name]; content || slices.Contains(r.tool.contents, name) {
			long = append(long, texts...)
		} else {
			short = append(short, texts...)
		}
	}
	return append(short, long...)
}

// maxShownFiles limits the files of a call whose new text is judged at once.
const maxShownFiles = 2

// fewFiles reports whether texts go into no more files than are judged at once.
func fewFiles(list []writing) bool {
	files := map[string]bool{}
	for _, w := range list {
		files[w.path] = true
	}
	return len(files) <= maxShownFiles
}

// markShown marks the writes of which the call contains the whole text. A file that several commands of a call write is
// not among them: which of them wrote what is not known.
func markShown(a *engine.Action, r *toolReader, res *place.Resolver) {
	writes := map[string]int{}
	for i := range a.Effects {
		if e := &a.Effects[i]; e.Kind == engine.EffectFileWrite && e.Host == "" {
			writes[e.Target]++
		}
	}
	known, writings := map[string]bool{}, r.writings()
	if !fewFiles(writings) {
		return
	}
	for _, w := range writings {
		if p, ok := res.Named(w.path, r.in.Cwd.Text); ok && r.in.Cwd.Sure == abstract.Literal {
			said, seen := known[p]
			known[p] = (said || !seen) && !strings.ContainsAny(w.text, abstract.Holes)
		}
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		exact := e.Kind == engine.EffectFileWrite && e.Certainty == engine.CertaintyExact && e.Host == ""
		e.Shown = exact && known[e.Target] && writes[e.Target] == 1
	}
}

// added records what a text changes in what a start-up file does: by itself, and together with what the file contains.
func (c *Classifier) added(code *engine.Code, file, before, now string, w writing, r *toolReader, res *place.Resolver, m *mask.Masker) {
	read := func(text string) *engine.Action {
		return assemble(&toolReader{in: r.in, contents: map[string]string{}, script: readKind(code.Kinds, file, text, r.in)}, res)
	}
	a := read(w.text)
	if w.edit && before != "" {
		had := map[string]bool{}
		for _, e := range read(before).Effects {
			had[digestOfCode(&e)] = true
		}
		for _, e := range read(now).Effects {
			if !had[digestOfCode(&e)] && !slices.Contains(a.Effects, e) {
				a.Effects = append(a.Effects, e)
			}
		}
	}
	code.AddedUnread = len(a.Opaque) > 0 || len(a.Effects) > maxCodeEffects || strings.ContainsAny(w.text, abstract.Holes)
	a.Effects = a.Effects[:min(len(a.Effects), maxCodeEffects)]
	maskAction(a, m)
	for i := range a.Effects {
		if a.Effects[i].Command = -1; !slices.Contains(code.Added, a.Effects[i]) {
			code.Added = append(code.Added, a.Effects[i])
		}
	}
	code.AddedSignals = a.Signals
}

// maxKeyFiles limits the files with keys that are reported for one call.
const maxKeyFiles = 4

// markKeys marks the files that a call fills with a live key, and adds those with one that version control takes.
func markKeys(a *engine.Action, r *toolReader, res *place.Resolver, m *mask.Masker) {
	words := mask.LiveWords{Examples: r.in.Rows.Words("keys.placeholders"), Public: r.in.Rows.Words("keys.public"),
		Unclear: r.in.Rows.Words("keys.unclear")}
	live := func(text string) string { return m.Live(text, words) }
	for _, w := range r.writings() {
		kind := live(w.text)
		if kind == "" || w.old != "" && live(w.old) == kind {
			continue
		}
		p, ok := res.Named(w.path, r.in.Cwd.Text)
		for i := range a.Effects {
			if e := &a.Effects[i]; ok && e.Kind == engine.EffectFileWrite && e.Host == "" && e.Target == p {
				e.Key = kind
			}
		}
	}
	added := 0
	for _, file := range res.Taken(r.script.Taken) {
		kind := live(file.Text)
		if kind == "" || added == maxKeyFiles {
			continue
		}
		e := res.Effect(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "track", Target: abstract.Value{Text: file.Path},
			Command: takenBy(a)})
		if e.Key = kind; e.Class != engine.ClassTest {
			e.Class = "" // it is the content that matters
		}
		a.Effects = append(a.Effects, e)
		added++
	}
	if added > 0 {
		sortEffects(a.Effects)
	}
}

// takenBy returns the index of the first command that puts files into version control; -1: none does.
func takenBy(a *engine.Action) int {
	return slices.IndexFunc(a.Commands, func(c engine.Command) bool {
		return c.Name == "git" && len(c.Sub) > 0 && slices.Contains([]string{"add", "stage", "commit"}, c.Sub[0])
	})
}
