package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's style and script
	"encoding/base64"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

//go:embed html/coverage.css
var coverageCSS string

//go:embed html/coverage.js
var coverageJS string

// writeCoverageHTML writes a self-contained page. Its Content-Security-Policy forbids
// connections and all scripts except the one below, because sources are untrusted.
func writeCoverageHTML(b *bytes.Buffer, c *Coverage, sources Sources) error {
	p := &coveragePage{Buffer: b, files: c.byFile(), ids: map[string]int{}, sources: sources}
	for i, name := range slices.Sorted(maps.Keys(p.files)) {
		p.ids[name] = i + 1
	}
	p.head()
	p.kinds(c)
	p.put(`<div class="tools"><input type="search" id="search" placeholder="Filter files and names" aria-label="Filter files and names">
<label><input type="checkbox" id="missed"> only uncovered</label></div>
<p id="nothing" class="faint" hidden>No matches.</p>`)
	p.sections(c)
	p.WriteString("<script>" + coverageJS + "</script>\n</body>\n</html>\n")
	return nil
}

type coveragePage struct {
	*bytes.Buffer
	files   map[string]*fileCoverage
	ids     map[string]int // of files, for links
	sources Sources
}

// put writes HTML. Every text among the arguments is escaped: no other function writes
// text to the page.
func (p *coveragePage) put(format string, args ...any) {
	for i, a := range args {
		if text, ok := a.(string); ok {
			args[i] = html.EscapeString(term.Printable(text))
		}
	}
	fmt.Fprintf(p, format+"\n", args...)
}

func (p *coveragePage) head() {
	sum := sha256.Sum256([]byte(coverageJS))
	p.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-%s'">
<title>Coverage of the policy</title>`, base64.StdEncoding.EncodeToString(sum[:]))
	p.WriteString("<style>\n" + coverageCSS + "</style>\n</head>\n<body>\n")
}

func (p *coveragePage) kinds(c *Coverage) {
	p.put(`<h1>Coverage of the policy</h1>`)
	for _, u := range c.Under {
		p.put(`<p class="under">%s</p>`, under(u))
	}
	p.put(`<div class="scroll"><table><tr><th>What</th><th class="n">Covered</th><th class="n">Total</th>` +
		`<th class="n">%%</th><th class="bar"></th></tr>`)
	for _, k := range c.Kinds {
		share := percent(k.Covered, k.Total)
		p.put(`<tr><td>%s</td><td class="n">%d</td><td class="n">%d</td><td class="n">%s</td><td class="bar">`+
			`<meter value="%d" max="%d" aria-label="%s">%s %%</meter></td></tr>`,
			k.Name, k.Covered, k.Total, share, k.Covered, max(k.Total, 1), k.Name, share)
	}
	p.put(`</table></div>`)
}

func (p *coveragePage) sections(c *Coverage) {
	if len(p.files) > 0 {
		p.put(`<section class="group"><h2>Files</h2>`)
		for _, name := range slices.Sorted(maps.Keys(p.files)) {
			p.file(name, p.files[name])
		}
		p.put(`</section>`)
	}
	for _, k := range c.Kinds {
		p.cells(k, c.Cells)
	}
}

// file shows a file folded: how much of it is covered, where it is not, and its
// source.
func (p *coveragePage) file(name string, f *fileCoverage) {
	bad := f.bad()
	p.put(`<details data-name="%s" data-missed="%d"><summary><span class="name">%s</span><span class="n">%s %%</span></summary>`,
		name, count(len(bad) > 0), breakable(name), percent(f.share()))
	if len(bad) > 0 {
		p.put(`<p class="where faint">Not covered, or only partly: %s</p>`, p.links(name, bad))
	}
	p.source(name, f)
	p.put(`</details>`)
}

// markup is HTML that put does not escape again.
type markup string

// breakable allows a file's name to wrap after its slashes.
func breakable(name string) markup {
	return markup(strings.ReplaceAll(html.EscapeString(term.Printable(name)), "/", "/<wbr>"))
}

func (p *coveragePage) links(name string, bad []int) markup {
	var links []string
	for _, s := range spans(bad) {
		links = append(links, fmt.Sprintf(`<a href="#f%dL%d">%s</a>`, p.ids[name], s.first, s))
	}
	return markup(strings.Join(links, ", "))
}

func (p *coveragePage) source(name string, f *fileCoverage) {
	text := p.sources(name)
	if text == nil {
		return
	}
	p.WriteString(`<div class="scroll"><pre>`)
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		fmt.Fprintf(p, `<span id="f%dL%d" data-n="%d"%s>%s</span>`, p.ids[name], i+1, i+1, f.attributes(i+1),
			html.EscapeString(term.Printable(strings.TrimSuffix(line, "\r"))))
	}
	p.put(`</pre></div>`)
}

// attributes returns the style of a line, and what is not covered.
func (f *fileCoverage) attributes(line int) string {
	hit, code := f.hit[line]
	missing := f.missing(line)
	switch {
	case !code:
		return ""
	case !hit:
		return ` class="miss"`
	case len(missing) > 0:
		return fmt.Sprintf(` class="part" title="%s"`, html.EscapeString("not covered: "+strings.Join(missing, "; ")))
	}
	return ` class="hit"`
}

// share counts the covered lines of a file, and the cells of lines with cells one by
// one.
func (f *fileCoverage) share() (covered, total int) {
	cells := map[int]bool{}
	for _, c := range f.cells {
		cells[c.Line] = true
		covered, total = covered+count(c.Covered), total+1
	}
	for n, hit := range f.hit {
		if !cells[n] {
			covered, total = covered+count(hit), total+1
		}
	}
	return covered, total
}

// bad lists the lines that are not reached, or of which something is missing.
func (f *fileCoverage) bad() []int {
	var list []int
	for _, n := range slices.Sorted(maps.Keys(f.hit)) {
		if !f.hit[n] || len(f.missing(n)) > 0 {
			list = append(list, n)
		}
	}
	return list
}

// cells lists the cells of a kind, folded where all are covered.
func (p *coveragePage) cells(k Kind, all []Cell) {
	list := slices.DeleteFunc(slices.Clone(all), func(c Cell) bool { return c.Kind != k.Name })
	if len(list) == 0 {
		return
	}
	open := markup("")
	if k.Covered < k.Total {
		open = " open"
	}
	p.put(`<section class="group"><h2>%s</h2><details class="kind"%s><summary>%d of %d covered</summary><div class="scroll"><table>`,
		k.Name, open, k.Covered, k.Total)
	for _, c := range list {
		mark, word := "hit", "✓ covered"
		if !c.Covered {
			mark, word = "miss", "✗ not covered"
		}
		p.put(`<tr data-name="%s" data-missed="%d"><td class="%s">%s</td><td class="name">%s</td><td class="name">%s</td></tr>`,
			c.Name+" "+c.File, count(!c.Covered), mark, word, c.Name, p.place(c.Place))
	}
	p.put(`</table></div></details></section>`)
}

// place is a link if the line is on the page.
func (p *coveragePage) place(at Place) markup {
	text := breakable(at.String())
	if at.Line == 0 || p.sources(at.File) == nil {
		return text
	}
	return markup(fmt.Sprintf(`<a href="#f%dL%d">%s</a>`, p.ids[at.File], at.Line, text))
}
