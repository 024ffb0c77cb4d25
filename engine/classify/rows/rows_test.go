package rows_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

func layer(name string, adds bool, text string) rows.Layer {
	return rows.Layer{Name: name, Adds: adds, Files: map[string][]byte{"programs/a.yaml": []byte(text)}}
}

func program(t *testing.T, name string, layers ...rows.Layer) rows.Known {
	t.Helper()
	k, ok, err := rows.New(layers).Program(name)
	if err != nil || !ok && len(k.Added) == 0 {
		t.Fatalf("%s: found %v, %v", name, ok, err)
	}
	return k
}

// TestSplit holds the blocks of every built-in file to what YAML reads there.
func TestSplit(t *testing.T) {
	files, err := filepath.Glob("../../../bundles/default/*/*.yaml")
	more, _ := filepath.Glob("../../../bundles/default/programs/converted/*.yaml")
	if err != nil || len(more) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range append(files, more...) {
		if folder := filepath.Base(filepath.Dir(file)); folder != "converted" && !rows.Has(strings.ReplaceAll(strings.Join(rows.Folders(), " "), "/", ""), folder) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var whole map[string]any
		if err := yaml.Unmarshal(text, &whole); err != nil {
			t.Fatal(file, err)
		}
		parts := map[string]any{}
		for _, b := range rows.Split(string(text)) {
			var part map[string]any
			if err := yaml.Unmarshal([]byte(b.Text), &part); err != nil || len(part) != 1 {
				t.Fatalf("%s:%d: a block of %d rows: %v", file, b.Line, len(part), err)
			}
			for names, row := range part {
				parts[names] = row
				if diff := cmp.Diff(strings.Fields(names), b.Names); diff != "" {
					t.Errorf("%s:%d: names (-yaml +split):\n%s", file, b.Line, diff)
				}
			}
		}
		if diff := cmp.Diff(whole, parts); diff != "" {
			t.Errorf("%s (-whole +blocks):\n%s", file, diff)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("a b:\n  values: -x\n# c\n\"d e\": {}\n")
	f.Add("a:\r\n  x: |\n    y\nb")
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		for _, b := range rows.Split(text) {
			if b.Text == "" || !strings.Contains(text, b.Text) || b.Line < 1 {
				t.Errorf("block %+v of %q", b, text)
			}
			n += len(b.Text)
		}
		if n > len(text) {
			t.Errorf("%d bytes in blocks of %d", n, len(text))
		}
	})
}

// TestFlagsTakeBack: an option that is a flag of a row is none with a value there,
// whatever the row that it is like says.
func TestFlagsTakeBack(t *testing.T) {
	base := layer("base", false, "a: {values: -x -y, glued: -g, persistent: -p -q}\nb: {like: a, values: -z, flags: -x -g -p}\n")
	if b := program(t, "b", base); b.Values != "-y -z" || b.Glued != "" || b.Persistent != "-q" || b.Flags != "-x -g -p" {
		t.Errorf("b: %+v", b.Program)
	}
	if a := program(t, "a", base); a.Values != "-x -y" {
		t.Errorf("a changed: %+v", a.Program)
	}
}

// TestLayers: the organisation says what a program does, before the base layer;
// others only add.
func TestLayers(t *testing.T) {
	base := layer("base", false, "shop:\n  values: -a\n  cases:\n    - {sub: x, do: [{process: exec}]}\n  subcommands:\n    y: {values: -y}\n")
	org := layer("organisation", false, "shop: {values: -b, cases: [{sub: z, do: [{signal: publish}]}], subcommands: {y w: {flags: -f}}}")
	user := layer("user", true, "shop: {cases: [{do: [{end: delete}]}]}\nnew: {cases: [{do: [{end: delete}]}]}")

	k := program(t, "shop", base, org, user)
	if k.Values != "-a -b" || len(k.Cases) != 2 || k.Cases[0].Sub != "z" || k.Place.Layer != "organisation" {
		t.Errorf("joined: %+v", k)
	}
	if y, ok := k.Subcommand("y"); !ok || y.Values != "-y" || y.Flags != "-f" {
		t.Errorf("subcommand y: %+v", y)
	}
	if len(k.Added) != 1 || k.Added[0].Place.Layer != "user" {
		t.Errorf("added: %+v", k.Added)
	}
	if k := program(t, "new", base, org, user); k.Does() || len(k.Added) != 1 {
		t.Errorf("a row of the user made a program known: %+v", k)
	}
	replaced := layer("organisation", false, "shop: {replace: true, values: -c}")
	if k := program(t, "shop", base, replaced); k.Values != "-c" || k.Does() {
		t.Errorf("replaced: %+v", k)
	}
}

// TestConverted: facts of others follow rows of our own, and never make a
// program known.
func TestConverted(t *testing.T) {
	files := map[string][]byte{"programs/a.yaml": []byte("own: {cases: [{do: []}]}"),
		"programs/converted/a.yaml": []byte("own: {values: -x}\nforeign: {values: -y, runs: 0}")}
	base := rows.Layer{Name: "base", Files: files}
	if k := program(t, "own", base); k.Converted || k.Values != "" {
		t.Errorf("own: %+v", k)
	}
	if k := program(t, "foreign", base); !k.Converted || k.Runs == nil {
		t.Errorf("foreign: %+v", k)
	}
	org := layer("organisation", false, "foreign: {cases: [{do: []}]}")
	if k := program(t, "foreign", base, org); k.Converted || !k.Does() || k.Values != "" {
		t.Errorf("taught: %+v", k)
	}
}

func TestNamesThatBegin(t *testing.T) {
	base := layer("base", false, "\"mkfs*\": {go: destroysDisk}\nmkfs.none: {cases: [{do: []}]}\n")
	if k := program(t, "mkfs.ext4", base); k.Go != "destroysDisk" {
		t.Errorf("mkfs.ext4: %+v", k)
	}
	if k := program(t, "mkfs.ext4", base, layer("project", true, "mkfs.ext4: {values: -x}")); k.Go != "destroysDisk" || len(k.Added) != 1 {
		t.Errorf("a row of the project hides that of the base layer: %+v", k)
	}
	if k := program(t, "mkfs.none", base); k.Go != "" {
		t.Errorf("mkfs.none: %+v", k)
	}
}

// TestBrokenRow: what cannot be read is an error, never a row that says nothing.
func TestBrokenRow(t *testing.T) {
	set := rows.New([]rows.Layer{layer("base", false, "a: {values: [}\nb: {}\n")})
	if _, ok, err := set.Program("a"); err == nil || ok || !strings.Contains(err.Error(), "base/programs/a.yaml:1") {
		t.Errorf("a: %v, %v", ok, err)
	}
	if _, _, err := set.Program("b"); err != nil {
		t.Errorf("b: %v", err)
	}
}

// TestManyRows: ten thousand rows are read as one is.
func TestManyRows(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "tool%d:\n  values: -x%d\n", i, i)
	}
	if k := program(t, "tool9999", layer("organisation", false, b.String())); k.Values != "-x9999" || k.Place.Line != 19_999 {
		t.Errorf("the last row: %+v", k)
	}
}

// TestLike follows rows that are like others, and no circle of them.
func TestLike(t *testing.T) {
	set := rows.New([]rows.Layer{layer("base", false, "a: {service: s, values: -x, cases: [{do: []}]}\nb: {like: a, values: -y}\n"+
		"c: {like: b, service: other}\nd: {like: e}\ne: {like: d}\nf: {like: none}\n")})
	for name, want := range map[string][2]string{"b": {"s", "-x -y"}, "c": {"other", "-x -y"}} {
		k, ok, err := set.Program(name)
		if got := [2]string{k.Service, k.Values}; err != nil || !ok || got != want || len(k.Cases) != 1 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"d", "e", "f"} {
		if _, _, err := set.Program(name); err == nil {
			t.Errorf("%s is like itself, or like nothing, and no error", name)
		}
	}
}

// TestChanged tells which programs other rows say something else of.
func TestChanged(t *testing.T) {
	then := rows.New([]rows.Layer{layer("base", false, "a: {values: -x}\nb c: {values: -y}\n\"m*\": {}\ne: {like: f}\nf: {cases: [{do: [{as: a}]}]}\n")})
	now := rows.New([]rows.Layer{layer("base", false, "# moved\nb c: {values: -y}\na: {values: -z}\n\"m*\": {values: -q}\n"+
		"e: {like: f}\nf: {cases: [{do: [{as: a}]}]}\n"),
		layer("user", true, "d: {cases: []}")})
	changed := rows.Changed(then, now, rows.ProgramsFolder)
	for name, want := range map[string]bool{"a": true, "b": false, "c": false, "d": true, "mkfs": true, "other": false, "e": true, "f": true} {
		if got := changed(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestDigest(t *testing.T) {
	a, b := layer("base", false, "a: {}"), layer("base", false, "b: {}")
	var none *rows.Set
	same := rows.New([]rows.Layer{a}).RowsDigest()
	if same == "" || same != rows.New([]rows.Layer{a}).RowsDigest() || same == rows.New([]rows.Layer{b}).RowsDigest() {
		t.Error("the digest does not tell rows apart")
	}
	if none.RowsDigest() != "" || rows.New(nil).RowsDigest() != "" {
		t.Error("no rows have a digest")
	}
}

func TestSelectors(t *testing.T) {
	for text, want := range map[string]rows.Selector{
		"operands": {Kind: rows.SelectOperands, To: -1}, "operands 1-": {Kind: rows.SelectOperands, From: 1, To: -1},
		"operands 0-1": {Kind: rows.SelectOperands, To: 1}, "operand 2": {Kind: rows.SelectOperands, From: 2, To: 2},
		"-o --output": {Kind: rows.SelectOptions, Options: "-o --output"}, "=dns": {Kind: rows.SelectText, Text: "dns"},
		"rest": {Kind: rows.SelectRest}, "last": {Kind: rows.SelectLast}, "but last": {Kind: rows.SelectButLast},
	} {
		if got, err := rows.Selectors(text); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "operand", "operand x", "operands 2", "operands -1", "everything", "operand 1-2"} {
		if got, err := rows.Selectors(text); err == nil {
			t.Errorf("%q: %+v, no error", text, got)
		}
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		pattern, word string
		want          bool
	}{{"a|b", "b", true}, {"a|b", "c", false}, {"get-*", "get-x", true}, {"get-*", "get", false}, {"-", "", true}, {"-", "x", false}, {"*", "", true}} {
		if got := rows.Fits(strings.Split(c.pattern, "|"), c.word); got != c.want {
			t.Errorf("%s of %q: %v", c.pattern, c.word, got)
		}
	}
}

// BenchmarkProgram is what the first look at the built-in rows costs: an index
// of all, and one row read.
func BenchmarkProgram(b *testing.B) {
	layers := classifytest.Layers()
	for b.Loop() {
		if _, ok, err := rows.New(layers).Program("git"); err != nil || !ok {
			b.Fatal("no row for git", err)
		}
	}
}
