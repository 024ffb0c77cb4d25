package policycmd

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/configcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	textdiff "github.com/rogpeppe/go-internal/diff"
)

// diffHeadings name the groups of changes.
func diffHeadings() map[string]string {
	return map[string]string{
		diff.KindLayer: "Layers", diff.KindManifest: "Manifests", diff.KindSetting: "Settings",
		diff.KindUnused: "Settings without effect", diff.KindData: "Data", diff.KindRule: "Rules",
		diff.KindPattern: "Patterns", diff.KindAccess: "Access lists", diff.KindDetector: "Detectors", diff.KindRow: "Rows", diff.KindRego: "Rego",
	}
}

// DiffText writes changes for a person: group by group, - before and + after.
func DiffText(w io.Writer, p term.Paint, refs []string, c diff.Changes) {
	fmt.Fprintf(w, "%s\n%s\n", p.Colour("31", "--- "+sideName(refs[0], c.Before)), p.Colour("32", "+++ "+sideName(refs[1], c.After)))
	fmt.Fprintln(w, DiffSummary(c))
	kind := ""
	for _, change := range c.List {
		if change.Kind != kind {
			kind = change.Kind
			fmt.Fprintf(w, "\n%s\n", p.Colour("1", diffHeadings()[kind]))
		}
		fmt.Fprintf(w, "%s\n", diffHead(p, change))
		for _, l := range diffLines(change) {
			fmt.Fprintln(w, l.painted(p))
		}
		if change.Why != "" {
			fmt.Fprintln(w, p.Faint("        undecided: "+change.Why))
		}
	}
	if c.Counts.Undecided+c.Counts.Mixed > 0 {
		fmt.Fprintf(w, "\n%s\n", p.Faint("A simulation shows the effect of what is undecided or mixed: reviewer policy simulate --baseline "+
			term.OneLine(refs[0], 200)+" --candidate "+term.OneLine(refs[1], 200)+" SOURCE"))
	}
}

// sideName names one of the policies by its reference, its uppermost layer and
// its digest.
func sideName(ref string, s diff.Snapshot) string {
	top := s.Layers[len(s.Layers)-1]
	name := strings.TrimSpace(top.Name + " " + top.Version)
	if top.Sequence > 0 {
		name += fmt.Sprintf(" (%d)", top.Sequence)
	}
	return term.OneLine(fmt.Sprintf("%s: %s %.12s", ref, name, s.Digest), 300)
}

// diffHead is the line that names a change: its sign, name, effect and place.
func diffHead(p term.Paint, c diff.Change) string {
	sign := map[string]string{diff.Added: "+", diff.Removed: "-", diff.Altered: " ", diff.Reordered: " "}[c.Did]
	text := "  " + sign + " " + p.Colour("1", term.OneLine(c.Name, 200))
	if c.Did == diff.Reordered {
		text += " reordered"
	}
	if c.Direction != diff.Unaffected {
		text += " " + directionWord(p, c.Direction)
	}
	at := c.After
	if at == nil {
		at = c.Before
	}
	if at != nil && at.Place != "" && c.Kind != diff.KindManifest {
		text += p.Faint(" " + strings.Join(at.Layers, "+") + "/" + term.OneLine(at.Place, 200))
	}
	return text
}

func directionWord(p term.Paint, d diff.Direction) string {
	switch d {
	case diff.Loosened, diff.Mixed:
		return p.Colour("31;1", string(d))
	case diff.Tightened:
		return p.Colour("32", string(d))
	}
	return p.Colour("33", string(d))
}

// diffLine is a line of a change; sign is '-', '+', or ' ' for what both have.
type diffLine struct {
	sign byte
	text string
}

func (l diffLine) painted(p term.Paint) string {
	text := strings.TrimRight("      "+string(l.sign)+" "+l.text, " ")
	switch l.sign {
	case '-':
		return p.Colour("31", text)
	case '+':
		return p.Colour("32", text)
	}
	return p.Faint(text)
}

// diffLines returns the lines that describe a change.
func diffLines(c diff.Change) []diffLine {
	var lines []diffLine
	for _, part := range c.Parts {
		some := partLines(c, part)
		if unlike := part.Direction == diff.Loosened || part.Direction == diff.Tightened; unlike &&
			part.Direction != c.Direction && len(some) > 0 {
			some[len(some)-1].text += "  (" + string(part.Direction) + ")"
		}
		lines = append(lines, some...)
	}
	if len(c.Parts) > 0 || c.Did == diff.Reordered {
		return append(lines, layerLine(c)...)
	}
	return valueLines("", versionText(c, c.Before), versionText(c, c.After))
}

// layerLine names the layers of a list, if they changed.
func layerLine(c diff.Change) []diffLine {
	if c.Kind != diff.KindSetting || c.Before == nil || c.After == nil {
		return nil
	}
	was, is := strings.Join(c.Before.Layers, ", "), strings.Join(c.After.Layers, ", ")
	if was == is {
		return nil
	}
	return []diffLine{{' ', "set by " + is + ", previously by " + was}}
}

// versionText formats a value with its layers.
func versionText(c diff.Change, v *diff.Version) string {
	if v == nil || v.Value == nil && c.Kind != diff.KindSetting && c.Kind != diff.KindData {
		return ""
	}
	text, isText := v.Value.(string)
	if !isText || c.Kind != diff.KindRego {
		text = configcmd.WordFor(v.Value)
	}
	if c.Kind == diff.KindSetting || c.Kind == diff.KindUnused {
		text += "  (" + strings.Join(v.Layers, ", ") + ")"
	}
	return text
}

// partLines describes the difference of a part of a row. For an added or removed row
// the place shows layer and kind already.
func partLines(c diff.Change, p diff.Part) []diffLine {
	came := c.Did == diff.Added || c.Did == diff.Removed
	was, isList := p.Before.([]any)
	is, isListToo := p.After.([]any)
	switch {
	case came && (p.Name == "examples" || p.Name == "layer" || p.Name == "kind"):
		return nil
	case p.Name == "examples":
		return []diffLine{{' ', "different examples"}}
	case p.Name == "item":
		return valueLines("", partText(p.Before), partText(p.After))
	case isList && isListToo:
		return listLines(p.Name+": ", diff.ListChanges(was, is))
	}
	return valueLines(p.Name+": ", partText(p.Before), partText(p.After))
}

// listLines describes what was added to a list and removed from it.
func listLines(name string, items []diff.Part) []diffLine {
	var lines []diffLine
	for _, item := range items {
		lines = append(lines, valueLines(name, partText(item.Before), partText(item.After))...)
	}
	if lines == nil {
		return []diffLine{{' ', name + "reordered"}}
	}
	return lines
}

func partText(v any) string {
	if v == nil {
		return ""
	}
	if s, ok := v.(string); ok && strings.Contains(strings.TrimSpace(s), "\n") {
		return s
	}
	if s, ok := v.(string); ok {
		return strings.TrimSpace(s)
	}
	return configcmd.WordFor(v)
}

// valueLines describes the old and the new text: for several lines, the lines that
// differ.
func valueLines(name, was, is string) []diffLine {
	was, is = strings.TrimRight(was, "\n"), strings.TrimRight(is, "\n")
	if !strings.Contains(was+is, "\n") {
		var lines []diffLine
		if was != "" {
			lines = append(lines, diffLine{'-', term.OneLine(name+was, 2000)})
		}
		if is != "" {
			lines = append(lines, diffLine{'+', term.OneLine(name+is, 2000)})
		}
		return lines
	}
	var lines []diffLine
	if name != "" {
		lines = append(lines, diffLine{' ', strings.TrimSpace(name)})
	}
	return append(lines, unified(was, is)...)
}

// unified compares texts line by line.
func unified(was, is string) []diffLine {
	content := func(s string) []byte { return []byte(cmp.Or(s+"\n", "\n")) }
	a, b := content(was), content(is)
	if was == "" {
		a = nil
	}
	if is == "" {
		b = nil
	}
	var lines []diffLine
	for line := range bytes.Lines(textdiff.Diff("a", a, "b", b)) {
		text := strings.TrimRight(string(line), "\n")
		switch {
		case text == "", strings.HasPrefix(text, "diff "), strings.HasPrefix(text, "--- a"), strings.HasPrefix(text, "+++ b"):
		case strings.HasPrefix(text, "@@"):
			if len(lines) > 0 {
				lines = append(lines, diffLine{' ', "…"})
			}
		default:
			lines = append(lines, diffLine{text[0], term.OneLine(strings.ReplaceAll(text[1:], "\t", "  "), 2000)})
		}
	}
	return lines
}
