package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
)

const settingsHead = `# Settings

<!-- Generated from schemas/settings.json and bundles/default/data.yaml: go generate ./schemas -->

Each layer above the base can change settings with a ` + "`settings.yaml`" + `: the organisation in
` + "`/etc/reviewer/policy`" + `, the user in ` + "`policy`" + ` of the state directory, the project in
` + "`.reviewer/policy`" + `. A project can use a ` + "`.reviewer.yaml`" + ` in its folder instead, with the same
contents.

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

## The settings that people set most

` + "`reviewer config show`" + ` prints these first and then all others, and ` + "`reviewer config show KEY`" + ` what
a setting or a section means and how it is merged. The [JSON Schema](../schemas/settings.json) has all
of them for editors, with the keys of earlier designs that are accepted under another name or refused;
` + "`reviewer config check`" + ` names the right key in its message. ` + "`workspaces: {PATH: {…}}`" + ` sets any of
them for one workspace.

| key | default | merge | meaning |
|---|---|---|---|
`

// settingsPage describes the settings that people set most, with the defaults of the built-in policy, in Markdown.
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
	for _, s := range all {
		if s.Common {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Key, docValue(s.Default), s.Merge, strings.ReplaceAll(s.Description, "|", `\|`))
		}
	}
	b.WriteString("\n## Other defaults than in earlier designs\n\n| key | earlier | default | why |\n|---|---|---|---|\n")
	for _, s := range all {
		if was := nodeAt(tree, strings.Split(s.Key, ".")); was != nil && was.Earlier != nil {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Key, docValue(was.Earlier.Value), docValue(s.Default), was.Earlier.Why)
		}
	}
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
