package incidentcmd

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/webpage"
	"github.com/agent-reviewer/reviewer/engine/incident"
)

// page is a report as a web page.
type page struct {
	*webpage.Page
	*incident.Incident
}

// WritePage writes a report as one web page.
func WritePage(w io.Writer, i *incident.Incident) error {
	p := page{webpage.New("Incident " + i.ID), i}
	p.Put(`<p class="summary">%s</p>`, i.Summary)
	if i.Stopped {
		p.Put(`<p class="remark" role="note">The session is still stopped. <code>reviewer session resume %s</code> resumes it.</p>`, i.Session)
	}
	p.heads()
	p.cause()
	p.factors()
	p.impact()
	if err := p.advice(); err != nil {
		return err
	}
	p.timeline()
	p.End()
	_, err := w.Write(p.Bytes())
	return err
}

// fact is a name and what is written next to it.
type fact struct {
	name string
	text webpage.Markup
}

func said(name, text string) fact { return fact{name, webpage.Breakable(text)} }

// facts writes names with their texts, leaving out those without one.
func (p page) facts(list ...fact) {
	p.Put(`<dl>`)
	for _, f := range list {
		if f.text != "" {
			p.Put(`<dt>%s</dt><dd>%s</dd>`, f.name, f.text)
		}
	}
	p.Put(`</dl>`)
}

func (p page) heads() {
	p.facts(fact{"Severity", webpage.Render(`<span class="word %s">%s</span>`, p.Severity, p.Severity)}, said("State", string(p.State)),
		said("Session", p.Session+" ("+p.Harness+")"), said("Agent", p.Agent), said("Workspace", p.Workspace),
		said("Stopped", p.Time), said("Began", p.Began+", "+span(p.Duration)+" before the stop"),
		said("Resumed", onPage(p.Resumed)), said("Closed", onPage(p.Closed)))
}

func onPage(c *incident.Choice) string {
	if c == nil {
		return ""
	}
	return c.Time + " by " + c.By + term.After(": ", c.Reason)
}

func (p page) cause() {
	c := p.Cause
	p.Put(`<section><h2>Root cause</h2>`)
	p.facts(said("Rule or pattern", c.Issue), said("Level", c.Level), said("Harm", c.Harm), said("Reason", c.Reason),
		said("Message", cmp.Or(c.Message, c.Details)), fact{"Call", webpage.Render(`<code>%s</code>`, webpage.Breakable(c.Call))},
		fact{"Evidence", records(c.Evidence)})
	p.Put(`</section>`)
}

func records(ids []string) webpage.Markup {
	var list []string
	for _, id := range ids {
		list = append(list, string(webpage.Render(`<code>%s</code>`, id)))
	}
	return webpage.Markup(strings.Join(list, " "))
}

func (p page) factors() {
	p.Put(`<section><h2>Contributing factors</h2><ul>`)
	for _, f := range p.Factors {
		p.Put(`<li>%s <span class="faint">%s</span></li>`, f.Text, records(f.Records))
	}
	if len(p.Factors) == 0 {
		p.Put(`<li>None was found in the log.</li>`)
	}
	p.Put(`</ul></section>`)
}

func (p page) impact() {
	p.Put(`<section><h2>Impact</h2>`)
	var list []fact
	for _, c := range counts(p.Impact) {
		list = append(list, said(strings.ToUpper(c.name[:1])+c.name[1:], c.text))
	}
	p.facts(list...)
	if len(p.Impact.Files) > 0 {
		p.Put(`<table><thead><tr><th>Path</th><th class="n">Written</th><th class="n">Deleted</th><th>Undo</th></tr></thead><tbody>`)
		for _, f := range p.Impact.Files {
			p.Put(`<tr><td><code>%s</code>%s</td><td class="n" data-label="written">%d</td><td class="n" data-label="deleted">%d</td>`+
				`<td data-label="undo">%s</td></tr>`, webpage.Breakable(f.Path), outside(f), f.Written, f.Deleted, cmp.Or(undo(f.Undo), "not known"))
		}
		p.Put(`</tbody></table>`)
	}
	p.Put(`</section>`)
}

func outside(f incident.Path) webpage.Markup {
	if !f.Outside {
		return ""
	}
	return ` <span class="faint">outside the workspace</span>`
}

func (p page) advice() error {
	text, err := patch(p.Incident)
	if err != nil {
		return err
	}
	p.Put(`<section><h2>Recommendations</h2>`)
	p.list("Now", p.Advice.Immediate)
	p.list("For later", p.Advice.Preventive)
	if text != "" {
		p.Put(`<h3>Settings</h3><p>As the <code>settings.yaml</code> of a policy layer: `+
			`<code>reviewer incident export %s -f patch</code></p><pre>%s</pre>`, p.ID, text)
	}
	p.Put(`</section>`)
	return nil
}

func (p page) list(title string, texts []string) {
	if len(texts) == 0 {
		return
	}
	p.Put(`<h3>%s</h3><ul>`, title)
	for _, text := range texts {
		p.Put(`<li>%s</li>`, withCode(text))
	}
	p.Put(`</ul>`)
}

// withCode shows text in backquotes as code.
func withCode(text string) webpage.Markup {
	var b strings.Builder
	for n, part := range strings.Split(text, "`") {
		form := `%s`
		if n%2 == 1 {
			form = `<code>%s</code>`
		}
		b.WriteString(string(webpage.Render(form, part)))
	}
	return webpage.Markup(b.String())
}

func (p page) timeline() {
	p.Put(`<section><h2>Timeline</h2><p class="faint">%s</p>`, fmt.Sprintf("The last %s before the stop; %d before them.",
		term.Counted(len(p.Timeline), "event", "events"), p.Earlier))
	p.Put(`<table><thead><tr><th>Before the stop</th><th>Answer</th><th>Outcome</th><th>Call</th><th>Rules</th></tr></thead><tbody>`)
	for _, m := range p.Timeline {
		p.Put(`<tr%s><td class="when">%s</td><td class="word %s">%s</td><td>%s</td><td><code>%s</code>%s</td><td>%s</td></tr>`,
			stopClass(m, p.ID), span(m.Before), word(m), word(m), m.Outcome, webpage.Breakable(m.What), trouble(m),
			webpage.Breakable(strings.Join(m.Rules, ", ")))
	}
	p.Put(`</tbody></table></section>`)
}

func trouble(m *incident.TimelineEntry) webpage.Markup {
	if m.Trouble == "" {
		return ""
	}
	return webpage.Render(`<br><span class="faint">%s</span>`, m.Trouble)
}

func stopClass(m *incident.TimelineEntry, id string) webpage.Markup {
	if m.ID != id {
		return ""
	}
	return ` class="stop"`
}
