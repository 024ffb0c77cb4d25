package impact

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// GitHub refuses a comment above 65,536 characters as a whole. These limits are
// in bytes, of which there are never fewer.
const (
	maxComment = 65_000
	reserve    = 3000 // for the end of the comment
	maxKinds   = 20_000
	maxList    = 4500 // of any other list
	maxText    = 1000 // of one string
)

// markdown writes a comment on a pull request. External text is escaped by code or
// prose, so that it is neither Markdown nor HTML.
type markdown struct{ *bytes.Buffer }

// writeGitHub writes Markdown: the sentence and the matrix are visible, the rest is
// folded.
func writeGitHub(b *bytes.Buffer, m *simulate.Impact, o Options) error {
	d := markdown{b}
	d.title(mark(m), headline(m), caveats(m, o.Exceeded...))
	d.grid("calls", m.Calls)
	d.grid("other events", m.Events)
	d.sides(m)
	d.kinds(m.Kinds)
	d.fold("Rules", changedRules("RULE", m.Rules, false))
	d.fold("Patterns", changedRules("PATTERN", m.Rules, true))
	d.fold("Interventions", groups("INTERVENTION", "NAMED", m.Interventions))
	d.fold("Decisions that could not be compared", unclears(m.Unclear))
	d.fold("Stops, questions, rollbacks and limits, by session", duties(m.Duties))
	d.fold("Checkpoints and rollbacks", fileSteps(m.Files))
	d.fold("Questions by permission mode", groups("MODE", "ASKED", m.Modes))
	d.fold("Over time", trend(m.Days))
	d.fold("Tools", groups("TOOL", "HELD UP", m.Tools))
	d.fold("Workspaces", groups("WORKSPACE", "HELD UP", m.Workspaces))
	d.fold("Sessions", sessions(m.Changed))
	d.bullets("People's answers", alarms(m.Alarms))
	d.bullets("Fidelity", fidelity(m.Fidelity))
	d.bullets("Never fired", neverFired(m))
	d.bullets("Decisions that failed", failed(m))
	d.bullets("Not read or not understood", troubles(m))
	command := fmt.Sprintf("reviewer policy simulate --baseline %s --candidate %s -f html -o report.html",
		quoted(m.Baseline.Name), quoted(m.Candidate.Name))
	d.line("\nTo see it session by session, over the same logs or your own: %s", code(command))
	return nil
}

// mark is the sign for the outcome of a comparison.
func mark(m *simulate.Impact) string {
	switch {
	case m.Partial != "" || infidelity(m.Fidelity) != "" || failures(m) > 0:
		return "❌"
	case headlineColour(m) == term.Good:
		return "✅"
	}
	return "⚠️"
}

func (d markdown) line(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

func (d markdown) title(mark, headline string, doubts []string) {
	d.line("### %s reviewer policy simulate\n\n**%s**", mark, prose(headline))
	for _, text := range doubts {
		word, rest, _ := strings.Cut(text, ": ")
		d.line("\n> **%s**: %s", word, prose(rest))
	}
}

// code formats literal text, shortened to the available room.
func code(s string) string { return bounded(s, report.MarkdownCode) }

// prose escapes a sentence, so that quoted text cannot become a mention or a link.
func prose(s string) string { return bounded(s, inert) }

func inert(s string) string {
	return strings.NewReplacer("&#64;", "&#64;&#8203;", "&#", "&#", "#", "#&#8203;", "www.", "www&#46;").Replace(report.MarkdownText(s))
}

// bounded cuts a string until it takes no more than maxText when it is escaped.
func bounded(s string, escape func(string) string) string {
	text := term.PrintableLine(s)
	for n := 400; ; n /= 2 {
		if escaped := escape(term.Cut(text, n)); len(escaped) <= maxText || n < 2 {
			return escaped
		}
	}
}

// grid is the matrix, without the verdicts that do not occur.
func (d markdown) grid(name string, t simulate.Tally) {
	from, to := verdictsOf(t.Matrix)
	if changed(t) == 0 {
		return
	}
	head, rule := "\n| "+name+" |", "| --- |"
	for _, v := range to {
		head, rule = head+" to "+string(v)+" |", rule+" ---: |"
	}
	d.line("%s\n%s", head, rule)
	for _, f := range from {
		row := "| from " + string(f) + " |"
		for _, v := range to {
			row += " " + weight(transition(f, v, cellOf(t.Matrix, f, v))) + " |"
		}
		d.line("%s", row)
	}
	if sum(split(t.After)) > 0 {
		d.line("\n<sub>+n: n more after the first difference in their session; what the agent would have done after that is unknown.</sub>")
	}
}

// weight makes changes stand out.
func weight(c term.Cell) string {
	if c.Colour == more || c.Colour == less {
		return "**" + c.Text + "**"
	}
	return c.Text
}

func (d markdown) sides(m *simulate.Impact) {
	d.line("\nBaseline: %s  \nCandidate: %s", code(named(m.Baseline)), code(named(m.Candidate)))
	for _, text := range policyDifferences(m) {
		if what, ids, found := strings.Cut(text, ": "); found {
			d.line("- %s: %s", prose(what), code(ids))
		} else {
			d.line("- %s", prose(text))
		}
	}
	d.sources(m)
}

func (d markdown) sources(m *simulate.Impact) {
	d.line("\nRead: %s", prose(strings.Join(read(m), "; ")))
	if text := selected(m.Selection); text != "" {
		d.line("\nOnly: %s", prose(text))
	}
}

// kinds shows each kind of change with its smallest example.
func (d markdown) kinds(kinds []simulate.Kind) {
	if len(kinds) == 0 {
		return
	}
	d.open("Kinds of change ("+term.Thousands(int64(len(kinds)))+")", " open")
	d.line("| change | count | by | smallest example |\n| --- | ---: | --- | --- |")
	var rows []string
	for _, k := range byWeight(kinds) {
		lines := witness(k.Example)
		for i := range lines {
			if i == 0 {
				lines[i] = code(lines[i])
			} else {
				lines[i] = prose(lines[i])
			}
		}
		rows = append(rows, fmt.Sprintf("| **%s**<br>%s | %s | %s | %s |", prose(string(k.State)),
			strings.ReplaceAll(prose(arrow(k.From, k.To)), " ", "&nbsp;"), countText(k.Count, k.After), code(cause(k)), strings.Join(lines, "<br>")))
	}
	d.rows(rows, maxKinds)
	for _, text := range explainEntry(kinds) {
		d.line("\n<sub>%s</sub>", prose(text))
	}
	d.close()
}

// fold writes a folded table.
func (d markdown) fold(name string, t term.Table) {
	if len(t.Rows) == 0 {
		return
	}
	d.open(name+" ("+term.Thousands(int64(len(t.Rows)))+")", "")
	d.table(t)
	d.close()
}

func (d markdown) table(t term.Table) {
	t.Compact()
	head, rule := "|", "|"
	for _, c := range t.Columns {
		head += " " + strings.ToLower(c.Head) + " |"
		if c.Text {
			rule += " --- |"
		} else {
			rule += " ---: |"
		}
	}
	d.line("%s\n%s", head, rule)
	var rows []string
	for _, row := range t.Rows {
		line := "|"
		for i, c := range row {
			if t.Columns[i].Text {
				c.Text = code(c.Text)
			}
			line += " " + c.Text + " |"
		}
		rows = append(rows, line)
	}
	d.rows(rows, maxList)
}

// bullets writes a folded list of sentences.
func (d markdown) bullets(name string, list []string) {
	if len(list) == 0 {
		return
	}
	d.open(name, "")
	var rows []string
	for _, text := range list {
		rows = append(rows, "- "+prose(text))
	}
	d.rows(rows, maxList)
	d.close()
}

func (d markdown) open(name, open string) {
	d.line("\n<details%s><summary>%s</summary>\n", open, name)
}

func (d markdown) close() { d.line("\n</details>") }

// rows writes as many rows as there is room for, and the number of the others.
func (d markdown) rows(rows []string, most int) {
	end := min(d.Len()+most, maxComment-reserve)
	for i, row := range rows {
		if d.Len()+len(row) >= end {
			d.line("\n… and %s more (-f json or -f html has all)", term.Thousands(int64(len(rows)-i)))
			return
		}
		d.line("%s", row)
	}
}

// quoted quotes a string for a shell.
func quoted(s string) string {
	safe := strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=-", r)
	}) < 0
	if s != "" && safe {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
