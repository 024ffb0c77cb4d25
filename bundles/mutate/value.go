package mutate

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/mutant"
)

// settings changes values under a path of the document that policy reads.
func (g *mutation) settings(n *yaml.Node, at string) {
	tree, err := bundles.SettingsSchema()
	if err != nil {
		return // unreachable: the bundle's settings were checked against the schema
	}
	if rest, below := strings.CutPrefix(at+"/", "/reviewer/"); below {
		for key := range strings.SplitSeq(strings.Trim(rest, "/"), "/") {
			if key != "" && tree != nil {
				tree = tree.Child(key)
			}
		}
		g.section(n, at, tree)
		return
	}
	for i := 1; i < len(n.Content); i += 2 {
		if key := n.Content[i-1].Value; at == "" && key == "reviewer" {
			g.section(n.Content[i], "/reviewer", tree)
		} else {
			g.section(n.Content[i], at+"/"+key, nil)
		}
	}
}

// section changes what is under a key. The schema has the alternatives for words; nil:
// unknown.
func (g *mutation) section(n *yaml.Node, at string, s *bundles.SchemaNode) {
	if n.Kind != yaml.MappingNode {
		return
	}
	for i := 1; i < len(n.Content); i += 2 {
		key, value := n.Content[i-1], n.Content[i]
		var below *bundles.SchemaNode
		if s != nil {
			below = s.Child(key.Value)
		}
		path := at + "/" + key.Value
		if !g.reads(path) {
			continue
		}
		g.path, g.about = path, strings.ReplaceAll(strings.TrimPrefix(path, "/reviewer/"), "/", ".")
		switch value.Kind {
		case yaml.MappingNode:
			g.section(value, path, below)
		case yaml.SequenceNode:
			g.items(n, key, value)
			for _, item := range value.Content {
				g.number(item)
			}
		case yaml.ScalarNode:
			g.number(value)
			g.truth(value)
			g.word(value, below)
		}
	}
}

// word changes a word with known alternatives. Other texts are for people.
func (g *mutation) word(n *yaml.Node, s *bundles.SchemaNode) {
	words := words(s)
	switch {
	case n.Tag != "!!str":
	case words == nil && slices.Contains(engine.Verdicts(), n.Value), slices.Contains(words, string(engine.Block)):
		g.verdict(n)
	default:
		g.oneOf(n, mutant.ChangeWord, words)
	}
}

// words returns the values that a setting may have; nil: the schema has none.
func words(s *bundles.SchemaNode) []string {
	if s == nil {
		return nil
	}
	var words []string
	for _, v := range s.Enum {
		if word, ok := v.(string); ok {
			words = append(words, word)
		}
	}
	return words
}

// verdict replaces a verdict by the next milder and the next stricter one. A rule with
// modify but without a form asks, so modify is not milder than ask for it.
func (g *mutation) verdict(n *yaml.Node) {
	words := engine.Verdicts()
	if n != nil && n.Value != string(engine.Modify) {
		words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == string(engine.Modify) })
	}
	g.oneOf(n, mutant.SwapVerdict, words)
}

// oneOf replaces a word by the ones before and after it in a list.
func (g *mutation) oneOf(n *yaml.Node, operator string, words []string) {
	if n == nil {
		return
	}
	at := slices.Index(words, n.Value)
	for _, i := range []int{at - 1, at + 1} {
		if at >= 0 && i >= 0 && i < len(words) {
			g.replace(operator, n, words[i])
		}
	}
}

func (g *mutation) truth(n *yaml.Node) {
	switch {
	case n == nil || n.Tag != "!!bool":
	case n.Value == "true":
		g.replace(mutant.FlipTruth, n, "false")
	default:
		g.replace(mutant.FlipTruth, n, "true")
	}
}

// number moves a number by one step: 1, or its last digit after the point.
func (g *mutation) number(n *yaml.Node) {
	if n == nil || n.Tag != "!!int" && n.Tag != "!!float" {
		return
	}
	if below, above, ok := mutant.Steps(n.Value); ok {
		g.replace(mutant.ChangeNumber, n, below)
		g.replace(mutant.ChangeNumber, n, above)
	}
}

func (g *mutation) replace(operator string, n *yaml.Node, value string) {
	was := *n
	g.add(operator, n, was.Value, value, func() { n.Value = value }, func() { *n = was })
}
