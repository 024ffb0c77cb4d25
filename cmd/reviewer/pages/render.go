package pages

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/webpage"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/overview"
)

var (
	//go:embed templates
	files embed.FS
	//go:embed page.css
	style string
	// Script is the script of live pages.
	//
	//go:embed page.js
	Script []byte
)

// StyleSource names the style of the pages in a Content-Security-Policy.
func StyleSource() string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Page is a page with its template and values.
type Page interface{ template() string }

// Render writes a page. Times are shown in a zone; the script of live pages shows them in the reader's.
func Render(w io.Writer, page Page, zone *time.Location) error {
	t, known := templates.Load(zone)
	if !known {
		fresh, err := parsed(zone)
		if err != nil {
			return err
		}
		t, _ = templates.LoadOrStore(zone, fresh)
	}
	return t.(*template.Template).ExecuteTemplate(w, page.template(), page)
}

// templates are parsed once for each zone.
var templates sync.Map

func parsed(zone *time.Location) (*template.Template, error) {
	show := shower{zone}
	return template.New("").Funcs(template.FuncMap{
		"text": text, "plain": webpage.Visible, "short": func(s string) template.HTML { return text(engine.ClipJSON(s, shortText)) },
		"brief": func(s string) string { return engine.ClipJSON(s, 24) },
		"when":  show.when, "clock": show.clock, "stamp": func(ms int64) string { return show.at(ms).Format("2006-01-02 15:04") },
		"less": func(n int) int { return n - 1 }, "number": number, "dash": dash,
		"count": count, "record": RecordHref, "place": place, "words": words, "harm": harmText,
		"groups": func(title, column string, list []overview.Group) groupTable {
			return groupTable{title, column, list, column == "Harm"}
		},
		"style": func() template.CSS { return template.CSS(style) }, // a constant of this package
		"policy": func() string {
			return "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + StyleSource()
		},
	}).ParseFS(files, "templates/*.html")
}

// shortText bounds texts in lists, in bytes.
const shortText = 300

type groupTable struct {
	Title, Column string
	List          []overview.Group
	Harm          bool
}

type shower struct{ zone *time.Location }

func (s shower) at(ms int64) time.Time { return time.UnixMilli(ms).In(s.zone) }

func (s shower) when(ms int64) template.HTML { return s.time(ms, "", "2006-01-02 15:04") }

func (s shower) clock(ms int64) template.HTML { return s.time(ms, ` class="clock"`, "15:04:05") }

func (s shower) time(ms int64, class, layout string) template.HTML {
	if ms == 0 {
		return ""
	}
	at := s.at(ms)
	return template.HTML(fmt.Sprintf(`<time%s datetime="%s" title="%s">%s</time>`, // made of a number
		class, at.UTC().Format(time.RFC3339), at.Format("2006-01-02 15:04:05 -0700"), at.Format(layout)))
}

// text escapes a text, and marks the characters that a reader would not see or would take for others.
func text(value any) template.HTML {
	var b strings.Builder
	for _, run := range webpage.Runs(fmt.Sprint(value)) {
		if run.Marked == "" {
			template.HTMLEscape(&b, []byte(run.Text))
			continue
		}
		fmt.Fprintf(&b, `<mark title="%s">%s</mark>`, template.HTMLEscapeString(run.Marked), template.HTMLEscapeString(run.Text))
	}
	return template.HTML(b.String()) // each part was escaped
}

// place shows the end of a path, and all of it as a title.
func place(path string) template.HTML {
	if path == "" {
		return `<span class="faint">no folder</span>`
	}
	parts := strings.Split(strings.TrimRight(path, "/"), "/")
	end := strings.Join(parts[max(0, len(parts)-2):], "/")
	whole := template.HTML(template.HTMLEscapeString(webpage.Visible(path))) // it was escaped
	return `<span title="` + whole + `">` + text(end) + `</span>`
}

func words(s string) string { return strings.ReplaceAll(webpage.Visible(s), "_", " ") }

func number(n any) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func dash(n int64) string {
	if n == 0 {
		return "–"
	}
	return number(n)
}

func count(n any, one, many string) string {
	if fmt.Sprint(n) == "1" {
		return "1 " + one
	}
	return number(n) + " " + many
}

// RecordHref is the address of the page about a record.
func RecordHref(id string) string { return "record-" + id + ".html" }

// harmText describes a harm; the word itself if it is another version's.
func harmText(word string) string {
	if text := map[string]string{
		engine.HarmLoss:        "content that exists nowhere else would be lost",
		engine.HarmExposure:    "a secret, or other data, would reach somebody who should not have it",
		engine.HarmForeignCode: "code would run that comes neither from you nor from the project's version control",
		engine.HarmUnread:      "what the call does cannot be determined",
		engine.HarmHold:        "something would act later without you, or rights would be widened",
		engine.HarmOutward:     "others would see it, or production would change",
		engine.HarmMachine:     "the machine, its protections or other people's processes would be affected",
		engine.HarmForbidden:   "you, or a standing instruction, said no",
		engine.HarmAnswered:    "it answers a question, or skips a warning, that was meant for you",
		engine.HarmClosed:      "an access list, a limit or a rule of your organisation excludes it",
		engine.HarmGuard:       "reviewer itself, or another safeguard, would be affected",
		engine.HarmNone:        "the call itself does no harm that the rule knows of",
	}[word]; text != "" {
		return text
	}
	return words(word)
}

// Seconds writes how long a question waited on average.
func Seconds(ms, questions int64) string {
	if questions == 0 {
		return "–"
	}
	return strconv.FormatInt(ms/questions/1000, 10) + " s"
}
