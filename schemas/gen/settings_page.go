package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
)

const settingsHead = `# Settings

<!-- Generated from schemas/settings.json and bundles/default/data.yaml: go generate ./schemas -->

Each layer above the base can change settings with a ` + "`settings.yaml`" + `: the organisation in
` + "`/etc/reviewer/policy`" + `, the user in ` + "`policy`" + ` of the state directory, the project in
` + "`.reviewer/policy`" + `. A project can use a ` + "`.reviewer.yaml`" + ` in its folder instead, with the same
contents. ` + "`reviewer config show`" + ` prints each setting with its value and its layer;
` + "`reviewer config check`" + ` reports problems.

How the values of several layers are merged:

| merge | the first value of organisation or user | each later one, and the project's |
|---|---|---|
| min, max | replaces the default | applies if it is lower, higher |
| strictest | replaces the default | applies if it is stricter |
| extend | replaces the default | adds to it |
| intersect | replaces the default | keeps only the common entries |
| narrow | replaces the default | keeps only what is in both |
| union | is added | is added |
| first | replaces the default | is ignored; the project may not set it |
| organisation | replaces the default | only the organisation may set it |
| append | is added | is added; the project may not set it |
| replace | replaces the default | replaces it; the project may not set it |
| (none) | only the base layer has it | |
`

// settingsPage describes all settings with the defaults of the built-in policy, in Markdown.
func settingsPage() (string, error) {
	base, err := bundles.Default()
	if err != nil {
		return "", err
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		return "", err
	}
	all, err := e.Explain()
	if err != nil {
		return "", err
	}
	tree, err := bundles.SettingsSchema()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(settingsHead)
	group := "-"
	for _, s := range all {
		section, _, nested := strings.Cut(s.Key, ".")
		if node := tree.Properties[section]; !nested && node.Properties == nil && node.Others.SchemaNode == nil {
			section = ""
		}
		if section != group {
			b.WriteString(docSection(section, tree))
		}
		group = section
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Key, docValue(s.Default), s.Merge, docMeaning(s, tree.Properties[section]))
	}
	b.WriteString("\n## Other defaults than in earlier designs\n\n| key | earlier | default | why |\n|---|---|---|---|\n")
	for _, s := range all {
		if was := nodeAt(tree, strings.Split(s.Key, ".")); was != nil && was.Earlier != nil {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Key, docValue(was.Earlier.Value), docValue(s.Default), was.Earlier.Why)
		}
	}
	b.WriteString(refusedKeys(tree))
	return b.String(), nil
}

// nodeAt returns the node at a path; nil: there is none.
func nodeAt(s *bundles.SchemaNode, path []string) *bundles.SchemaNode {
	for _, key := range path {
		if s = s.Child(key); s == nil {
			break
		}
	}
	return s
}

func docSection(name string, tree *bundles.SchemaNode) string {
	title, text := name, ""
	if name == "" {
		title = "general"
	} else if about := tree.Properties[name].Description; about != "" {
		text = about + "\n\n"
	}
	return fmt.Sprintf("\n## %s\n\n%s| key | default | merge | meaning |\n|---|---|---|---|\n", title, text)
}

// docMeaning returns the description of a key, if it differs from that of its section.
func docMeaning(s bundles.Setting, section *bundles.SchemaNode) string {
	if section != nil && section.Description == s.Description {
		return ""
	}
	return strings.ReplaceAll(s.Description, "|", `\|`)
}

func docValue(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "" // unreachable: settings were read from JSON
	}
	text := strings.NewReplacer("|", `\|`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(raw))
	if strings.Contains(text, "`") {
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}

// refusedKeys lists the keys that the schema only has in order to refuse them, and other spellings.
func refusedKeys(s *bundles.SchemaNode) string {
	var b, spellings strings.Builder
	spellings.WriteString("\n## Other spellings\n\nKeys of earlier designs that are accepted. An object in place of a single value " +
		"sets that value with the named key;\nits other keys belong next to it.\n\n| key | |\n|---|---|\n")
	b.WriteString("\n## Refused\n\nKeys of earlier designs and other versions, with the error message for each.\n\n| key | |\n|---|---|\n")
	var rows func(at string, s *bundles.SchemaNode)
	rows = func(at string, s *bundles.SchemaNode) {
		for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
			node, path := s.Properties[key], strings.TrimPrefix(at+"."+key, ".")
			if node.Means != nil || node.Nested != "" {
				fmt.Fprintf(&spellings, "| `%s` | %s |\n", path, otherSpelling(node, path))
			} else if node.Unavailable != "" {
				fmt.Fprintf(&b, "| `%s` | %s |\n", path, node.Unavailable)
			}
			for _, word := range slices.Sorted(maps.Keys(node.NoValues)) {
				fmt.Fprintf(&b, "| `%s: %s` | %s |\n", path, word, node.NoValues[word])
			}
			if node.Items != nil {
				for _, word := range slices.Sorted(maps.Keys(node.Items.NoValues)) {
					fmt.Fprintf(&b, "| `%s: [%s]` | %s |\n", path, word, node.Items.NoValues[word])
				}
			}
			rows(path, node)
		}
	}
	rows("", s)
	return spellings.String() + b.String()
}

func otherSpelling(s *bundles.SchemaNode, path string) string {
	var parts []string
	if s.Means != nil && *s.Means == "" {
		parts = append(parts, "its keys count as top-level keys")
	} else if s.Means != nil {
		parts = append(parts, "`"+*s.Means+"`")
	}
	if s.Nested != "" {
		parts = append(parts, "`"+path+": {"+s.Nested+": …}`")
	}
	return strings.Join(parts, "; ")
}
