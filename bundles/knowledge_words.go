package bundles

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

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
			c.p.wrong(n, "%s: %s is given twice", names, words[i])
		}
	}
}

// listNamed checks that there is a list, and that the layer may add these words.
func (c *rowCheck) listNamed(name string, words []string, n *yaml.Node) {
	known := shippedWords()
	section, key, _ := strings.Cut(name, ".")
	switch {
	case slices.Contains(rows.SettingLists(), name):
		c.p.wrong(n, "%s is a setting, which rules ask for too; write %s: {%s: [...]} into settings.yaml", name, section, key)
	case c.layer == Base: // it says which lists there are
	case !slices.Contains(known.Lists(), name):
		c.p.wrong(n, "there is no list of words %s", engine.Meant(name, known.Lists()))
	case c.adds && known.Loosens(name):
		c.p.wrong(n, "%s: a word more can make facts less strict; say this in the organisation's layer", name)
	case c.adds:
		for _, w := range words {
			if why := known.Taken(name, w); why != "" {
				c.p.wrong(n, "%s: the %s layer may not add %q: %s", name, c.layer, w, why)
			}
		}
	}
}
