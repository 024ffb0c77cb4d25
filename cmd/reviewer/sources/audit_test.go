package sources

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// chainFiles lists the files of the only session of a home.
func chainFiles(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "sessions", "*", "0*.jsonl"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files of the log, %v; the test needs several", len(files), err)
	}
	return files
}

const twelve = "- s1: c1 c2 c3 c4 c5 c6 c7 c8 c9 c10 c11 c12\n"

func TestAuditLogs(t *testing.T) {
	dir := home(t, 12, "s1")
	files := chainFiles(t, dir)
	for i := range files {
		if part := files[:len(files)-i]; i > 0 && strings.Contains(told(t, find(t, part...)), "!!") {
			t.Errorf("the first %d files of a log: %s", len(part), told(t, find(t, part...)))
		}
	}
	whole := folder(t,
		"log.tar.gz", gz(tarred("home/ledger/000001.jsonl", "", "home/sessions/x/000001.jsonl", read(t, files[0]))),
		"x.json", exported(t, dir, "json"), "x.jsonl", exported(t, dir, "jsonl"),
		"x.json.zst", zst(exported(t, dir, "json")),
	)
	for _, args := range [][]string{
		{dir}, {filepath.Join(dir, "sessions")}, {filepath.Dir(files[0])}, files, {dir, files[1]},
		{filepath.Join(whole, "x.json")}, {filepath.Join(whole, "x.jsonl")}, {filepath.Join(whole, "x.json.zst")},
		{whole}, {dir, whole}, {whole, files[2], files[1]},
	} {
		set := find(t, args...)
		if got := told(t, set); got != twelve {
			t.Errorf("%s: %s", args, got)
		}
		for s := range set.Families[0].Recorded(t.Context()) {
			if !s.Audit || s.Format != "audit" || s.Harness != "claude-code" {
				t.Errorf("%s: audit %t of format %q by %q", args, s.Audit, s.Format, s.Harness)
			}
		}
	}
	if got := told(t, find(t, files[1])); !strings.HasPrefix(got, "- s1: c") || strings.Contains(got, "!!") {
		t.Errorf("a file in the middle: %s", got)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The machine's own log is not a session.
func TestLedger(t *testing.T) {
	dir := home(t, 2, "s1")
	path := filepath.Join(dir, "ledger", "000001.jsonl")
	if _, err := Find(t.Context(), []string{path}, options()); err == nil || !strings.Contains(err.Error(), "machine's ledger") {
		t.Errorf("the ledger: %v", err)
	}
	if set := find(t, filepath.Join(dir, "ledger"), dir); len(set.Families) != 1 || len(set.Lost) != 0 {
		t.Errorf("%d families, lost %v", len(set.Families), set.Lost)
	}
}

// Whatever byte is changed, the session ends there, and what was read before it
// is what was written. Only the newest line is held by nothing.
func TestEachByteOfALog(t *testing.T) {
	dir := home(t, 2, "s1")
	path := chainFilesOf(t, dir)[0]
	good := []byte(read(t, path))
	lines := bytes.SplitAfter(good, []byte("\n"))
	newest := len(good) - len(lines[len(lines)-2])
	want := records(t, find(t, path))
	for at := 0; at < newest; at++ {
		bad := slices.Clone(good)
		bad[at] ^= 1
		write(t, path, string(bad))
		set, err := Find(t.Context(), []string{path}, options())
		if err != nil {
			continue // the first line: nothing is known about whose it is
		}
		got := records(t, set)
		if len(got) >= len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Fatalf("byte %d of %d: %d records are accepted, of %d", at, len(good), len(got), len(want))
		}
	}
}

func chainFilesOf(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "sessions", "*", "0*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no log", err)
	}
	return files
}

// records lists what is handed out; it fails where an error is missing or late.
func records(t testing.TB, set *Set) []string {
	t.Helper()
	var list []string
	for i := range set.Families {
		for s := range set.Families[i].Recorded(t.Context()) {
			for m, err := range s.Events {
				if err == nil {
					list = append(list, m.Record.Prev+m.Record.ID()+string(m.Record.Kind)+m.Record.Call)
				}
			}
		}
	}
	return list
}

func TestDamagedLogs(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(t *testing.T, files []string)
		want string // of the trouble
		lost int
	}{
		{"half a line at the end", func(t *testing.T, f []string) { appendTo(t, f[len(f)-1], `{"v":1,"prev":"12`) }, "", 0},
		{"half a line in the middle", func(t *testing.T, f []string) { cutEnd(t, f[1], 30) }, "records are missing", 0},
		{"a file is gone", func(t *testing.T, f []string) { os.Remove(f[1]) }, "records are missing", 0},
		{"the first files are gone", func(t *testing.T, f []string) { os.Remove(f[0]); os.Remove(f[1]) }, "", 0},
		{"a file that is being begun", func(t *testing.T, f []string) { write(t, filepath.Dir(f[0])+"/000099.jsonl", `{"v":1,"prev":"12`) }, "", 0},
		{"a line twice", func(t *testing.T, f []string) {
			l := strings.SplitAfter(read(t, f[1]), "\n")
			write(t, f[1], l[0]+l[1]+l[1])
		}, "records are missing or out of order", 0},
		{"garbage", func(t *testing.T, f []string) { write(t, f[1], strings.Replace(read(t, f[1]), "\n", "\nhello\n", 1)) }, "does not start", 0},
		{"an endless line", func(t *testing.T, f []string) { appendTo(t, f[1], strings.Repeat("x", 1<<20)) }, "longer than the longest possible record", 0},
		{"the first line of a file", func(t *testing.T, f []string) { write(t, f[1], "{"+read(t, f[1])) }, "records are missing", 1},
	} {
		dir := home(t, 12, "s1")
		c.harm(t, chainFiles(t, dir))
		set := find(t, dir)
		if len(set.Lost) != c.lost {
			t.Errorf("%s: lost %v", c.name, set.Lost)
		}
		var troubles []simulate.Trouble
		for s := range set.Families[0].Recorded(t.Context()) {
			var failed error
			for _, err := range s.Events {
				failed = err
			}
			if troubles = s.Sources().Troubles; (failed != nil) != (c.want != "") {
				t.Errorf("%s: ends with %v", c.name, failed)
			}
		}
		if c.want == "" && len(troubles) > 0 || c.want != "" && (len(troubles) != 1 || !strings.Contains(troubles[0].Why, c.want) || !troubles[0].Failed) {
			t.Errorf("%s: %v, want %q", c.name, troubles, c.want)
		}
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	write(t, path, read(t, path)+text)
}

func cutEnd(t *testing.T, path string, n int) {
	t.Helper()
	text := read(t, path)
	write(t, path, text[:len(text)-n])
}

// In an export a session ends where a record is missing, and the others are as
// they were; so it is where their records are mixed.
func TestDamagedExports(t *testing.T) {
	dir := home(t, 3, "s1", "s2")
	jsonl := exported(t, dir, "jsonl")
	lines := strings.SplitAfter(jsonl, "\n")
	half := len(lines) / 2
	var mixed strings.Builder
	for i := range half {
		mixed.WriteString(lines[i] + lines[half+i])
	}
	without := func(i int) string { return strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "") }
	for name, c := range map[string]struct {
		text   string
		failed int
		lost   int
	}{
		"whole":                 {jsonl, 0, 0},
		"mixed":                 {mixed.String(), 0, 0},
		"one record is missing": {without(2), 1, 0},
		"the first is missing":  {without(0), 1, 0},
		"garbage":               {strings.Replace(jsonl, "\n", "\n{}\n", 1), 1, 0},
		"cut in a line":         {jsonl[:len(jsonl)-20], 1, 0},
		"cut array":             {strings.TrimSuffix(exported(t, dir, "json"), "\n]\n") + "\n", 0, 1},
		"cut gzip":              {cutInflated(jsonl, len(jsonl)-20), 1, 1},
	} {
		set := find(t, folder(t, "x.jsonl", c.text))
		if got := strings.Count(told(t, set), "!!"); got != c.failed || len(set.Families) != 2 || len(set.Lost) != c.lost {
			t.Errorf("%s: %d sessions fail, want %d\n%s", name, got, c.failed, told(t, set))
		}
	}
}

// A log may begin with a keyframe, which an export makes still longer.
func TestLongFirstLine(t *testing.T) {
	r := &engine.Record{V: 1, N: 300, Kind: engine.KindKeyframe, Session: "s1", Chain: strings.Repeat("ab", 16), Prev: strings.Repeat("0", 64),
		Note: &engine.Note{Detail: strings.Repeat("<", 60_000)}}
	line, err := engine.EncodeLine(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []audit.JSON{{}, {Lines: true}} {
		var b bytes.Buffer
		if err := format.Export(&b, func(yield func(*engine.Record, error) bool) { yield(r, nil) }); err != nil {
			t.Fatal(err)
		}
		set := find(t, folder(t, "log", string(line), "x", b.String()))
		if f := set.Families; len(f) != 1 || len(f[0].chain) != 2 || len(set.Lost) != 0 || len(records(t, set)) != 1 {
			t.Errorf("%v: %d families, lost %v, records %v", format, len(f), set.Lost, records(t, set))
		}
	}
}
