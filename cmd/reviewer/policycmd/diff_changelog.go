package policycmd

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/configcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// diffChangelog writes what can move a decision as a section of a changelog in Markdown, whose heading is the
// later policy's version. Changes of Rego are counted by package, since their text says nothing to most readers.
func diffChangelog(w io.Writer, c diff.Changes) error {
	var b bytes.Buffer
	top := c.After.Layers[len(c.After.Layers)-1]
	fmt.Fprintf(&b, "## %s %s\n", top.Name, cmp.Or(top.Version, "without a version"))
	for _, group := range diffGroups(c.List) {
		lines := changelogLines(group)
		if len(lines) > 0 && group[0].Kind != diff.KindManifest {
			fmt.Fprintf(&b, "\n### %s\n\n%s\n", diffHeadings()[group[0].Kind], strings.Join(lines, "\n"))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func changelogLines(group []diff.Change) []string {
	var lines []string
	packages := map[string]int{}
	for _, c := range group {
		switch {
		case c.Direction == diff.Unaffected:
		case c.Kind == diff.KindRego:
			packages[c.Name[:max(0, strings.LastIndexByte(c.Name, '.'))]]++
		default:
			lines = append(lines, fmt.Sprintf("- `%s` %s (%s)%s", c.Name, c.Did, c.Direction, changedParts(c)))
		}
	}
	for name, n := range packages {
		lines = append(lines, fmt.Sprintf("- `%s`: %s", name, term.Counted(n, "definition", "definitions")))
	}
	if len(packages) > 0 {
		slices.Sort(lines)
	}
	return lines
}

// changedParts lists the parts of a row that differ, those that are short with their values.
func changedParts(c diff.Change) string {
	if c.Did != "changed" {
		return ""
	}
	var all []string
	for _, p := range c.Parts {
		if p.Direction == diff.Unaffected {
			continue
		}
		text, before, after := p.Name, configcmd.WordFor(p.Before), configcmd.WordFor(p.After)
		if p.Before != nil && p.After != nil && len(before)+len(after) < 60 {
			text += " " + before + " → " + after
		}
		all = append(all, text)
	}
	if c.Before != nil && c.After != nil && len(c.Parts) == 0 {
		if before, after := configcmd.WordFor(c.Before.Value), configcmd.WordFor(c.After.Value); len(before)+len(after) < 60 {
			all = append(all, before+" → "+after)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all, ", ")
}
