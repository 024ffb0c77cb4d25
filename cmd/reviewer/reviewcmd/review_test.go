package reviewcmd

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// split returns the documents of a string; those that are not with ! in front.
func split(text string) []string {
	list := []string{}
	for doc, err := range documents(bufio.NewReader(strings.NewReader(text))) {
		s := strings.TrimSpace(string(doc))
		if err != nil {
			s = "!" + s
		}
		list = append(list, s)
	}
	return list
}

func TestDocuments(t *testing.T) {
	whole := `{"tool":"Bash"}`
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{}},
		{"empty lines", "\n \n\r\n", []string{}},
		{"one", whole, []string{whole}},
		{"one per line", whole + "\n" + whole + "\r\n\n" + whole + "\n", []string{whole, whole, whole}},
		{"two in a line", whole + " " + whole + "\n", []string{whole, whole}},
		{"over several lines", "{\n\"tool\":\n\"Bash\"\n}\n" + whole, []string{"{\n\"tool\":\n\"Bash\"\n}", whole}},
		{"brackets in strings", `{"a":"}{[\"]"}` + "\n" + whole, []string{`{"a":"}{[\"]"}`, whole}},
		{"no object", "7\n\"a\"\n[1,\n2]\n", []string{"7", `"a"`, "[1,\n2]"}},
		{"no JSON", "x\n" + whole, []string{"!x", whole}},
		{"closed too often", "}\n" + whole, []string{"!}", whole}},
		{"cut off in a string", `{"a":"b` + "\n" + whole, []string{`!{"a":"b`, whole}},
		{"truncated after a colon", `{"a":` + "\n" + whole, []string{`!{"a":`, whole}},
		{"cut off in a list", "{\"a\":[1,\n2,\n" + whole, []string{"!{\"a\":[1,\n2,", whole}},
		{"cut off at the end", whole + "\n{\"a\":", []string{whole, `!{"a":`}},
		{"wrong bracket", "[1}\n" + whole, []string{"![1}", whole}},
	} {
		if diff := cmp.Diff(c.want, split(c.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Whatever precedes it, a document on a line of its own is found, and it
// is the last one.
func FuzzDocuments(f *testing.F) {
	f.Add("")
	f.Add(`{"a":"\`)
	f.Add("[[{\n\"")
	f.Add("{\"tool\":1}\n[\n")
	const last = `{"hook_event_name":"Stop","session_id":"s"}`
	f.Fuzz(func(t *testing.T, before string) {
		list := split(before + "\n" + last + "\n")
		if got := list[len(list)-1]; got != last {
			t.Errorf("after %q comes %q", before, got)
		}
		for _, doc := range list {
			if !strings.HasPrefix(doc, "!") && !json.Valid([]byte(doc)) {
				t.Errorf("%q is not JSON", doc)
			}
		}
	})
}

func TestIDText(t *testing.T) {
	for raw, want := range map[string]string{
		``: "", `null`: "", `"a b"`: "a b", `12345678901234567890`: "12345678901234567890", `1.50`: "1.50", `{"a":1}`: `{"a":1}`, `"\u00e9"`: "é",
	} {
		if got := idText(json.RawMessage(raw)); got != want {
			t.Errorf("the id %s is %q, want %q", raw, got, want)
		}
	}
}
