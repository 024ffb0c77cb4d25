package bundles

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const docHead = `# Settings

<!-- Made of schemas/settings.json and bundles/default/data.yaml: go generate ./schemas -->

A layer above the base changes settings with a ` + "`settings.yaml`" + `: the organisation in
` + "`/etc/reviewer/policy`" + `, the person in ` + "`policy`" + ` below the state directory, the project in
` + "`.reviewer/policy`" + ` below its folder, or in ` + "`.reviewer.yaml`" + ` in it, which is the same file. ` + "`reviewer config show`" + ` prints the value of each
setting and the layer that says so; ` + "`reviewer config check`" + ` says what is wrong with one.

How values of several layers become one:

| merge | the first value of organisation or user | every further one, and the project's |
|---|---|---|
| min, max | replaces the default | counts if it is lower, higher |
| strictest | replaces the default | counts if it is stricter |
| extend | replaces the default | adds to it |
| intersect | replaces the default | keeps only what it has too |
| narrow | replaces the default | keeps only what lies in what it has too |
| union | is added | is added |
| replace | replaces the default | replaces it; the project may not set it |
| (none) | only the base layer has it | |
`

// SettingsDoc describes all settings with the defaults of the policy that ships,
// in Markdown.
func SettingsDoc() (string, error) {
	base, err := Default()
	if err != nil {
		return "", err
	}
	e, err := Assemble(base)
	if err != nil {
		return "", err
	}
	all, err := e.Explain()
	if err != nil {
		return "", err
	}
	tree, err := SettingsSchema()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(docHead)
	group := "-"
	for _, s := range all {
		section, _, nested := strings.Cut(s.Key, ".")
		if !nested && !tree.Properties[section].section() {
			section = ""
		}
		if section != group {
			b.WriteString(docSection(section, tree))
		}
		group = section
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Key, docValue(s.Default), s.Merge, docMeaning(s, tree.Properties[section]))
	}
	b.WriteString(tree.docRefused())
	return b.String(), nil
}

func docSection(name string, tree *SchemaNode) string {
	title, text := name, ""
	if name == "" {
		title = "in general"
	} else if about := tree.Properties[name].Description; about != "" {
		text = about + "\n\n"
	}
	return fmt.Sprintf("\n## %s\n\n%s| key | default | merge | meaning |\n|---|---|---|---|\n", title, text)
}

// docMeaning is what a key means, where that is not what its section means.
func docMeaning(s Setting, section *SchemaNode) string {
	if section != nil && section.Description == s.Description {
		return ""
	}
	return strings.ReplaceAll(s.Description, "|", `\|`)
}

func docValue(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "" // not reached: settings were read from JSON
	}
	text := strings.NewReplacer("|", `\|`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(raw))
	if strings.Contains(text, "`") {
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}

// docRefused lists the keys that the schema knows only to refuse them.
func (s *SchemaNode) docRefused() string {
	var b strings.Builder
	b.WriteString("\n## Refused\n\nKeys of designs and of other versions, and what is said about them.\n\n| key | |\n|---|---|\n")
	var rows func(at string, s *SchemaNode)
	rows = func(at string, s *SchemaNode) {
		for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
			node, path := s.Properties[key], below(at, key)
			if node.Unavailable != "" {
				fmt.Fprintf(&b, "| `%s` | %s |\n", path, node.Unavailable)
			}
			for _, word := range slices.Sorted(maps.Keys(node.NoValues)) {
				fmt.Fprintf(&b, "| `%s: %s` | %s |\n", path, word, node.NoValues[word])
			}
			rows(path, node)
		}
	}
	rows("", s)
	return b.String()
}
