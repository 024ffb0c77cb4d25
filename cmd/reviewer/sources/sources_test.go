package sources

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/google/go-cmp/cmp"
)

func TestStories(t *testing.T) {
	a := claude("aaaa", "p1!", "a1", "a2", "a3")
	b := claude("bbbb", "b1?", "b2", "b3")
	at := 512 + (len(a)+511)/512*512 + 512 + len(b)*2/5 // of an archive of both: in the second
	for _, c := range []struct {
		name  string
		files []string
		want  string
	}{
		{"one", []string{"x.jsonl", a}, "- aaaa: a1 a2 a3\n"},
		{"by content, not by name", []string{"x.txt", a, "notes.txt", "hello", "photo.png", "\x89PNG"}, "- aaaa: a1 a2 a3\n"},
		{"a name that promises a session", []string{"x", a, "b.jsonl", "hello"}, "(lost b.jsonl)\n- aaaa: a1 a2 a3\n"},
		{"gzip", []string{"x.jsonl", gz(a)}, "- aaaa: a1 a2 a3\n"},
		{"zstd", []string{"x.jsonl", zst(a)}, "- aaaa: a1 a2 a3\n"},
		{"tar", []string{"x", tarred("p/x.jsonl", a, "p/y.jsonl", claude("bbbb", "b1"))}, "- aaaa: a1 a2 a3\n- bbbb: b1\n"},
		{"tar.gz", []string{"x", gz(tarred("p/x.jsonl", a, "p/y.jsonl", claude("bbbb", "b1")))}, "- aaaa: a1 a2 a3\n- bbbb: b1\n"},
		{"tar.zst of compressed files", []string{"x", zst(tarred("y.jsonl.gz", gz(claude("bbbb", "b1")), "x.jsonl", zst(a)))}, "- aaaa: a1 a2 a3\n- bbbb: b1\n"},
		{"a sub-agent", []string{
			"aaaa.jsonl", a,
			"aaaa/subagents/agent-1.jsonl", claudeFrom(2, "s1", "aaaa", "s1", "s2"),
			"aaaa/subagents/agent-1.meta.json", `{"toolUseId":"a1"}`,
			"aaaa/tool-results/1.json", `{}`,
		}, "- aaaa: a1 a2 s1 a3 s2\n"},
		{"a fork", []string{"aaaa.jsonl", a, "bbbb.jsonl", claude("bbbb", "p1!", "a1", "a2", "b3", "b4?")}, "- aaaa: a1 a2 a3\n  bbbb: a1* a2* b3 b4\n"},
		{"a fork of a fork", []string{
			"3.jsonl", claude("aaaa", "p1!", "a1", "a2", "a3"),
			"2.jsonl", claude("cccc", "p1!", "a1", "a2", "b3", "c4"),
			"1.jsonl", claude("bbbb", "p1!", "a1", "a2", "b3"),
		}, "- aaaa: a1 a2 a3\n  bbbb: a1* a2* b3\n  cccc: a1* a2* b3* c4\n"},
		{"a backup", []string{"aaaa.jsonl", a, "old/aaaa.jsonl", claude("aaaa", "p1!", "a1", "a2")}, "- aaaa: a1 a2 a3\n"},
		{"a backup that lacks a result", []string{"old/aaaa.jsonl", claude("aaaa", "p1!", "a1?"), "aaaa.jsonl", a}, "- aaaa: a1 a2 a3\n"},
		{"a copy that begins at a compaction", []string{
			"aaaa.jsonl", a + strings.Repeat(claude("aaaa", "p2!", "x1"), 40) + claude("aaaa", "m1", "m2"),
			"bbbb.jsonl", `{"parentUuid":null,"logicalParentUuid":"uuid-of-line-x1-result","isSidechain":false,"type":"system","subtype":"compact_boundary","uuid":"uuid-of-line-m1","sessionId":"bbbb"}` + "\n" + claude("bbbb", "m1", "m2", "b1"),
		}, "- aaaa: a1 a2 a3 x1 m1 m2\n  bbbb: m1* m2* b1\n"},
		{"two in one file", []string{"x.jsonl", a + claude("bbbb", "p2!", "b1", "b2")}, "- aaaa: a1 a2 a3\n  bbbb: b1 b2\n"},
		{"ids that alternate", []string{"x.jsonl", claude("aaaa", "p1!", "a1") + claude("bbbb", "p2!", "b1") + claude("aaaa", "p3!", "a2")}, "- aaaa: a1 b1 a2\n"},
		{"a resumed copy under the old id", []string{"aaaa.jsonl", a, "bbbb.jsonl", a + claudeFrom(9, "", "bbbb", "p2!", "b1")}, "- aaaa: a1 a2 a3\n  bbbb: b1\n"},
		{"a clock that goes back", []string{"x.jsonl", claudeFrom(30, "", "aaaa", "p1!", "a1") + claudeFrom(3, "", "aaaa", "a2"), "s.jsonl", claudeFrom(10, "s", "aaaa", "s1")}, "- aaaa: s1 a1 a2\n"},
		{"the same id twice", []string{"x.jsonl", claude("aaaa", "p1!", "a1", "a1", "a2")}, "- aaaa: a1 a2\n"},
		{"a damaged line", []string{"x.jsonl", claude("aaaa", "p1!", "a1", `{"type": "assistant", oh`, "a2")}, "- aaaa: a1 a2 (x.jsonl:4 invalid character 'o' looking for beginning of object key string)\n"},
		{"cut in a line", []string{"x.jsonl", a[:len(a)-40]}, "- aaaa: a1 a2 a3 (x.jsonl:7 unexpected EOF)\n"},
		{"cut gzip", []string{"x.jsonl", gz(a)[:len(gz(a))-10]}, "- aaaa: a1 a2 a3 !! (x.jsonl:0 read transcript: the gzip data is truncated: unexpected EOF)\n"},
		{"no gzip", []string{"x.jsonl", "\x1f\x8bhello, this is none", "y", a}, "(lost x.jsonl)\n- aaaa: a1 a2 a3\n"},
		{"cut tar", []string{"x", tarred("x.jsonl", a, "y.jsonl", b)[:at], "z", claude("cccc", "c1")},
			"(lost x)\n- aaaa: a1 a2 a3\n- bbbb: b1 !! (y.jsonl:0 read transcript: the file is truncated: unexpected EOF)\n- cccc: c1\n"},
		{"cut tar.gz", []string{"x", cutInflated(tarred("x.jsonl", a, "y.jsonl", b), at), "z", claude("cccc", "c1")},
			"(lost x)\n- aaaa: a1 a2 a3\n- bbbb: b1 !! (y.jsonl:0 read transcript: the gzip data is truncated: unexpected EOF)\n- cccc: c1\n"},
		{"nothing in it", []string{"x.jsonl", "", "y", a}, "- aaaa: a1 a2 a3\n"},
	} {
		dir := folder(t, c.files...)
		set, err := Find(t.Context(), []string{dir}, options())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := cmp.Diff(c.want, told(t, set)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// What is counted next to the calls.
func TestSourcesCounted(t *testing.T) {
	dir := folder(t,
		"aaaa.jsonl", claude("aaaa", "p1!", "a1", "a2?", "nonsense {"),
		"bbbb.jsonl", claude("bbbb", "p1!", "a1", "b2", "b3?"),
		"sub.jsonl", claudeFrom(9, "s", "aaaa", "s1"),
	)
	set := find(t, dir)
	var got []simulate.Sources
	for s := range set.Families[0].Recorded(t.Context()) {
		for range s.Events {
		}
		got = append(got, s.Sources())
	}
	want := []simulate.Sources{
		{Files: 2, Formats: map[string]int64{"claude-code": 1}, Lines: 7, Bad: 1, Unpaired: 1,
			Troubles: []simulate.Trouble{{Path: filepath.Join(dir, "aaaa.jsonl"), Line: 5, Why: "invalid character 'o' in literal null (expecting 'u')", Count: 1}}},
		{Files: 1, Formats: map[string]int64{"claude-code": 1}, Lines: 6, Copied: 1, Unpaired: 1},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if set.Files != 3 || len(set.Families) != 1 || set.Families[0].Session != "aaaa" {
		t.Errorf("%d files, %d families, %v", set.Files, len(set.Families), set.Families)
	}
}

// Calls that the agent turned down by itself were nobody's to decide.
func TestUnasked(t *testing.T) {
	refused := `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a1","is_error":true,"content":"<tool_use_error>no such tool</tool_use_error>"}]},"sessionId":"aaaa"}`
	set := find(t, folder(t, "x.jsonl", claude("aaaa", "p1!", "a1?", refused, "a2")))
	if got := told(t, set); got != "- aaaa: a2\n" {
		t.Error(got)
	}
	for s := range set.Families[0].Recorded(t.Context()) {
		if n := s.Sources().Unasked; n != 1 {
			t.Errorf("%d unasked calls, want 1", n)
		}
	}
}

func TestArguments(t *testing.T) {
	dir := folder(t, "p/aaaa.jsonl", claude("aaaa", "a1"), "p/q/bbbb.jsonl", claude("bbbb", "b1"), "cccc.txt", claude("cccc", "c1"), "notes.md", "x")
	if err := os.Symlink(filepath.Join(dir, "cccc.txt"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	all := filepath.Join(t.TempDir(), "all")
	if err := os.Symlink(dir, all); err != nil {
		t.Fatal(err)
	}
	if got := ids(find(t, all)); got != "aaaa bbbb cccc" {
		t.Errorf("a link to a folder: %s", got)
	}
	for args, want := range map[string]string{
		"":                   "aaaa bbbb cccc",
		"cccc.txt":           "cccc",
		"link":               "cccc",
		"cccc.txt link":      "cccc",
		"p p/aaaa.jsonl p/q": "aaaa bbbb",
		"*.txt":              "cccc",
		"p/*":                "aaaa bbbb",
		"**/*.jsonl":         "aaaa bbbb",
		"**/q/**":            "bbbb",
		"p/[a]*":             "aaaa",
		"p/**/../aaaa.jsonl": "aaaa",
		"notes.md p":         "(notes.md) aaaa bbbb",
	} {
		var paths []string
		for _, a := range strings.Split(args, " ") {
			paths = append(paths, filepath.Join(dir, a))
		}
		set, err := Find(t.Context(), paths, options())
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		if got := ids(set); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

func ids(set *Set) string {
	var got []string
	for _, l := range set.Lost {
		got = append(got, "("+filepath.Base(l.Path)+")")
	}
	for _, f := range set.Families {
		got = append(got, f.Session)
	}
	slices.Sort(got)
	return strings.Join(got, " ")
}

func TestBadArguments(t *testing.T) {
	dir := folder(t, "notes.md", "x", "a.jsonl", "x")
	for arg, want := range map[string]string{
		"gone":     "no such file",
		"*.gone":   "no file matches",
		"[":        "syntax error in pattern",
		"notes.md": "contains no session in a known format",
		".":        "contains no session in a known format",
		"-":        "contains no session in a known format",
	} {
		if arg != stdin {
			arg = filepath.Join(dir, arg)
		}
		o := options()
		o.Stdin = strings.NewReader("hello")
		if _, err := Find(t.Context(), []string{arg}, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(ctx, []string{dir}, options()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that of the context", err)
	}
}

func TestOneUnreadableAmongMany(t *testing.T) {
	var files []string
	for i := range 1000 {
		id := fmt.Sprintf("s%03d", i)
		files = append(files, id+".jsonl", claude(id, id+"c"))
	}
	dir := folder(t, files...)
	if err := os.Remove(filepath.Join(dir, "s500.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("gone", filepath.Join(dir, "s500.jsonl")); err != nil {
		t.Fatal(err)
	}
	set := find(t, dir)
	if len(set.Families) != 999 || len(set.Lost) != 1 || !set.Lost[0].Failed || !strings.HasSuffix(set.Lost[0].Path, "s500.jsonl") {
		t.Errorf("%d families, lost %v", len(set.Families), set.Lost)
	}
}

// A file that is gone when its turn comes costs its session.
func TestGoneMeanwhile(t *testing.T) {
	dir := folder(t, "a.jsonl", claude("aaaa", "a1"), "b.jsonl", claude("bbbb", "b1"))
	set := find(t, dir)
	if err := os.Remove(filepath.Join(dir, "a.jsonl")); err != nil {
		t.Fatal(err)
	}
	if got, want := told(t, set), "- aaaa: !! (a.jsonl:0 no such file or directory)\n- bbbb: b1\n"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestStandardInput(t *testing.T) {
	logs := home(t, 3, "s1", "s2")
	jsonl := exported(t, logs, "jsonl")
	both := "- s1: c1 c2 c3\n  s2: c1 c2 c3\n"
	cut := strings.TrimSuffix(jsonl, "\n")
	for name, c := range map[string]struct{ in, want string }{
		"transcript":      {claude("aaaa", "a1"), "- aaaa: a1\n"},
		"gzip":            {gz(claude("aaaa", "a1")), "- aaaa: a1\n"},
		"export":          {jsonl, both},
		"export as array": {zst(exported(t, logs, "json")), both},
		"cut":             {cut[:len(cut)-50], ""},
		"out of order":    {jsonl + jsonl, ""},
	} {
		o := options()
		o.Stdin = strings.NewReader(c.in)
		set, err := Find(t.Context(), []string{"-", "-"}, o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := told(t, set)
		if c.want == "" && !strings.Contains(got, "!!") {
			t.Errorf("%s: no failure in\n%s", name, got)
		} else if c.want != "" && sorted(got) != sorted(c.want) {
			t.Errorf("%s:\n%swant\n%s", name, got, c.want)
		}
	}
}

// sorted puts the sessions of an export in order: they come as they were listed.
func sorted(text string) string {
	text = strings.NewReplacer("- ", "", "  ", "").Replace(text)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) == 2 && lines[1] < lines[0] {
		lines[0], lines[1] = lines[1], lines[0]
	}
	return strings.Join(lines, "\n")
}

// Whatever the order of the arguments, and whatever files are named one by one,
// the same is found, and costs what it takes to read.
func TestAnyOrder(t *testing.T) {
	files := []string{"t.tar.gz", gz(tarred("d1.jsonl", claude("dddd", "p1!", "a1", "d1"), "e.jsonl", claude("eeee", "e1")))}
	for _, f := range []struct{ name, text string }{
		{"a.jsonl", claude("aaaa", "p1!", "a1", "a2", "a3")},
		{"b.jsonl", claude("bbbb", "p1!", "a1", "a2", "b3")},
		{"c.jsonl", claude("cccc", "c1")},
		{"sub/s.jsonl", claudeFrom(3, "s", "aaaa", "s1")},
		{"old/a.jsonl", claude("aaaa", "p1!", "a1")},
		{"x.jsonl", exported(t, home(t, 5, "s1", "s2"), "jsonl")},
	} {
		files = append(files, f.name, f.text)
	}
	dir := folder(t, files...)
	var read int64
	o := options()
	o.Read = func(n int64) { read += n }
	set, err := Find(t.Context(), []string{dir}, o)
	if err != nil {
		t.Fatal(err)
	}
	want := told(t, set)
	if diff := read - set.Bytes; diff < -2 || diff > 2 {
		t.Errorf("%d bytes are read, %d are to be", read, set.Bytes)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		args := []string{dir}
		for i := 0; i < len(files); i += 2 {
			if args = append(args, filepath.Join(dir, files[i])); random.IntN(3) == 0 {
				args = append(args, filepath.Join(dir, files[i]))
			}
		}
		if random.IntN(2) == 0 {
			args = args[1:]
		}
		random.Shuffle(len(args), func(i, j int) { args[i], args[j] = args[j], args[i] })
		if d := cmp.Diff(want, told(t, find(t, args...))); d != "" {
			t.Fatalf("%s (-want +got):\n%s", args, d)
		}
	}
}

// Families can be read at once, also those that are in one compressed file.
func TestAtOnce(t *testing.T) {
	var files []string
	want := map[string]bool{}
	for i := range 40 {
		id := fmt.Sprintf("s%03d", i)
		files = append(files, id+".jsonl", claude(id, id+"c"))
		want["- "+id+": "+id+"c\n"] = true
	}
	set := find(t, folder(t, "x.tar.zst", zst(tarred(files...))))
	got := make([]string, len(set.Families))
	var group sync.WaitGroup
	for i := range set.Families {
		group.Go(func() { got[i] = told(t, &Set{Families: set.Families[i : i+1]}) })
	}
	group.Wait()
	for _, one := range got {
		if !want[one] {
			t.Errorf("unexpected: %s", one)
		}
		delete(want, one)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// What is in a compressed file comes first and in its order, then the largest.
func TestReadingOrder(t *testing.T) {
	dir := folder(t,
		"t.tar.gz", gz(tarred("1", claude("zzzz", "z1"), "2", claude("kkkk", "p!", "k1"), "3", claude("aaaa", "a1"), "4", claude("zzzy", "p!", "k1", "y1"))),
		"small", claude("bbbb", "b1"), "large", claude("cccc", "c1", "c2", "c3"), "same", claude("bbbc", "d1"),
	)
	var got []string
	for _, f := range find(t, dir).Families {
		got = append(got, strings.Join(f.Sessions, "+"))
	}
	if got, want := strings.Join(got, " "), "zzzz aaaa kkkk+zzzy cccc bbbb bbbc"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
