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
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// maxDiffComment bounds the characters of a comment. GitHub refuses a comment above
// 65,536 characters as a whole; changes that do not fit are counted.
const maxDiffComment = 60_000

// diffGitHub writes changes as Markdown for a pull request: a visible summary and
// folded groups. Text of policies is only in code fences, where it is neither Markdown
// nor a mention.
func diffGitHub(w io.Writer, refs []string, c diff.Changes) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### %s reviewer policy diff\n\n**%s**\n\n", diffMark(c), DiffSummary(c))
	fmt.Fprintf(&b, "Before: %s  \nAfter: %s\n", report.MarkdownCode(sideName(refs[0], c.Before)),
		report.MarkdownCode(sideName(refs[1], c.After)))
	left := 0
	for _, group := range diffGroups(c.List) {
		left += diffGroup(&b, group)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n… and %s more (-f text or -f json has all)\n", term.Counted(left, "change", "changes"))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// diffMark is the sign of the outcome.
func diffMark(c diff.Changes) string {
	if c.Loosens() || c.Counts.Undecided > 0 {
		return "⚠️"
	}
	return "✅"
}

// diffGroups are the changes of each kind.
func diffGroups(all []diff.Change) [][]diff.Change {
	var groups [][]diff.Change
	for i, c := range all {
		if i == 0 || all[i-1].Kind != c.Kind {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], c)
	}
	return groups
}

// diffGroup writes as much of a group as there is room for, and returns the number of
// omitted changes.
func diffGroup(b *bytes.Buffer, group []diff.Change) int {
	var text strings.Builder
	shown := 0
	for _, c := range group {
		part := diffBlock(c)
		if b.Len()+text.Len()+len(part) > maxDiffComment {
			break
		}
		text.WriteString(part)
		shown++
	}
	if shown == 0 {
		return len(group)
	}
	fence := report.Fence(text.String())
	fmt.Fprintf(b, "\n<details><summary>%s (%d)</summary>\n\n%sdiff\n%s%s\n\n</details>\n", diffHeadings()[group[0].Kind],
		len(group), fence, text.String(), fence)
	return len(group) - shown
}

// diffBlock is a change as lines of a diff.
func diffBlock(c diff.Change) string {
	text := "@@ " + strings.Join(strings.Fields(diffHead(term.Paint{}, c)), " ") + " @@\n"
	for _, l := range diffLines(c) {
		text += strings.TrimRight(string(l.sign)+" "+l.text, " ") + "\n"
	}
	return text
}

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
