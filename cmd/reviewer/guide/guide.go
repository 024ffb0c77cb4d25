// Package guide has the reference for people who write policy, and the recipes, by topic. `reviewer policy docs`
// prints them.
//
// Out of scope: generating the reference (schemas/gen).
package guide

import (
	_ "embed"
	"strings"
)

//go:embed reference.md
var reference string

//go:embed recipes.md
var recipes string

// Topic is a part of a page.
type Topic struct {
	Name  string // one word
	About string // in a few words
	Text  string // Markdown
}

// Topics lists the sections of the guide for authors and the recipes.
func Topics() []Topic {
	var list []Topic
	for _, section := range strings.Split(reference, "\n## ")[1:] {
		title, _, _ := strings.Cut(section, "\n")
		name := strings.ToLower(title)
		list = append(list, Topic{name, about(name), "## " + strings.TrimSuffix(section, "\n") + "\n"})
	}
	return append(list, Topic{"recipes", about("recipes"), recipes})
}

// about returns the description of a topic from the reference's list of topics.
func about(name string) string {
	if name == "recipes" {
		return "small policies based on real incidents, each with its tests"
	}
	for _, line := range strings.Split(reference, "\n") {
		if said, ok := strings.CutPrefix(line, "| ["+name+"](#"+name+") | "); ok {
			return strings.TrimSuffix(said, " |")
		}
	}
	return ""
}
