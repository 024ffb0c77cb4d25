package auditcmd

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/stats"
)

const (
	pipeWidth = 100 // of tables that are not printed on a terminal
	leastCell = 8   // what a narrow terminal leaves of a string
	topRows   = 10  // of a list that is one among others
)

// statsPage prints a document for people.
type statsPage struct {
	w     io.Writer
	p     term.Paint
	width int
}

func printStats(a *cli.App, w io.Writer, out *term.Output, home string, d stats.Document) {
	if d.Sessions.Total == 0 && len(d.Damaged) == 0 {
		since := ""
		if d.Since > 0 {
			since = " since " + term.Clock(d.Since)
		}
		fmt.Fprintf(w, "nothing recorded in %s%s\n", home, since)
		return
	}
	page := statsPage{w, a.Paint(out), cmp.Or(a.Columns(out), pipeWidth)}
	page.head(d)
	if d.By != "" {
		page.groups(d.By, d.Groups, len(d.Groups))
		if len(d.Groups) == 0 {
			page.line("\nno call or result has a %s", d.By)
		}
		page.costs(d.Costs)
		return
	}
	page.calls(d)
	page.people(d)
	page.lists(d)
}

// head summarises what was counted and what could not be counted.
func (s statsPage) head(d stats.Document) {
	text := term.Counted(int(d.Sessions.Total), "session", "sessions")
	if d.Sessions.Stopped > 0 {
		text += fmt.Sprintf(", %d stopped", d.Sessions.Stopped)
	}
	fmt.Fprintln(s.w, text)
	if d.First > 0 {
		fmt.Fprintln(s.w, s.p.Faint(term.Clock(d.First)+" to "+term.Clock(d.Last)))
	}
	for _, x := range d.Damaged {
		name := "session " + x.Session
		if x.Session == "" {
			name = "the ledger"
		}
		fmt.Fprintf(s.w, "%s %s counted only up to %s\n", s.p.Verdict("fail"), term.OneLine(name, 60), term.OneLine(x.Error, 300))
	}
}

// calls prints the answers, and the decisions where they differ.
func (s statsPage) calls(d stats.Document) {
	t := table{heads: []string{"CALLS", "ANSWERED", "", "DECISION"}, texts: 1, paint: s.p.Verdict}
	answered, said := verdictsOf(d.Calls), verdictsOf(d.Policy)
	for i, word := range engine.Verdicts() {
		t.add(word, count(answered[i]), share(answered[i], d.Calls.Total), count(said[i]))
	}
	t.add("total", count(d.Calls.Total), "", count(d.Policy.Total))
	if d.Calls == d.Policy {
		t.heads = slices.Delete(t.heads, 3, 4)
		for i := range t.rows {
			t.rows[i] = slices.Delete(t.rows[i], 3, 4)
		}
	}
	s.table(t)
	if d.Prefiltered > 0 {
		s.line("%s allowed by the prefilter", term.Counted(int(d.Prefiltered), "call was", "calls were"))
	}
	if r := d.ReviewTime; r.Count > 0 {
		s.line("")
		s.line("REVIEW TIME  p50 %s, p90 %s, p99 %s, longest %s (%s)", ms(r.P50), ms(r.P90), ms(r.P99), ms(r.Max),
			engine.Counted(r.Count, "review", "reviews"))
	}
	s.cpu(d)
	s.async(d.Async)
	s.checkpoints(d.Checkpoints)
}

// cpu prints how much of the review time was work, and not waiting.
func (s statsPage) cpu(d stats.Document) {
	if r := d.CPUTime; r.Count > 0 {
		s.line("CPU TIME     p50 %s, p90 %s, p99 %s, longest %s (%s, %d slow)", ms(r.P50), ms(r.P90), ms(r.P99), ms(r.Max),
			engine.Counted(r.Count, "review", "reviews"), d.Slow)
	}
}

// async prints the outcome of the calls that were answered before their review.
func (s statsPage) async(a stats.Async) {
	if a.Answered == 0 {
		return
	}
	s.line("ASYNC        %s before the review, of which %d would have been held up",
		engine.Counted(a.Answered, "call was answered", "calls were answered"), a.Reviews.Modify+a.Reviews.Ask+a.Reviews.Block)
	if left := a.Answered - a.Reviews.Total; left > 0 || a.Failed > 0 {
		s.line("             %s still to be made, %d failed", engine.Counted(max(left, 0), "review is", "reviews are"), a.Failed)
	}
}

// checkpoints prints how long calls waited until files were stored.
func (s statsPage) checkpoints(c stats.Checkpoints) {
	for _, t := range []struct {
		when string
		stats.ReviewTime
	}{{"before calls", c.Before}, {"after calls", c.After}} {
		if t.Count > 0 {
			s.line("CHECKPOINTS  p50 %s, p90 %s, p99 %s, longest %s (%d %s)", ms(t.P50), ms(t.P90), ms(t.P99), ms(t.Max), t.Count, t.when)
		}
	}
	if c.Failed > 0 {
		s.line("             %d failed, and %s did not run", c.Failed, term.Counted(int(c.Denied), "call", "calls"))
	}
	if c.Rollbacks > 0 {
		s.line("             %s by policy, of which %d restored nothing", term.Counted(int(c.Rollbacks), "rollback", "rollbacks"), c.NotRestored)
	}
	if c.Left > 0 {
		s.line("             before %s, some files were left out", term.Counted(int(c.Left), "call", "calls"))
	}
}

// fatigue prints how much people are asked, by policy and by agents themselves.
func (s statsPage) fatigue(f stats.Fatigue) {
	granted := int64(0)
	for _, n := range f.Granted {
		granted += n
	}
	if f.Policy+f.Agent+granted == 0 {
		return
	}
	s.line("")
	s.line("FATIGUE      questions of policy: %d; of agents: %d; in %.1f hours of work: %.1f per hour; %d granted without asking",
		f.Policy, f.Agent, f.Hours, f.PerHour, granted)
	if r := f.ApprovedShare; r != nil {
		s.line("             approved, of both together: %s (95 %% interval %s to %s)", percent(r.Rate), percent(r.Low), percent(r.High))
	}
	if t := f.AnswerTime; t.Count > 0 {
		s.line("             time to answer: median %.0f s, 90 %% within %.0f s", t.P50/1000, t.P90/1000)
	}
	if len(f.Waited) > 0 {
		s.line("             waited outside the agent, and ended by: %s", waitedText(f.Waited))
	}
	if r := f.UndoneShare; r != nil {
		s.line("             %d of the approved calls undone later (%s)", f.Undone, percent(r.Rate))
	}
}

func endedText(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d without an answer", n)
}

// waitedText lists what ended questions.
func waitedText(by map[string]int64) string {
	var words []string
	for _, word := range slices.Sorted(maps.Keys(by)) {
		if by[word] > 0 {
			words = append(words, fmt.Sprintf("%s %d", term.OneLine(word, 40), by[word]))
		}
	}
	return strings.Join(words, ", ")
}

// people prints people's answers, and their actions without a question.
func (s statsPage) people(d stats.Document) {
	if q := d.Questions; q.Asked > 0 {
		s.line("")
		s.line("QUESTIONS    %d asked: %d approved, %d refused, %d open%s", q.Asked, q.Approved, q.Refused, q.Open, endedText(q.Ended))
		if r := q.ApprovedShare; r != nil {
			s.line("             approved, of those of policy: %s (95 %% interval %s to %s)", percent(r.Rate), percent(r.Low), percent(r.High))
		}
	}
	s.fatigue(d.Fatigue)
	if len(d.Controls) > 0 {
		var words []string
		for _, c := range d.Controls {
			words = append(words, fmt.Sprintf("%d %s", c.Count, term.OneLine(c.Do, 40)))
		}
		s.line("")
		s.line("PEOPLE       %s", strings.Join(words, ", "))
	}
}

// lists prints the beginning of each list.
func (s statsPage) lists(d stats.Document) {
	s.groups(string(stats.ByTool), d.Tools, topRows)
	s.top(rulesTable(d.Rules), stats.ByRule)
	s.top(patternsTable(d.Patterns), stats.ByPattern)
	s.top(interventionsTable(d), "")
	s.top(observedTable(d.Observed), "")
	errors := table{heads: []string{"ERROR", "OF", "TIMES"}, texts: 2}
	for _, e := range d.Errors {
		errors.add(string(e.What), e.ID, count(e.Count))
	}
	s.top(errors, "")
}

// observedTable compares, by program, what was expected to change with what changed.
func observedTable(list []stats.ObservedProgram) table {
	t := table{heads: []string{"PROGRAM", "CALLS", "PREDICTED", "PRECISION", "CHANGED", "RECALL"}, texts: 1}
	for _, p := range list {
		t.add(p.Program, count(p.Calls), dash(p.Predicted), rate(p.Precision), dash(p.Changed), rate(p.Recall))
	}
	return t
}

func rate(r *stats.Rate) string {
	if r == nil {
		return "-"
	}
	return percent(r.Rate)
}

func rulesTable(list []stats.Rule) table {
	t := table{heads: []string{"RULE", "SAID", "TIMES"}, texts: 2}
	for _, r := range list {
		t.add(r.Rule, string(r.Decision), count(r.Count))
	}
	return t
}

func patternsTable(list []stats.Pattern) table {
	t := table{heads: []string{"PATTERN", "LEVEL", "EVENTS", "SESSIONS"}, texts: 2}
	for _, p := range list {
		t.add(p.Pattern, p.Level, count(p.Count), count(p.Sessions))
	}
	return t
}

// interventionsTable puts the outcomes of the interventions about an issue into one line.
func interventionsTable(d stats.Document) table {
	t := table{heads: []string{"INTERVENTION RULE", "TYPE", "HELPED", "RETURNED", "OPEN", "ESCALATED"}, texts: 2}
	escalated := map[string]int64{}
	for _, e := range d.Escalations {
		escalated[e.Issue] = e.Count
	}
	type line struct{ issue, kind string }
	outcomes, order := map[line]map[stats.Outcome]int64{}, []line{}
	for _, i := range d.Interventions {
		at := line{i.Issue, i.Type}
		if outcomes[at] == nil {
			outcomes[at], order = map[stats.Outcome]int64{}, append(order, at)
		}
		outcomes[at][i.Outcome] = i.Count
	}
	for _, at := range order {
		o := outcomes[at]
		t.add(at.issue, at.kind, count(o[stats.Helped]), count(o[stats.Returned]), count(o[stats.Open]), dash(escalated[at.issue]))
		delete(escalated, at.issue) // shown once per issue
	}
	return t
}

// costs prints what rules cost people.
func (s statsPage) costs(list []stats.Cost) {
	if len(list) == 0 {
		return
	}
	t := table{heads: []string{"RULE", "ASKED", "APPROVED", "REFUSED", "OPEN", "WAITED", "BLOCKED", "OVERRULED"}, texts: 1}
	for _, k := range list {
		t.add(k.Rule, dash(k.Asked), dash(k.Approved), dash(k.Refused), dash(k.Open+k.Ended), seconds(k.WaitedS), dash(k.Blocked),
			dash(k.Overruled))
	}
	s.table(t)
}

// seconds shows a time; a dash if it is unknown.
func seconds(n float64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatFloat(n, 'f', 0, 64) + " s"
}

func (s statsPage) groups(by string, list []stats.Group, most int) {
	t := table{heads: []string{strings.ToUpper(by), "CALLS"}, texts: 1}
	for _, word := range engine.Verdicts() {
		t.heads = append(t.heads, strings.ToUpper(word))
	}
	for _, g := range list {
		cells := []string{g.Key, count(g.Total)}
		for _, n := range verdictsOf(g.Verdicts) {
			cells = append(cells, dash(n))
		}
		t.add(cells...)
	}
	s.first(t, most, stats.Grouping(by))
}

func (s statsPage) top(t table, by stats.Grouping) { s.first(t, topRows, by) }

// first prints the first rows of a table, and how to see the others.
func (s statsPage) first(t table, most int, by stats.Grouping) {
	more := len(t.rows) - most
	t.rows = t.rows[:min(most, len(t.rows))]
	if len(t.rows) == 0 {
		return
	}
	s.table(t)
	how := "-f json"
	if by != "" {
		how = "--by " + string(by)
	}
	if more > 0 {
		s.line("%s", s.p.Faint(fmt.Sprintf("and %d more (%s lists all)", more, how)))
	}
}

func (s statsPage) line(format string, args ...any) { fmt.Fprintf(s.w, format+"\n", args...) }

func (s statsPage) table(t table) {
	s.line("")
	t.write(s.w, s.p, s.width)
}

// table is a grid of cells: first texts, then numbers.
type table struct {
	heads []string
	texts int // columns that hold texts
	rows  [][]string
	paint func(string) string // of the first column; nil: plain
}

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = term.OneLine(cells[i], 120)
	}
	t.rows = append(t.rows, cells)
}

// widths gives each column the width that it needs. If they do not fit on a line, the
// texts become shorter, starting with the first.
func (t *table) widths(line int) []int {
	widths := make([]int, len(t.heads))
	over := 2*(len(t.heads)-1) - line
	for i := range t.heads {
		for _, row := range append([][]string{t.heads}, t.rows...) {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
		over += widths[i]
	}
	for i := 0; i < t.texts && over > 0; i++ {
		cut := min(over, max(0, widths[i]-leastCell))
		widths[i], over = widths[i]-cut, over-cut
	}
	return widths
}

func (t *table) write(w io.Writer, p term.Paint, line int) {
	widths := t.widths(line)
	fmt.Fprintln(w, p.Faint(t.row(t.heads, widths, nil)))
	for _, row := range t.rows {
		fmt.Fprintln(w, t.row(row, widths, t.paint))
	}
}

func (t *table) row(cells []string, widths []int, paint func(string) string) string {
	var line []string
	for i, cell := range cells {
		cell = term.OneLine(cell, widths[i])
		if i < t.texts {
			cell = term.Pad(cell, widths[i])
		} else {
			cell = strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)) + cell
		}
		if i == 0 && paint != nil {
			cell = paint(cell)
		}
		line = append(line, cell)
	}
	return strings.TrimRight(strings.Join(line, "  "), " ")
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

// dash shows zero as a dash, so that other values stand out.
func dash(n int64) string {
	if n == 0 {
		return "-"
	}
	return count(n)
}

func share(k, n int64) string {
	if n == 0 {
		return ""
	}
	return percent(float64(k) / float64(n))
}

func percent(f float64) string { return strconv.FormatFloat(100*f, 'f', 1, 64) + " %" }

func ms(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) + " ms" }
