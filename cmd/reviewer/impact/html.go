package impact

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's style and script
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"

	"github.com/agent-reviewer/reviewer/engine/simulate"
)

//go:embed html/impact.css
var pageCSS string

//go:embed html/impact.js
var pageJS string

// writeHTML writes a self-contained page: its Content-Security-Policy forbids all
// connections and all styles and scripts except its own. Tables and charts are there
// without a script; the script filters them and draws the time lines of sessions from
// the data at its end.
func writeHTML(w *bytes.Buffer, m *simulate.Impact, o Options) error {
	shown, err := visible(m)
	if err != nil {
		return fmt.Errorf("write the report as a page: %w", err)
	}
	p := &webPage{filtered: len(m.Kinds)+len(m.Changed) > 0}
	p.head("What this policy change would have done")
	p.put(`<p class="summary">%s</p>`, headline(shown))
	for _, doubt := range caveats(shown, o.Exceeded...) {
		p.put(`<p class="remark" role="note">%s</p>`, doubt)
	}
	p.put(`<noscript><p class="remark">Filters and timelines need JavaScript; everything else works without it.</p></noscript>`)
	p.compared(shown)
	p.changes(shown)
	p.matrix("Calls", shown.Calls)
	kinds := byWeight(shown.Kinds)
	p.filters()
	p.kinds(kinds)
	p.sessions(shown)
	p.rules(shown)
	p.trend(shown.Days)
	p.groups("By tool", "tool", shown.Tools)
	p.groups("By workspace", "workspace", shown.Workspaces)
	p.interventions(shown.Interventions)
	p.unclear(shown.Unclear)
	p.duties(shown.Duties)
	p.files(shown.Files)
	p.alarms(alarms(shown.Alarms))
	p.neverFired(shown.NeverFired)
	p.matrixOfEvents(shown.Events)
	p.errors(shown.Errors)
	p.troubles(shown.Sources.Troubles)
	err = p.script(pageData{Kinds: kinds, Sessions: shown.Changed})
	if err != nil {
		return fmt.Errorf("write the report as a page: %w", err)
	}
	p.foot()
	_, err = w.Write(p.Bytes())
	return err
}

// pageData is the data for the script.
type pageData struct {
	Kinds    []simulate.Kind          `json:"kinds"`
	Sessions []simulate.SessionChange `json:"sessions"`
}

type webPage struct {
	bytes.Buffer
	filtered bool // it has filters, and the script with its data
}

// markup is HTML that put does not escape again.
type markup string

// put writes HTML. Every text among the arguments is escaped, and every int64, which
// is a count, is grouped: no other function writes text to the page.
func (p *webPage) put(format string, args ...any) {
	for i, a := range args {
		args[i] = escaped(a)
	}
	fmt.Fprintf(p, format+"\n", args...)
}

func escaped(a any) any {
	switch a := a.(type) {
	case markup, int, float64:
		return a
	case int64:
		return term.Thousands(a)
	}
	return html.EscapeString(fmt.Sprint(a))
}

// render returns what put would write, for use inside other markup.
func render(format string, args ...any) markup {
	var p webPage
	p.put(format, args...)
	return markup(strings.TrimSuffix(p.String(), "\n"))
}

func (p *webPage) head(title string) {
	p.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; style-src '%s'; script-src '%s'">
<meta name="referrer" content="no-referrer">
<title>%s</title>`, sourceHash(pageCSS), sourceHash(pageJS), title)
	p.WriteString("<style>" + pageCSS + "</style>\n</head>\n<body>\n<main>\n")
	p.put(`<h1>%s</h1>`, title)
}

// sourceHash names a style or script in a Content-Security-Policy.
func sourceHash(source string) markup {
	sum := sha256.Sum256([]byte(source))
	return markup("sha256-" + base64.StdEncoding.EncodeToString(sum[:]))
}

// script writes the script and its data. json.Marshal writes <, > and & as
// escapes, so no text in the data can end the element that it is in.
func (p *webPage) script(data pageData) error {
	if !p.filtered {
		return nil
	}
	text, err := json.Marshal(data)
	p.WriteString("<script type=\"application/json\" id=\"data\">")
	p.Write(text)
	p.WriteString("</script>\n<script>" + pageJS + "</script>\n")
	return err
}

func (p *webPage) foot() { p.WriteString("</main>\n</body>\n</html>\n") }

// visible returns a copy in which every character that is invisible, or that changes
// the direction of what follows, is written as an escape such as \u202e. This prevents
// commands from looking like other commands.
func visible[T any](of T) (T, error) {
	var text bytes.Buffer
	var shown T
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(of); err != nil {
		return shown, err
	}
	err := json.Unmarshal(visibleJSON(text.String()), &shown)
	return shown, err
}
