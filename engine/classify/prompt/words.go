package prompt

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// vocabulary is the words that are recognised in texts: the lists of the policy's rows
// whose names begin with a prefix. Without rows, text has no meaning.
type vocabulary struct {
	set    *rows.Set
	prefix string
	lists  map[string][]string
}

func newVocabulary(set *rows.Set) *vocabulary {
	return &vocabulary{set: set, prefix: "prompt.", lists: map[string][]string{}}
}

// list returns a list of words.
func (g *vocabulary) list(name string) []string {
	list, ok := g.lists[name]
	if !ok {
		list = g.set.Words(g.prefix + name)
		g.lists[name] = list
	}
	return list
}

// has reports whether a list has a word.
func (g *vocabulary) has(name, low string) bool { return slices.Contains(g.list(name), low) }

// is reports whether a word of a prompt is in a list.
func (g *vocabulary) is(w promptWord, name string) bool { return g.has(name, w.low) }
