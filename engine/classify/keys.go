package classify

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
)

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
		e := res.Effect(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "track", Target: abstract.Value{Text: file.Path}, Command: takenBy(a)})
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
