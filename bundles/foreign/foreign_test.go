package foreign

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
)

// Whatever is read and written again is the same document.
func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"a": [1, "x\u0000\n<>", null, true, {}], "b": 1e3}`, "\xef\xbb\xbf[]", "[\n1,\n\n2]", `"\ud83d\ude00"`, `{"a":1,"a":2}`, `[[[[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := Read("f", raw)
		if err != nil {
			if !regexp.MustCompile(`^f:\d+: `).MatchString(err.Error()) {
				t.Errorf("%q: the error %q has no place", raw, err)
			}
			return
		}
		again, err := Read("f", []byte(v.JSON()))
		if err != nil || again.JSON() != v.JSON() {
			t.Errorf("%q is written %s, and that %s (%v)", raw, v.JSON(), again.JSON(), err)
		}
		if !json.Valid([]byte(v.JSON())) {
			t.Errorf("%q is written %s", raw, v.JSON())
		}
	})
}

func TestLines(t *testing.T) {
	v, err := Read("f", []byte("\n{\"a\":\n  [1,\n   {\"b\": true}\n]}"))
	if err != nil {
		t.Fatal(err)
	}
	top, _ := v.Object()
	list, _ := top.Get("a").List()
	inner, _ := list[1].Object()
	for what, lines := range map[string][2]int{"top": {v.Line, 2}, "key": {top[0].Line, 2}, "list": {top.Get("a").Line, 3},
		"item": {list[0].Line, 3}, "object": {list[1].Line, 4}, "value": {inner.Get("b").Line, 4}, "nothing": {top.Get("c").Line, 0}} {
		if lines[0] != lines[1] {
			t.Errorf("%s is in line %d, want %d", what, lines[0], lines[1])
		}
	}
}

func TestID(t *testing.T) {
	var p Policy
	for _, test := range [][2]string{
		{"reads", "reads"}, {"reads", "reads_2"}, {"Reads!", "reads_3"}, {"rule-17-ab", "rule-17-ab"}, {"a.b_c", "a.b_c"}, {"a - b", "a_b"}, {"__x..y__", "x.y"},
		{"default", "default_2"}, {"", "2"}, {"äöü", "3"}, {strings.Repeat("ab", 50), strings.Repeat("ab", 30)}, {"a…", "a"},
	} {
		if got := p.ID(test[0]); got != test[1] {
			t.Errorf("%q is called %s, want %s", test[0], got, test[1])
		}
	}
}

// Every name makes an id that loads.
func FuzzWord(f *testing.F) {
	for _, s := range []string{"a", "A.-b", "x__", "é", "a\x00b", ".", "-a", "\n", " x\n\ty", strings.Repeat("a", 59) + "-b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p := Policy{List: bundles.AccessList{ID: "l", Default: "deny"}}
		for range 2 {
			id := p.ID(name)
			p.Note(id, 1, "x")
			p.Comment(id, name, "# "+name)
			p.List.Rules = append(p.List.Rules, bundles.AccessRule{ID: id, Effect: "deny", Actions: []string{"x"}, Description: strings.ToValidUTF8(name, "?") + "."})
		}
		content, err := p.YAML(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bundles.ParseAccess("x.yaml", content); err != nil {
			t.Errorf("%q: %v\n%s", name, err, content)
		}
	})
}
