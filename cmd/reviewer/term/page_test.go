package term

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func page(width int, colour bool) Page { return Page{new(bytes.Buffer), Paint{colour}, width} }

func TestPageFits(t *testing.T) {
	p := page(20, false)
	p.Line(Cell{Text: "a text that is longer"}, Cell{Text: " than the line"})
	p.Line(Cell{Text: "an escape \x1b[2J"}, Cell{Text: "   "})
	p.Width = 26
	p.Field("name", 6, "", "a paragraph nearby its name")
	p.Line()
	want := "a text that is long…\n" + `an escape \x1b[2J` + "\n" + "name  a paragraph nearby\n      its name\n\n"
	if got := p.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestPageTable(t *testing.T) {
	made := func() Table {
		table := Table{Columns: []Column{{"NAME", true}, {Head: "NONE"}, {Head: "COUNT"}}}
		table.Add(Cell{Text: "a name\nthat is long"}, Count(0), Count(12345))
		table.Add(Cell{Text: "short"}, Count(0), Count(0))
		table.Compact()
		return table
	}
	for width, want := range map[int]string{
		0:  "\nNAME                  COUNT\na name that is long  12,345\nshort                     -\n",
		20: "\nNAME           COUNT\na name that…  12,345\nshort              -\n",
	} {
		p := page(width, false)
		p.Table(made())
		if got := p.String(); got != want {
			t.Errorf("width %d: got:\n%s\nwant:\n%s", width, got, want)
		}
	}
}

func TestPaint(t *testing.T) {
	p := page(0, true)
	p.Line(Cell{"block", VerdictColour("block")}, Cell{Text: " plain"})
	if got, want := p.String(), "\x1b[31;1mblock\x1b[0m plain\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for word, want := range map[string]string{"allow": "\x1b[32mallow\x1b[0m", " ask ": "\x1b[33;1m ask \x1b[0m", "other": "other", "": ""} {
		if got := p.Verdict(word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
		if got := (Paint{}).Verdict(word); got != word {
			t.Errorf("%q: %q without colours", word, got)
		}
	}
}

func TestFormats(t *testing.T) {
	formats := Formats[int]{{"text", 1}, {"json", 2}}
	if got := strings.Join(formats.Names(), " "); got != "text json" {
		t.Error(got)
	}
	if got, err := formats.Find("format", "json"); got != 2 || err != nil {
		t.Error(got, err)
	}
	want := `unknown format "jsn"; expected one of text, json; did you mean "json"?`
	if _, err := formats.Find("format", "jsn"); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestWhole(t *testing.T) {
	var out strings.Builder
	failed := errors.New("half way")
	if err := Whole(&out, func(b *bytes.Buffer) error { io.WriteString(b, "half"); return failed }); err != failed || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
	if err := Whole(&out, func(b *bytes.Buffer) error { return WriteJSON(b, map[string]string{"a": "<"}) }); err != nil || out.String() != "{\n  \"a\": \"<\"\n}\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}
