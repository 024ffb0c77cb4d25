package transcript

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func TestShortener(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"12345","b":[1,"123456789"]}`:  `{"a":"12345","b":[1,"12345"]}`,
		`["1234\"6789","x"]`:                 `["1234\"","x"]`,
		`["123\u00e9\u00e9\u00e9"]`:          `["123\u00e9"]`,
		`["1234\\\\\\"]`:                     `["1234\\"]`,
		`["1234ééé"]`:                        `["1234é"]`,
		"[\"123456\n{\"a\":\"123456\"}\n":    "[\"12345\n{\"a\":\"12345\"}\n",
		`no string here, however long it is`: `no string here, however long it is`,
	} {
		for name, r := range map[string]io.Reader{"at once": strings.NewReader(in), "by bytes": iotest.OneByteReader(strings.NewReader(in))} {
			got, err := io.ReadAll(&shortener{r: r, most: 5})
			if err != nil || string(got) != want {
				t.Errorf("%s %s: %s, error %v; want %s", in, name, got, err, want)
			}
		}
	}
}

// What is left is JSON wherever the text was, and the same if nothing is too long.
func FuzzShortener(f *testing.F) {
	f.Add(`{"a":"12345\n\"","b":["\u00e9\ud83d\ude00",1]}`, 3)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) || most < 0 {
			t.Skip()
		}
		s := &shortener{r: strings.NewReader(text), most: most}
		got, err := io.ReadAll(s)
		if err != nil || !json.Valid(got) || !utf8.Valid(got) || len(s.lines) == 0 && string(got) != text {
			t.Errorf("%q of %q, error %v", got, text, err)
		}
	})
}

// A result of 40 MB is read, shortened and named; other lines are read.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("x", 40<<20)
	lines := `{"type":"assistant","session_id":"s","uuid":"u2","message":{"id":"m1","role":"assistant","content":[` +
		`{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}` + "\n" +
		`{"type":"user","session_id":"s","uuid":"u1","message":{"role":"user","content":"` + long + `"}}` + "\n"
	reader, ok := Recognise([]byte(lines)[:64<<10])
	if !ok {
		t.Fatal("the format is not recognised")
	}
	tr, err := reader.Read(strings.NewReader(lines))
	if err != nil || len(tr.Calls()) != 1 || len(tr.Bad) != 1 {
		t.Fatalf("%d calls, error %v, bad %+v", len(tr.Calls()), err, tr.Bad)
	}
	if got, want := tr.Bad[0], (BadLine{2, "a string was shortened to 4 MiB"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := len(tr.Events[1].Prompt); got != maxText {
		t.Errorf("the prompt has %d bytes", got)
	}
}
