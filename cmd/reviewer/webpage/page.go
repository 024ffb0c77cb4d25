// Package webpage writes reports as self-contained HTML pages: their
// Content-Security-Policy forbids scripts, connections and all styles except the
// page's own.
//
// Out of scope: the contents of the reports.
package webpage

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the style of all pages
	"encoding/base64"
	"fmt"
	"html"
	"strings"
	"unicode"
)

//go:embed page.css
var css string

// Page is a page under construction.
type Page struct{ bytes.Buffer }

// Markup is HTML that Put does not escape again.
type Markup string

// Put writes HTML. Every text among the arguments is escaped: no other method writes
// text to the page.
func (p *Page) Put(format string, args ...any) {
	for i, a := range args {
		args[i] = escaped(a)
	}
	fmt.Fprintf(p, format+"\n", args...)
}

func escaped(a any) any {
	switch a := a.(type) {
	case Markup, int, int64, float64:
		return a
	}
	return html.EscapeString(Visible(fmt.Sprint(a)))
}

// Render returns what Put would write, for use inside other markup.
func Render(format string, args ...any) Markup {
	var p Page
	p.Put(format, args...)
	return Markup(strings.TrimSuffix(p.String(), "\n"))
}

// New begins a page.
func New(title string) *Page {
	p := &Page{}
	p.Put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; style-src '%s'">
<meta name="referrer" content="no-referrer">
<title>%s</title>`, sourceHash(css), title)
	p.WriteString("<style>" + css + "</style>\n</head>\n<body>\n<main>\n")
	p.Put(`<h1>%s</h1>`, title)
	return p
}

// End ends the page.
func (p *Page) End() { p.WriteString("</main>\n</body>\n</html>\n") }

// StyleSource names the style of all pages in a Content-Security-Policy.
func StyleSource() string { return "'" + string(sourceHash(css)) + "'" }

// sourceHash names a style in a Content-Security-Policy.
func sourceHash(source string) Markup {
	sum := sha256.Sum256([]byte(source))
	return Markup("sha256-" + base64.StdEncoding.EncodeToString(sum[:]))
}

// Breakable lets a name wrap after the characters that separate its parts.
func Breakable(name string) Markup {
	return Markup(strings.NewReplacer("/", "/<wbr>", "_", "_<wbr>").Replace(html.EscapeString(Visible(name))))
}

// Visible writes each character that is invisible, or that changes the direction of
// what follows, as an escape such as \u202e, so that a command cannot look like
// another one.
func Visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
