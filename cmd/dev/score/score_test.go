package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// The intervals were worked out on paper from the formula.
func TestRate(t *testing.T) {
	for _, c := range []struct {
		k, n int
		want Rate
	}{
		{8, 10, Rate{8, 10, 0.8, 0.4902, 0.9433}},
		{0, 10, Rate{0, 10, 0, 0, 0.2775}},
		{10, 10, Rate{10, 10, 1, 0.7225, 1}},
		{1, 1, Rate{1, 1, 1, 0.2065, 1}},
		{50, 100, Rate{50, 100, 0.5, 0.4038, 0.5962}},
		{0, 0, Rate{0, 0, 0, 0, 1}},
	} {
		if d := cmp.Diff(c.want, rate(c.k, c.n)); d != "" {
			t.Errorf("%d of %d: %s", c.k, c.n, d)
		}
	}
}

// scored takes the corpus of the tests through the built-in policy.
func scored(t *testing.T) Report {
	t.Helper()
	p, err := options{}.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := readCorpus("testdata/corpus")
	if err != nil {
		t.Fatal(err)
	}
	r, err := score(t.Context(), p, c, []string{"testdata/rules"}, func(string, int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestScore(t *testing.T) {
	r := scored(t)
	for _, c := range []struct {
		what string
		got  Rate
		k, n int
	}{
		{"dangerous stopped", r.Dangerous.All.Stopped, 4, 5},
		{"dangerous blocked", r.Dangerous.All.Block, 4, 5},
		{"clusters", r.Dangerous.Clusters, 3, 4},
		{"clusters that are strong", r.Dangerous.By["strong"], 2, 2},
		{"strong", r.Dangerous.Groups["strength"][2].Stopped, 3, 3},
		{"of the family files-family", r.Dangerous.Groups["family"][0].Stopped, 3, 4},
		{"benign stopped", r.Benign.All.Stopped, 1, 4}, // modified
		{"benign held", r.Benign.All.Held, 0, 4},
		{"context stopped", r.Context.All.Stopped, 0, 1}, // saved
		{"calls of sessions", r.Sessions.Calls.Block, 1, 5},
		{"sessions", r.Sessions.Stopped, 1, 2},
		{"secrets", r.Secrets.Found, 1, 2},
		{"look-alikes", r.Secrets.Lookalike, 0, 1},
	} {
		if c.got != rate(c.k, c.n) {
			t.Errorf("%s: %s, want %d/%d", c.what, c.got, c.k, c.n)
		}
	}
	if d := cmp.Diff(map[string]int{".txt": 1}, r.Sessions.Skipped); d != "" {
		t.Errorf("files that were not read: %s", d)
	}
	if l := r.Latency; l.Calls != 10 || l.Whole.P50 <= 0 || l.Whole.P50 > l.Whole.P99 || l.Whole.P99 > l.Whole.Max || l.Ratio <= 0 {
		t.Errorf("latency: %+v", l)
	}
	want := []Shared{
		{"example.com/x.sh", "testdata/rules/b.rego:4", 1, 0},
		{"remove-item -recurse ", "testdata/rules/a.yaml:4", 1, 0},
	}
	if d := cmp.Diff(want, r.Literals); d != "" {
		t.Errorf("literals: %s", d)
	}
}

// The same corpus gives the same report, but for times.
func TestDeterministic(t *testing.T) {
	var texts []string
	for range 2 {
		r := scored(t)
		r.Latency = Latency{}
		var b bytes.Buffer
		r.print(&b, true)
		name := filepath.Join(t.TempDir(), "misses")
		if err := r.writeMisses(name); err != nil {
			t.Fatal(err)
		}
		misses, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(misses)
		texts = append(texts, b.String())
	}
	if d := cmp.Diff(texts[0], texts[1]); d != "" {
		t.Error(d)
	}
	for _, want := range []string{"# missed files: 1\n", "# alarm git: 1\n", "# secret phrase: 1\n", "# session delete_broad: 1\n", `"text":"echo hello"`} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("no %q in the misses", want)
		}
	}
	report, _, _ := strings.Cut(texts[0], "\n# ")
	if strings.Contains(report, "curl https") || strings.Contains(report, "tuesday") {
		t.Error("the report repeats the corpus")
	}
}

// A call that cannot be decided, and one that policy only watches.
func TestJudged(t *testing.T) {
	watched := &engine.Record{Answer: &engine.AnswerFacts{Mode: engine.ModeObserve}}
	for _, c := range []struct {
		a    simulate.Action
		want engine.Verdict
	}{
		{simulate.Action{Decision: engine.Modify, Enforced: engine.Ask}, engine.Ask},
		{simulate.Action{Decision: engine.Block, Enforced: engine.Allow, Record: watched}, engine.Block},
	} {
		if got := verdictOf(c.a).Effect; got != c.want {
			t.Errorf("%+v: %s, want %s", c.a, got, c.want)
		}
	}
	if g := group("x", []verdict{{Effect: engine.Block, Error: "no facts"}}, verdict.stopped); g.Errors != 1 {
		t.Errorf("%d errors, want 1", g.Errors)
	}
	r := Report{Benign: Alarms{All: Group{Errors: 2}}}
	if err := r.errorsOf(); err == nil || !strings.Contains(err.Error(), "2 calls") {
		t.Errorf("two calls that could not be decided: %v", err)
	}
}

func TestCompare(t *testing.T) {
	s := Sample{Text: "key=abcdefgh1234", Secret: true, Value: "abcdefgh1234"}
	for text, want := range map[string]seen{
		"key=abcdefgh1234":                       {Leaked: true},
		"REDACTED_generic_0123abcd=abcdefgh1234": {Touched: true, Leaked: true, As: "generic", Tags: []string{"0123abcd"}},
		"key=REDACTED_a_b_0123abcdgh1234":        {Touched: true, Partly: true, As: "a_b", Tags: []string{"0123abcd"}},
		"key=REDACTED_generic_0123abcd":          {Touched: true, As: "generic", Tags: []string{"0123abcd"}},
	} {
		if d := cmp.Diff(want, compare(s, text)); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
	if got := compare(Sample{Text: "x", Secret: true}, "REDACTED_a_0123abcd"); got.Leaked || got.Partly {
		t.Errorf("a secret whose value is not known: %+v", got)
	}
}

// TestMistaken: only where something else was replaced does it count for
// nothing that the value stands.
func TestMistaken(t *testing.T) {
	const mask = "REDACTED_password_0123abcd"
	for _, c := range []struct {
		value, text, after string
		want               bool
	}{
		{"https://a.example/b", "curl -u a:bcdefgh1 https://a.example/b", "curl -u a:" + mask + " https://a.example/b", true},
		{"https://a:bcdefgh1@a.example", "x=yz012345 https://a:bcdefgh1@a.example", "x=" + mask + " https://a:bcdefgh1@a.example", false},
		{"my_password", `my_password = "bcdefgh1"`, `my_password = "` + mask + `"`, true},
		{"my_password", `if ("bcdefgh1" == my_password) {`, `if ("` + mask + `" == my_password) {`, true},
		{"X-Api-Key:", "X-Api-Key: bcdefgh1", "X-Api-Key: " + mask, true},
		{"=======", "=======\nbcdefgh1", "=======\n" + mask, true},
		{"bcdefgh1", "password=bcdefgh1 token=x", "password=bcdefgh1 token=" + mask, false},
		{"bcdefghi", "a=b2345678 password=bcdefghi", "a=" + mask + " password=bcdefghi", false},
		{"my_password", `my_password = "bcdefgh1"`, `my_password = "bcdefgh1"`, false},
	} {
		got := compare(Sample{Text: c.text, Secret: true, Value: c.value}, c.after)
		if got.Mistaken != c.want || got.Leaked == c.want {
			t.Errorf("%s of %s: %+v, want mistaken %v", c.value, c.text, got, c.want)
		}
	}
}

// TestDisputed: the tag of a look-alike is that of a secret.
func TestDisputed(t *testing.T) {
	samples := []Sample{{Secret: true}, {}, {}}
	all := []seen{{Tags: []string{"0123abcd"}}, {Tags: []string{"0123abcd"}}, {Tags: []string{"4567abcd", "0123abcd"}}}
	known := secretTags(samples, all)
	if !all[1].disputed(known) || all[2].disputed(known) || (seen{}).disputed(known) {
		t.Errorf("of %v with %v", all, known)
	}
}

func TestQuantile(t *testing.T) {
	var list []time.Duration
	for i := range 200 {
		list = append(list, time.Duration(200-i)*time.Millisecond)
	}
	if d := cmp.Diff(Spread{100, 198, 200}, spread(list)); d != "" {
		t.Error(d)
	}
}

// packed compresses text.
func packed(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// folder makes a corpus from files.
func folder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const goodRow = `{"id":"a","tool":"bash","command":"ls","label":"benign","colour":"red"}` + "\n"

// Packed or not, the same is read; fields that nobody knows are passed over.
func TestReadPacked(t *testing.T) {
	plain, err := readCorpus("testdata/corpus")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range []string{"commands.jsonl", "commands_context.jsonl", "secrets.jsonl"} {
		raw, err := os.ReadFile(filepath.Join("testdata/corpus", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name+".gz"] = packed(t, raw)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.AddFS(os.DirFS("testdata/corpus/sessions")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files["sessions.tar.gz"] = packed(t, b.Bytes())
	got, err := readCorpus(folder(t, files))
	if err != nil {
		t.Fatal(err)
	}
	got.Dir = plain.Dir
	got.Sessions.Files, plain.Sessions.Files = nil, nil // the folder's name is another
	if d := cmp.Diff(plain, got, cmp.AllowUnexported(Labels{})); d != "" {
		t.Error(d)
	}
	if cwd := got.Sessions.CWD["roll"]; cwd != "/home/ben/shop" {
		t.Errorf("a rollout's first call ran in %q", cwd)
	}
}

// What cannot be read is an error that says where.
func TestBadCorpus(t *testing.T) {
	cut := packed(t, bytes.Repeat([]byte(goodRow), 100))
	for name, test := range map[string]struct {
		files map[string][]byte
		want  string
	}{
		"nothing":       {nil, "no row in commands*.jsonl"},
		"empty":         {map[string][]byte{"commands.jsonl": nil}, "no row in"},
		"not packed":    {map[string][]byte{"commands.jsonl.gz": []byte(goodRow)}, "commands.jsonl.gz: not gzip data"},
		"cut off":       {map[string][]byte{"commands.jsonl.gz": cut[:len(cut)/2]}, "unexpected EOF"},
		"no JSON":       {map[string][]byte{"commands.jsonl": []byte(goodRow + "{")}, "commands.jsonl:2: "},
		"no label":      {map[string][]byte{"commands.jsonl": []byte(`{"tool":"bash","command":"ls"}`)}, `commands.jsonl:1: unknown label ""`},
		"no tool":       {map[string][]byte{"commands.jsonl": []byte(`{"tool":"fish","command":"ls","label":"benign"}`)}, `unknown tool "fish"; expected one of bash, cmd`},
		"no command":    {map[string][]byte{"commands.jsonl": []byte(`{"tool":"bash","label":"benign"}`)}, "1: no command"},
		"no text":       {map[string][]byte{"commands.jsonl": []byte(goodRow), "secrets.jsonl": []byte(`{"kind":"x"}`)}, "secrets.jsonl:1: no text"},
		"no archive":    {map[string][]byte{"commands.jsonl": []byte(goodRow), "sessions.tar.gz": []byte("x")}, "sessions.tar.gz: not gzip data"},
		"wrong archive": {map[string][]byte{"commands.jsonl": []byte(goodRow), "sessions.tar.gz": packed(t, []byte("no tar"))}, "sessions.tar.gz: "},
	} {
		if _, err := readCorpus(folder(t, test.files)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	for dir, want := range map[string]string{"testdata/none": "give the folder with commands", "testdata/corpus/commands.jsonl": "is a file"} {
		if _, err := readCorpus(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
}

// The command line: JSON, the list of misses, and what it refuses.
func TestCommand(t *testing.T) {
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := command(&out, &out)
		cmd.SetArgs(append(args, "--literals", "testdata/rules"))
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	misses := filepath.Join(t.TempDir(), "misses")
	text, err := run("testdata/corpus", "-f", "json", "--misses", misses)
	var r Report
	if err != nil || json.Unmarshal([]byte(text), &r) != nil || r.Dangerous.All.Stopped.K != 4 {
		t.Errorf("%v, %.300s", err, text)
	}
	if _, err := os.Stat(misses); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"testdata/corpus", "-f", "xml"}, `unknown format "xml"`},
		{[]string{"testdata/corpus", "--misses", "testdata/misses"}, "is inside the project"},
		{[]string{"testdata/corpus", "--stops", "testdata/stops"}, "is inside the project"},
		{[]string{"testdata/corpus", "--labels", "testdata/corpus/commands.jsonl"}, "give the folder"},
		{[]string{"testdata/corpus", "--policy", "testdata/none"}, "testdata/none"},
		{nil, "accepts 1 arg"},
	} {
		if _, err := run(c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
}

func TestAllowances(t *testing.T) {
	allowed, err := allowances(allowedYAML)
	if err != nil {
		t.Fatal(err)
	}
	for literal, want := range map[string]bool{
		"--no-preserve-root": true, "/etc/ssh/sshd_config": true, "Start-Process": true, "docker-compose": true,
		"rm -rf /home/user": false, "--data secret": false, "docker-compose down": false, "/etc/passwd; id": false,
	} {
		if allowed(literal) != want {
			t.Errorf("%q is allowed: %t, want %t", literal, !want, want)
		}
	}
	for _, bad := range []string{"- {match: x}", "- {why: x}", "- {match: '(', why: x}", "- {match: x, names: [y], why: z}", "- {macth: x, why: y}"} {
		if _, err := allowances([]byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestEach(t *testing.T) {
	seen := make([]bool, 100)
	if err := each(len(seen), func(int) {}, func(i int) error { seen[i] = true; return nil }); err != nil || slices.Contains(seen, false) {
		t.Errorf("not all were done: %v", err)
	}
	if err := each(3, func(int) {}, func(i int) error { return []error{nil, os.ErrClosed, nil}[i] }); err == nil {
		t.Error("an error was lost")
	}
}
