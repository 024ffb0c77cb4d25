package incidentcmd

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/incident"
)

// shownEntries and shownPaths are how many of the latest a report for the terminal has.
const (
	shownEntries = 12
	shownPaths   = 8
)

const left = 13 // column of the texts

// report is a report on a terminal.
type report struct {
	term.Page
	*incident.Incident
	whole bool
}

// writeText writes a report for the terminal.
func writeText(w io.Writer, i *incident.Incident, paint term.Paint, width int, whole bool) error {
	r := report{term.Page{Buffer: &bytes.Buffer{}, Paint: paint, Width: width}, i, whole}
	r.Paragraph(term.Bold, fmt.Sprintf("Incident %s: %s, %s", i.ID, i.State, i.Severity))
	r.Paragraph("", i.Summary)
	r.heads()
	r.cause()
	r.factors()
	r.impact()
	if err := r.advice(); err != nil {
		return err
	}
	r.timeline()
	_, err := w.Write(r.Bytes())
	return err
}

func (r *report) section(title string) {
	r.Line()
	r.Paragraph(term.Bold, title)
}

func (r *report) field(name, text string) {
	if text != "" {
		r.Field("  "+name, left, "", text)
	}
}

func (r *report) item(text string) { r.Field("  -", 4, "", text) }

func (r *report) heads() {
	r.Line()
	r.field("session", fmt.Sprintf("%s of %s%s", r.Session, r.Harness, stillStopped(r.Incident)))
	r.field("agent", r.Agent)
	r.field("workspace", r.Workspace)
	r.field("stopped", local(r.Time))
	r.field("began", fmt.Sprintf("%s (%s before the stop)", local(r.Began), span(r.Duration)))
	r.field("resumed", chosen(r.Resumed))
	r.field("closed", chosen(r.Closed))
}

func chosen(c *incident.Choice) string {
	if c == nil {
		return ""
	}
	return local(c.Time) + " by " + c.By + term.After(": ", c.Reason)
}

func (r *report) cause() {
	c := r.Cause
	r.section("Root cause")
	r.field("rule", c.Issue+term.After(", level ", c.Level)+term.After(", harm ", c.Harm))
	r.field("reason", c.Reason)
	r.field("message", cmp.Or(c.Message, c.Details))
	r.field("call", c.Call)
	r.field("evidence", strings.Join(c.Evidence, " "))
}

func (r *report) factors() {
	r.section("Contributing factors")
	for _, f := range r.Factors {
		r.item(f.Text)
	}
	if len(r.Factors) == 0 {
		r.item("None was found in the log.")
	}
}

func (r *report) impact() {
	r.section("Impact")
	for _, count := range counts(r.Impact) {
		r.field(count.name, count.text)
	}
	files := r.Impact.Files
	if !r.whole {
		files = files[max(0, len(files)-shownPaths):]
	}
	for _, f := range files {
		r.item(pathText(f))
	}
	if n := int(r.Impact.Written+r.Impact.Deleted) - len(files); len(files) < len(r.Impact.Files) && n > 0 {
		r.Field("", 4, term.Faint, "Earlier ones: `reviewer incident show "+r.ID+" --all`")
	}
}

// count is a line about an impact.
type count struct{ name, text string }

// counts describes an impact in numbers.
func counts(i incident.Impact) []count {
	list := []count{
		{"calls", fmt.Sprintf("%d; %d denied, %d asked about, %d failed; %s", i.Calls, i.Denied, i.Asked, i.Failed,
			term.Counted(int(i.Prompts), "prompt", "prompts"))},
		{"files", fmt.Sprintf("%d written, %d deleted", i.Written, i.Deleted)},
		{"resources", fmt.Sprintf("%s, %s, %s", term.Counted(int(i.Requests), "network call", "network calls"),
			term.Counted(int(i.Agents), "sub-agent", "sub-agents"), term.Counted(int(i.System), "change to the system", "changes to the system"))},
		{"duration", span(i.Span) + " since the session began; " + span(i.Busy) + " in calls"},
	}
	for _, more := range []count{{"hosts", strings.Join(i.Hosts, ", ")}, {"running", strings.Join(i.Processes, "; ")}} {
		if more.text != "" {
			list = append(list, more)
		}
	}
	return list
}

func pathText(p incident.Path) string {
	var did []string
	if p.Written > 0 {
		did = append(did, fmt.Sprintf("written %s", times(p.Written)))
	}
	if p.Deleted > 0 {
		did = append(did, fmt.Sprintf("deleted %s", times(p.Deleted)))
	}
	if p.Outside {
		did = append(did, "outside the workspace")
	}
	return p.Path + ": " + strings.Join(did, ", ") + term.After("; undo: ", undo(p.Undo))
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return engine.Counted(n, "time", "times")
}

// undo describes how an effect can be undone; empty: unknown.
func undo(r engine.Reversibility) string {
	return map[engine.Reversibility]string{
		engine.R0: "nothing to undo", engine.R1: "by the tool", engine.R2: "by git", engine.R3: "at a cost", engine.R4: "not on this machine",
		engine.R5: "never",
	}[r]
}

func (r *report) advice() error {
	for _, part := range []struct {
		title string
		list  []string
	}{{"Recommended now", r.Advice.Immediate}, {"Recommended for later", r.Advice.Preventive}} {
		if len(part.list) > 0 {
			r.section(part.title)
		}
		for _, text := range part.list {
			r.item(text)
		}
	}
	text, err := patch(r.Incident)
	if err != nil || text == "" {
		return err
	}
	r.section("Recommended settings (reviewer incident export " + r.ID + " -f patch)")
	for line := range strings.Lines(text) {
		r.Line(term.Plain("  " + strings.TrimSuffix(line, "\n")))
	}
	return nil
}

func (r *report) timeline() {
	moments := r.Timeline
	if !r.whole {
		moments = moments[max(0, len(moments)-shownEntries):]
	}
	r.section(fmt.Sprintf("Timeline (the last %d of %d)", len(moments), int64(len(r.Timeline))+r.Earlier))
	for _, m := range moments {
		r.Line(term.Coloured(fmt.Sprintf("  %9s ", before(m)), term.Faint), term.Coloured(term.Pad(word(m), 8), term.VerdictColour(word(m))),
			term.Plain(term.Pad(string(m.Outcome), 8)+m.What))
		if len(m.Rules) > 0 {
			r.Line(term.Coloured("            "+strings.Join(m.Rules, ", ")+term.After("; ", m.Done), term.Faint))
		}
	}
}

// before returns how long before the stop something happened.
func before(m *incident.TimelineEntry) string {
	if m.Before == 0 {
		return "stop"
	}
	return "-" + span(m.Before)
}

// word returns the answer to a call, or the kind of an entry.
func word(m *incident.TimelineEntry) string { return cmp.Or(string(m.Answer), string(m.Kind)) }

// span writes milliseconds as hours, minutes and seconds.
func span(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d < time.Second {
		return fmt.Sprintf("%dms", ms)
	}
	return d.Round(time.Second).String()
}

// local writes a time of a document in local time.
func local(rfc3339 string) string {
	t, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return rfc3339
	}
	return term.Clock(t.UnixMilli())
}
