package impact_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/impact"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

var pagesTo = flag.String("pages", "", "folder to write the pages to that the tests make, to look at them in a browser")

// pages are made of every sample.
func pages(t *testing.T) map[string]string {
	t.Helper()
	list := map[string]string{}
	for name, m := range map[string]*simulate.Impact{
		"empty": empty(), "calm": calm(), "busy": busy(), "partial": partial(), "crowd": crowd(8, 30), "besieged": besieged(),
	} {
		list[name] = string(write(t, "html", m, impact.Options{Show: true}))
	}
	list["sweep"] = string(writeSweep(t, "html", sweep(), impact.Options{Show: true}))
	list["steep"] = string(writeSweep(t, "html", steep(), impact.Options{Show: true}))
	return list
}

func TestPagesToLookAt(t *testing.T) {
	if *pagesTo == "" {
		t.Skip("no -pages")
	}
	list := pages(t)
	list["crowd"] = string(write(t, "html", crowd(40, 60), impact.Options{Show: true}))
	list["largest"] = string(write(t, "html", crowd(simulate.MaxChanged, 300), impact.Options{Show: true}))
	for name, page := range list {
		if err := os.WriteFile(filepath.Join(*pagesTo, name+".html"), []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A page is well formed: what is open is closed, in order, and an id is used
// once.
func TestPageWellFormed(t *testing.T) {
	for name, page := range pages(t) {
		if err := wellFormed(page); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// wellFormed reads a page as XML, with the elements that HTML never closes
// closed. Scripts are left out: they are not markup.
func wellFormed(page string) error {
	page = script.ReplaceAllString(strings.TrimPrefix(page, "<!doctype html>"), "")
	d := xml.NewDecoder(strings.NewReader(void.ReplaceAllString(page, "<$1/>")))
	d.Entity = xml.HTMLEntity
	ids := map[string]bool{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		start, _ := token.(xml.StartElement)
		for _, a := range start.Attr {
			if a.Name.Local == "id" && ids[a.Value] {
				return errors.New("two elements have the id " + a.Value)
			}
			ids[a.Value] = ids[a.Value] || a.Name.Local == "id"
		}
	}
}

var (
	void      = regexp.MustCompile(`<((?:meta|br|wbr|input)\b[^>]*)>`)
	script    = regexp.MustCompile(`(?s)<script[^>]*>.*?</script>`)
	dataOf    = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)
	reference = regexp.MustCompile(`(?i)https?:|//|url\(|@import|<link|<base|<iframe|<object|<embed|<img|srcset=|\bsrc=|\bhref="[^#]|\bstyle=|\son[a-z]+=|javascript:|createElementNS|innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|fetch\(|XMLHttp|WebSocket|import\(`)
)

// Whatever a page is about, it refers to nothing outside itself, and neither
// has markup that runs nor makes any.
func TestPageReachesForNothing(t *testing.T) {
	for name, m := range map[string]*simulate.Impact{"empty": empty(), "calm": calm(), "partial": partial()} {
		checkReferences(t, name, string(write(t, "html", m, impact.Options{Show: true})))
	}
	checkReferences(t, "sweep", string(writeSweep(t, "html", sweep(), impact.Options{Show: true})))
	m := crowd(3, 10)
	for i := range m.Kinds {
		m.Kinds[i].Example = m.Changed[0].Steps[1] // names no host
	}
	for i := range m.Changed {
		m.Changed[i].First = m.Changed[0].Steps[1]
	}
	m.Sources.Troubles = nil
	checkReferences(t, "crowd", string(write(t, "html", m, impact.Options{Show: true})))
}

func checkReferences(t *testing.T, name, page string) {
	t.Helper()
	page = comments.ReplaceAllString(dataOf.ReplaceAllString(page, ""), "\n")
	if at := reference.FindStringIndex(page); at != nil {
		t.Errorf("%s refers to something outside: …%s", name, page[max(at[0]-40, 0):min(at[1]+60, len(page))])
	}
}

var comments = regexp.MustCompile(`\n *//[^\n]*`)

// Its own policy forbids everything but the style and the script that it has.
func TestPagePolicy(t *testing.T) {
	page := string(write(t, "html", busy(), impact.Options{Show: true}))
	policy := regexp.MustCompile(`content="(default-src[^"]*)"`).FindStringSubmatch(page)[1]
	want := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" + hashOf(t, page, "style") + "'; script-src 'sha256-" + hashOf(t, page, "script") + "'"
	if policy != want {
		t.Errorf("got policy  %s\nwant policy %s", policy, want)
	}
}

func hashOf(t *testing.T, page, element string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(page, -1)
	if len(found) != 1 {
		t.Fatalf("%d elements %s, want 1", len(found), element)
	}
	sum := sha256.Sum256([]byte(found[0][1]))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// A hostile text stays text: the page has the elements that it has with any
// other text, and the data holds the text as it came except for what cannot be seen.
func TestPageHostile(t *testing.T) {
	page := string(write(t, "html", besieged(), impact.Options{Show: true}))
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("%d scripts, want 2", n)
	}
	for _, bad := range []string{"<img", "<!--", "\u202e", "\u2028", "\x1b", "\xff", "window.pwned=1</"} {
		if at := strings.Index(page, bad); at >= 0 {
			t.Errorf("%q is on the page: …%q", bad, page[max(at-60, 0):min(at+60, len(page))])
		}
	}
	step := stepsOf(t, page)[0]
	want := `</script><script>window.pwned=1</script><!--<script>\u2028'"><img src=x onerror=window.pwned=2>\u001b[31m\u202e\ufffd`
	if step.Resource != want {
		t.Errorf("got  %q\nwant %q", step.Resource, want)
	}
}

// stepsOf reads the steps of a page's first session.
func stepsOf(t *testing.T, page string) []simulate.Step {
	t.Helper()
	var data struct{ Sessions []simulate.SessionChange }
	if err := json.Unmarshal([]byte(dataOf.FindStringSubmatch(page)[1]), &data); err != nil {
		t.Fatal(err)
	}
	return data.Sessions[0].Steps
}

func FuzzPageText(f *testing.F) {
	for _, seed := range []string{hostile, "plain", "a\nb\tc", `\u0041 \\u`, "\x00\x7f\u00ad\U000e0041", "%s %d %!", "&lt;&#x3c;"} {
		f.Add(seed)
	}
	frame := elements(pageWith(f, "x"))
	f.Fuzz(func(t *testing.T, text string) {
		text = "x" + text // without any, lines are left out
		page := pageWith(t, text)
		if diff := cmp.Diff(frame, elements(page)); diff != "" {
			t.Errorf("%q changes the page's elements:\n%s", text, diff)
		}
		for _, r := range page {
			if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
				t.Fatalf("%q puts %U onto the page", text, r)
			}
		}
		if got := stepsOf(t, page)[0].Resource; seen(text) && got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}

// seen texts are shown as they are.
func seen(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) })
}

// pageWith is a small page that holds the text in every kind of place.
func pageWith(t testing.TB, text string) string {
	t.Helper()
	m := busy()
	m.Baseline.Name, m.Kinds[0].Rule, m.Changed[0].Workspace = text, text, text
	for _, s := range []*simulate.Step{&m.Kinds[0].Example, &m.Changed[0].First, &m.Changed[0].Steps[0]} {
		s.Resource, s.Reason, s.Tool, s.State, s.From, s.ToRules = text, text, text, simulate.State(text), engine.Verdict(text), []string{text}
	}
	var b strings.Builder
	if err := impact.Write(&b, "html", m, impact.Options{Show: true}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var element = regexp.MustCompile(`</?[a-z0-9]+`)

// elements are the names of a page's tags in order, but for places where a line
// may break.
func elements(page string) []string {
	return slices.DeleteFunc(element.FindAllString(page, -1), func(s string) bool { return s == "<wbr" })
}

// The same Impact gives the same bytes.
func TestPageDeterministic(t *testing.T) {
	first, second := pages(t), pages(t)
	for name := range first {
		if first[name] != second[name] {
			t.Errorf("%s: two pages differ", name)
		}
	}
}

// What is bounded by an Impact bounds the page.
func TestPageBounded(t *testing.T) {
	page := write(t, "html", crowd(simulate.MaxChanged, 300), impact.Options{Show: true})
	if most := 60 << 20; len(page) > most {
		t.Errorf("the largest page has %d bytes, want at most %d", len(page), most)
	}
}

// What a page says without its script: everything but the time lines.
func TestPageSays(t *testing.T) {
	m := busy()
	page := text(write(t, "html", m, impact.Options{Show: true}))
	var want []string
	for _, k := range m.Kinds {
		told := k.Example.Resource
		if e := k.Example.Example; e != nil {
			told = e.Events[0].Text
		}
		want = append(want, k.Rule, told, k.Example.Reason, k.Example.Missing, k.Example.ID)
	}
	for _, s := range m.Changed {
		want = append(want, s.Session, s.Workspace, s.First.Resource, s.First.ID)
	}
	for _, x := range m.Sources.Troubles {
		want = append(want, x.Path, x.Why)
	}
	want = append(append(want, m.NeverFired...), m.Baseline.Name, m.Candidate.Name, m.Tools[0].Name, m.Interventions[0].Name)
	for _, w := range want {
		if !strings.Contains(page, w) {
			t.Errorf("%q is not on the page", w)
		}
	}
}

// Reasons to doubt the numbers come before them.
func TestPageDoubts(t *testing.T) {
	m := partial()
	page := text(write(t, "html", m, impact.Options{Show: true}))
	before, _, _ := strings.Cut(page, "How the answers differ")
	for _, want := range []string{m.Partial, "2 of 7", m.Fidelity.First.Field} {
		if !strings.Contains(before, want) {
			t.Errorf("%q is not said before the numbers", want)
		}
	}
	if !strings.Contains(page, m.Errors[0].Error) {
		t.Errorf("%q is not on the page", m.Errors[0].Error)
	}
}

// Each value of a sweep has its place in the chart and its row.
func TestSweepPageSays(t *testing.T) {
	s := steep()
	page := string(writeSweep(t, "html", s, impact.Options{Show: true}))
	for i, r := range s.Rows {
		value := strconv.FormatFloat(r.Value, 'g', -1, 64)
		for _, want := range []string{fmt.Sprintf(`<a href="#value%d">%s</a>`, i, value), fmt.Sprintf(`<details id="value%d"><summary><strong>%s</strong>`, i, value),
			fmt.Sprintf(`<title>%s: %d loosened</title>`, value, r.Impact.Calls.States[simulate.Loosened])} {
			if !strings.Contains(page, want) {
				t.Errorf("%s is not on the page", want)
			}
		}
	}
}

var tag = regexp.MustCompile(`(?s)<style>.*?</style>|<script.*?</script>|<[^>]*>`)

// text is what of a page can be read.
func text(page []byte) string {
	return html.UnescapeString(tag.ReplaceAllString(string(page), ""))
}

// Nothing to filter: no filters, no script.
func TestPageWithoutScript(t *testing.T) {
	for name, m := range map[string]*simulate.Impact{"empty": empty(), "calm": calm()} {
		page := string(write(t, "html", m, impact.Options{Show: true}))
		if strings.Contains(page, "<script") || strings.Contains(page, "<form") || strings.Contains(page, "data-filter") {
			t.Errorf("%s: there is nothing to filter, and the page has filters", name)
		}
	}
}

func TestSweepPageRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		sweep simulate.Sweep
		want  string
	}{
		"none":      {simulate.Sweep{Key: "k"}, "no values were tried"},
		"no result": {simulate.Sweep{Key: "k", Rows: []simulate.SweepRow{{Value: 0.5}}}, "k = 0.5 has no result"},
	} {
		err := impact.WriteSweep(io.Discard, "html", &tt.sweep, impact.Options{Show: true})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want %q", name, err, tt.want)
		}
	}
}

var polyline = regexp.MustCompile(`points="([^"]*)"`)

// A chart's points are between its axes, whatever the counts, and its scale has
// few lines.
func TestSweepChart(t *testing.T) {
	for _, most := range []int64{1, 2, 5, 6, 9, 49, 51, 12345, 1 << 40} {
		s := steep()
		for i := range s.Rows {
			s.Rows[i].Impact.Calls.States[simulate.Loosened] = most * int64(i) / int64(len(s.Rows)-1)
			s.Rows[i].Impact.Calls.States[simulate.Tightened], s.Rows[i].Impact.Calls.States[simulate.Maybe] = 0, 0
		}
		page := string(writeSweep(t, "html", s, impact.Options{Show: true}))
		lines := polyline.FindAllStringSubmatch(page, -1)
		if len(lines) != 1 {
			t.Fatalf("%d lines, want 1: two states never occur", len(lines))
		}
		for _, point := range strings.Fields(lines[0][1]) {
			var x, y float64
			if _, err := fmt.Sscanf(point, "%g,%g", &x, &y); err != nil || x < 56 || x > 620 || y < 36 || y > 260 {
				t.Errorf("up to %d: the point %s is outside (%v)", most, point, err)
			}
		}
		if n := strings.Count(page, `class="grid"`); n < 2 || n > 6 {
			t.Errorf("up to %d: %d lines of the scale, want 2 to 6", most, n)
		}
	}
}
