package detect

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

// places is a table of two tools.
func places(tool, argument string) []engine.Place {
	switch {
	case tool == "Write" && argument == "old":
		return nil
	case tool == "Write" && argument == "content":
		return []engine.Place{engine.PlaceContents}
	case tool == "Write" || tool == "Bash":
		return []engine.Place{engine.PlaceArguments}
	}
	return []engine.Place{engine.PlaceArguments, engine.PlaceContents}
}

func set(t testing.TB, list ...Detector) *Set {
	t.Helper()
	s, err := New(list, places)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func one(pattern string) Detector { return Detector{ID: "a", Patterns: []string{pattern}, Max: 100} }

func pre(tool, args string) engine.Event {
	return engine.Event{Phase: engine.PhasePre, Tool: tool, Args: json.RawMessage(args)}
}

func post(tool, output, failure string) engine.Event {
	return engine.Event{Phase: engine.PhasePost, Tool: tool, Args: json.RawMessage(`{"x": "foo"}`),
		Result: &engine.Result{Output: json.RawMessage(output), Error: failure}}
}

func TestDetect(t *testing.T) {
	foo := func(change func(*Detector)) Detector {
		d := one("foo")
		change(&d)
		return d
	}
	in := func(places ...engine.Place) Detector { return foo(func(d *Detector) { d.In = places }) }
	tools := func(names ...string) Detector { return foo(func(d *Detector) { d.Tools = names }) }
	for name, test := range map[string]struct {
		d    Detector
		e    engine.Event
		want int64
	}{
		"arguments and contents":       {foo(func(*Detector) {}), pre("Write", `{"file_path": "foo", "content": "foo foo", "n": 1}`), 3},
		"arguments":                    {in(engine.PlaceArguments), pre("Write", `{"file_path": "foo", "content": "foo foo"}`), 1},
		"contents":                     {in(engine.PlaceContents), pre("Write", `{"file_path": "foo", "content": "foo foo"}`), 2},
		"nested contents":              {in(engine.PlaceContents), pre("Write", `{"edits": [{"content": "foo"}, {"content": ["foo"]}]}`), 2},
		"a replaced text":              {foo(func(*Detector) {}), pre("Write", `{"old": "foo"}`), 0},
		"arguments that are not JSON":  {in(engine.PlaceContents), pre("Bash", `foo`), 1},
		"an unknown tool":              {in(engine.PlaceContents), pre("mcp__fs__put", `{"body": "foo"}`), 1},
		"counted once there":           {foo(func(*Detector) {}), pre("mcp__fs__put", `{"body": "foo"}`), 1},
		"no results before":            {in(engine.PlaceResults), pre("Bash", `{"command": "foo"}`), 0},
		"results":                      {in(engine.PlaceResults), post("Bash", `{"stdout": "foo", "stderr": ["foo"]}`, "foo"), 3},
		"a result that is a text":      {in(engine.PlaceResults), post("Bash", `"foo"`, ""), 1},
		"a result that is not JSON":    {in(engine.PlaceResults), post("Bash", `foo {`, ""), 1},
		"a key twice":                  {in(engine.PlaceResults), post("Bash", `{"a": "foo", "a": ""}`, ""), 1},
		"no result":                    {in(engine.PlaceResults), engine.Event{Phase: engine.PhasePost, Tool: "Bash"}, 0},
		"not the call again":           {foo(func(*Detector) {}), post("Bash", `"bar"`, ""), 0},
		"keys are texts too":           {foo(func(*Detector) {}), pre("mcp__http__get", `{"headers": {"foo": "bar", "x": {"y": [{"foo": 1}]}}}`), 2},
		"keys of results":              {in(engine.PlaceResults), post("Bash", `{"foo": 1}`, ""), 1},
		"a tool":                       {tools("Bash"), pre("Bash", `{"command": "foo"}`), 1},
		"another tool":                 {tools("Bash"), pre("Bashful", `{"command": "foo"}`), 0},
		"tools with that prefix":       {tools("Read", "mcp__*"), pre("mcp__fs__put", `{"command": "foo"}`), 1},
		"a prompt":                     {foo(func(*Detector) {}), engine.Event{Phase: engine.PhasePrompt, Prompt: "foo"}, 0},
		"at most":                      {foo(func(d *Detector) { d.Max = 2 }), pre("Bash", `{"a": "foo", "b": "foo foo foo"}`), 2},
		"several patterns":             {foo(func(d *Detector) { d.Patterns = []string{"foo", "ba[rz]"} }), pre("Bash", `{"a": "foo bar baz"}`), 3},
		"escapes":                      {one("föö\n"), pre("Bash", `{"a": "f\u00f6\u00f6\n"}`), 1},
		"words with another long form": {one("(?i)mask"), pre("Bash", `{"a": "maſK MASK"}`), 2},
	} {
		var want map[string]int64
		if test.want > 0 {
			want = map[string]int64{"a": test.want}
		}
		if d := cmp.Diff(want, set(t, test.d).Detect(test.e)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Where too many find something, the first that were declared are reported.
func TestDetectReportsTheFirst(t *testing.T) {
	var list []Detector
	want := map[string]int64{}
	for i := range 2 * engine.MaxDetected {
		d := Detector{ID: fmt.Sprintf("d%02d", 99-i), Patterns: []string{"foo"}, Max: 100}
		if i%2 == 1 && len(want) < engine.MaxDetected {
			want[d.ID] = 1
		} else if i%2 == 0 {
			d.Patterns = []string{"bar"}
		}
		list = append(list, d)
	}
	list = append(list, Detector{ID: "last", Patterns: []string{"foo"}, Max: 100})
	if d := cmp.Diff(want, set(t, list...).Detect(pre("Bash", `{"a": "foo"}`))); d != "" {
		t.Error(d)
	}
}

// The order in which a map is walked changes nothing, also where counting stops.
func TestDetectIsDeterministic(t *testing.T) {
	s := set(t, Detector{ID: "a", Patterns: []string{"foo", "fo+"}, Max: 3}, one("ba"), Detector{ID: "c", Patterns: []string{`b\w`}, Max: 1})
	var args []string
	for i := range 40 {
		args = append(args, fmt.Sprintf(`"k%d": "%s"`, i, strings.Repeat("foo bar ", i%3)))
	}
	e := pre("mcp__a__b", "{"+strings.Join(args, ",")+"}")
	want := s.Detect(e)
	for range 50 {
		if d := cmp.Diff(want, s.Detect(e)); d != "" {
			t.Fatal(d)
		}
	}
}

func TestDigest(t *testing.T) {
	a := Detector{ID: "a", Patterns: []string{"x", "y"}, In: []engine.Place{"results", "contents"}, Tools: []string{"B", "A"}, Max: 3}
	b := one("b")
	base := set(t, a, b).Digest
	same := a
	same.In, same.Tools = []engine.Place{"contents", "results"}, []string{"A", "B"}
	if got := set(t, same, b).Digest; got != base {
		t.Error("the order of places and tools, which means nothing, changes the digest")
	}
	for name, change := range map[string]func(*Detector){
		"id": func(d *Detector) { d.ID = "z" }, "patterns": func(d *Detector) { d.Patterns = []string{"x", "z"} },
		"in": func(d *Detector) { d.In = nil }, "tools": func(d *Detector) { d.Tools = nil }, "max": func(d *Detector) { d.Max++ },
	} {
		other := a
		change(&other)
		if set(t, other, b).Digest == base {
			t.Errorf("%s does not change the digest", name)
		}
	}
	if set(t, b, a).Digest == base {
		t.Error("the order, which decides what is left out, does not change the digest")
	}
}

func TestNewErrors(t *testing.T) {
	for _, test := range []struct{ pattern, want string }{
		{"(foo", "detector a: pattern: missing closing ): (foo"},
		{"foo(?=bar)", "pattern: (?=: RE2 has no lookahead or lookbehind"},
		{"foo(?!bar)", "pattern: (?!: RE2 has no lookahead or lookbehind"},
		{"(?<=bar)foo", "RE2 has no lookahead or lookbehind"},
		{"(?<!bar)foo", "RE2 has no lookahead or lookbehind"},
		{`(foo)\1`, `pattern: \1: RE2 has no backreferences`},
		{"(?>foo)bar", "RE2 has no atomic groups"},
		{"fo++", "pattern: ++: RE2 has no atomic groups"},
		{`\y`, `pattern: invalid escape sequence: \y`},
		{"a{1001}", "invalid repeat count: {1001}"},
		{"foo*|", "matches the empty string"},
		{`\b`, "matches the empty string"},
		{"(a?){3}", "matches the empty string"},
		{"a{0}", "matches the empty string"},
	} {
		if _, err := New([]Detector{one(test.pattern)}, places); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.pattern, err, test.want)
		}
	}
	_, err := New([]Detector{one("a"), {ID: "b", Patterns: []string{"a", "(", ")"}}}, places)
	var first *Error
	if !errors.As(err, &first) || first.ID != "b" || first.Pattern != 1 || strings.Count(err.Error(), "detector b") != 2 {
		t.Errorf("got %v, want two errors of b, the first about its second pattern", err)
	}
}

func TestRequired(t *testing.T) {
	for _, test := range []struct {
		pattern string
		words   []string
		longest int
	}{
		{"foo", []string{"foo"}, 3},
		{"(?i)Foo", []string{"foo"}, 3},
		{"(?i)previous", []string{"previous", "previouſ"}, 7 + 2},
		{"(?i)mask", []string{"mask", "mas\u212a", "maſk", "maſ\u212a"}, 2 + 2 + 3},
		{"(?i)é", []string{"É", "é"}, 2},
		{"foo|bar", []string{"bar", "foo"}, 3},
		{"(?:foo|ba[rz])x", []string{"barx", "bazx", "foox"}, 4 + 4 - 1},
		{"foo|b", nil, 3},
		{`a.{0,5}long word`, []string{"long word"}, 1 + 20 + 9},
		{`foo\s+barbar`, []string{"barbar"}, unbounded},
		{`(?:foo)+`, []string{"foo"}, unbounded},
		{`(?:foo)?bar`, []string{"bar"}, 6},
		{`(?:ab){2,3}`, []string{"abab"}, 6},
		{`[a-z]{3}`, nil, 12},
		{`\d\d`, nil, 8},
		{"[\u202a-\u202e]", []string{"\u202a", "\u202b", "\u202c", "\u202d", "\u202e"}, 4},
		{`[\x{E0020}-\x{E007F}]{4}`, []string{"\xf3\xa0\x80", "\xf3\xa0\x81"}, 16},
		{`\p{Han}{9}`, nil, 36},
		{`^foo$`, []string{"foo"}, 3},
	} {
		p, err := newPattern(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(test.words, p.words); d != "" {
			t.Errorf("%s: %s", test.pattern, d)
		}
		if p.longest != test.longest {
			t.Errorf("%s: a match has at most %d bytes, want %d", test.pattern, p.longest, test.longest)
		}
	}
}

// naive counts with nothing but the regular expression.
func naive(pattern, text string, limit int) int64 {
	return int64(len(regexp.MustCompile(pattern).FindAllStringIndex(text, limit)))
}

// checkCount compares a count with the naive one.
func checkCount(t *testing.T, source, text string) {
	t.Helper()
	p, err := newPattern(source)
	if err != nil {
		return
	}
	w := newWords([]*pattern{p})
	if got, want := p.count(text, w.find(text), 1000), naive(source, text, 1000); got != want {
		t.Errorf("%q in %q: %d, want %d (words %q, longest %d)", source, text, got, want, p.words, p.longest)
	}
}

// Looking around words only finds what looking at everything finds.
func TestCountsLikeTheWhole(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 8000 {
		pattern, text := randomPattern(g, 2), randomText(g)
		if _, err := newPattern(pattern); err != nil {
			continue
		}
		checkCount(t, pattern, text)
		if naive(pattern, text, 1) > 0 {
			found++
		}
	}
	if found < 500 {
		t.Errorf("only %d of the patterns matched their text", found)
	}
}

func randomPattern(g *rand.Rand, depth int) string {
	atoms := []string{"ab", "kas", "foo", "é", "[ab]", "[^a]", `\b`, "^", "$", ".", `\s`, "(?i:AbK)", "(?i:s)", "[\u2028-\u2100]", "ſ", `\x00`}
	if depth == 0 {
		return atoms[g.IntN(len(atoms))]
	}
	a, b := randomPattern(g, depth-1), randomPattern(g, depth-1)
	switch g.IntN(7) {
	case 0:
		return "(?:" + a + "|" + b + ")"
	case 1:
		return "(?:" + a + ")" + []string{"?", "*", "+", "{2}", "{0,3}", "{1,2}?"}[g.IntN(6)]
	}
	return a + b
}

func randomText(g *rand.Rand) string {
	parts := []string{"ab", "AB", "kas", "KaS", "foo", "é", "a", "b", " ", "\n", "K", "ſ", "\u2029", "\xe2\x80", "\xff", "\x00", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}
	var b strings.Builder
	for range g.IntN(30) {
		b.WriteString(parts[g.IntN(len(parts))])
	}
	return b.String()
}

// Whatever the pattern and the text, it neither fails nor miscounts.
func FuzzCount(f *testing.F) {
	f.Add("(?i)ignore (all )?previous", "please IGNORE previous texts")
	f.Add(`\bfoo.{0,9}bar$`, "foo bar")
	f.Add("[\u202a-\u202e]+", "\u202a\u202b \xe2\x80")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) < 60 && len(text) < 2000 {
			checkCount(t, pattern, text)
		}
	})
}

// Whatever an event holds, nothing but declared ids and sound counts comes back.
func FuzzDetect(f *testing.F) {
	f.Add("Write", `{"content": "foo\u0000", "a": [1, {"b": null}]}`, `{"x": ["foo"]}`, true)
	f.Add("", "\xff{", "", false)
	ids := []string{"b", "a"}
	s := set(f, Detector{ID: "b", Patterns: []string{"foo", `\w\W`}, Max: 3}, one("b."))
	f.Fuzz(func(t *testing.T, tool, args, output string, after bool) {
		e := pre(tool, args)
		if after {
			e = post(tool, output, args)
		}
		got := s.Detect(e)
		if d := cmp.Diff(got, s.Detect(e)); d != "" {
			t.Fatal(d)
		}
		for id, n := range got {
			if !slices.Contains(ids, id) || n < 1 || n > 100 {
				t.Fatalf("%s: %d", id, n)
			}
		}
	})
}
