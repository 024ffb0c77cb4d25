package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// fileOf writes the rows of what convert.mjs might print, without the header.
func fileOf(t *testing.T, facts ...string) string {
	t.Helper()
	s, err := decode(strings.NewReader(strings.Join(facts, "\n") + `{"leftOut":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]*row{}
	for _, p := range s.programs {
		rows[p.Names[0]] = rowOf(p)
	}
	_, body, _ := strings.Cut(string(file(shared(rows))), "are lost.\n")
	return body
}

func TestRows(t *testing.T) {
	for _, c := range []struct{ what, fact, want string }{
		{"options by what they take",
			`{"names":["p"],"options":[{"names":["-o","--output"],"value":"next"},{"names":["-v"]},{"names":["-c"],"value":"code"},
			{"names":["-f"],"value":"script"},{"names":["-p","--color"],"value":"optional"}]}`,
			"p:\n  code: -c\n  glued: -p\n  scripts: -f\n  values: --output -o\n"},
		{"operands that are run, and a grammar",
			`{"names":["p"],"runs":1,"script":0,"first":true,"long":true}`,
			"p:\n  grammar: first long\n  runs: 1\n  script: 0\n"},
		{"danger of options, and of a subcommand with them",
			`{"names":["p"],"options":[{"names":["-D","--force"],"dangerous":true}],"subcommands":[
			{"names":["rm"],"dangerous":true,"options":[{"names":["-f"],"dangerous":true}]}]}`,
			"p:\n  dangerous: --force -D\n  subcommands:\n    rm: {dangerous: true}\n"},
		{"what takes a value everywhere is written once, the rest where it holds",
			`{"names":["p"],"subcommands":[
			{"names":["a"],"options":[{"names":["--all"],"value":"next"},{"names":["-m"],"value":"next"}]},
			{"names":["b","c"],"options":[{"names":["-m"]}]}]}`,
			"p:\n  persistent: --all\n  subcommands:\n    a: {values: -m}\n"},
		{"an option of all subcommands stays one where a subcommand has it without a value",
			`{"names":["p"],"options":[{"names":["-n"],"value":"next","persistent":true}],"subcommands":[
			{"names":["a"]},{"names":["b"],"options":[{"names":["-n"]}]},{"names":["c"],"subcommands":[{"names":["d"]}]}]}`,
			"p:\n  values: -n\n  subcommands:\n    a: {values: -n}\n    c: {persistent: -n}\n"},
		{"equal rows share a key, and the first of two with one name counts",
			`{"names":["p"],"subcommands":[{"names":["z"],"runs":0},{"names":["b","a"],"runs":0},{"names":["a"],"runs":7}]}`,
			"p:\n  subcommands:\n    a b z: {runs: 0}\n"},
		{"an option that is there twice takes the more that is said",
			`{"names":["p"],"options":[{"names":["-e"],"value":"code"},{"names":["-e"]}]}`,
			"p:\n  code: -e\n"},
		{"a program whose rows below say all",
			`{"names":["p"],"subcommands":[{"names":["a"],"subcommands":[{"names":["b"],"runs":0}]}]}`,
			"p:\n  subcommands:\n    a:\n      subcommands:\n        b: {runs: 0}\n"},
		{"what YAML would take for a number stays a word",
			`{"names":["p"],"options":[{"names":["-0"],"value":"next"}]}`,
			"p:\n  values: \"-0\"\n"},
		{"nothing known",
			`{"names":["p"],"options":[{"names":["-v"]}],"subcommands":[{"names":["a"]}]}`, ""},
	} {
		if got := fileOf(t, c.fact); got != c.want {
			t.Errorf("%s:\ngot:\n%s\nwant:\n%s", c.what, got, c.want)
		}
	}
}

func TestLongKeysAreSplit(t *testing.T) {
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("subcommand%02d", i))
	}
	got := keys(slices.Clone(names))
	if strings.Join(got, " ") != strings.Join(names, " ") || len(got) < 2 {
		t.Errorf("%d keys, or others than before: %q", len(got), got)
	}
	for _, k := range got {
		if len(k) > longestKey {
			t.Errorf("key of %d bytes", len(k))
		}
	}
}

// A large program keeps what many of its subcommands have, and all that is run.
func TestLargeProgramsAreCut(t *testing.T) {
	var subs []string
	for i := range 3000 {
		subs = append(subs, fmt.Sprintf(`{"names":["s%d"],"options":[{"names":["--common"],"value":"next"},
			{"names":["--only-of-%d"],"value":"next"}]}`, i, i))
	}
	subs = append(subs, `{"names":["x"],"options":[{"names":["-c"],"value":"code"}]}`)
	got := fileOf(t, `{"names":["p"],"subcommands":[`+strings.Join(subs, ",")+`]}`)
	if want := "p:\n  persistent: --common\n  subcommands:\n    x: {code: -c}\n"; got != want {
		t.Errorf("got:\n%.300s\nwant:\n%s", got, want)
	}
}

func TestAnotherPackageIsRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.tgz")
	if err := os.WriteFile(name, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := checkDigest(name); err == nil || !strings.Contains(err.Error(), "differs from the package") {
		t.Errorf("got %v", err)
	}
}

func TestStoppedConverter(t *testing.T) {
	if _, err := decode(strings.NewReader(`{"names":["p"]}`)); err == nil {
		t.Error("truncated output of convert.mjs is accepted")
	}
}

const (
	folder   = "../../../bundles/default/programs/converted"
	maxBytes = 150 << 10
)

// The rows that are checked in come from the version that is named here; each
// block can be read alone, and none says what contradicts itself.
func TestConverted(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files in %s: %v", len(files), folder, err)
	}
	programs := map[string]string{}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		begins := fmt.Sprintf(header, sourceName, sourceVersion, sourceLicence)
		body, ok := strings.CutPrefix(string(content), begins)
		if !ok || len(content) > maxBytes {
			t.Errorf("%s: %d bytes, of at most %d; begins as it should: %t", name, len(content), maxBytes, ok)
		}
		checkBlocks(t, name, body, programs)
	}
	if len(programs) < 500 {
		t.Errorf("only %d programs", len(programs))
	}
}

// checkBlocks reads a file as readers do, by lines at column 0.
func checkBlocks(t *testing.T, file, body string, programs map[string]string) {
	last, start := "", regexp.MustCompile(`(?m)^[^ ]`)
	starts := start.FindAllStringIndex(body, -1)
	for i, at := range starts {
		end := len(body)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		var block map[string]*row
		d := yaml.NewDecoder(strings.NewReader(body[at[0]:end]))
		d.KnownFields(true)
		if err := d.Decode(&block); err != nil || len(block) != 1 {
			t.Fatalf("%s: a block with %d rows: %v\n%.200s", file, len(block), err, body[at[0]:end])
		}
		for names, r := range block {
			if names <= last {
				t.Errorf("%s: %q after %q", file, names, last)
			}
			last = names
			checkRow(t, names, r, nil)
			for _, n := range strings.Fields(names) {
				if programs[n] != "" || strings.ToLower(n[:1])+".yaml" != filepath.Base(file) {
					t.Errorf("%s: %s is in the wrong file, or twice: %s", file, n, programs[n])
				}
				programs[n] = file
			}
		}
	}
}

func checkRow(t *testing.T, where string, r *row, above []string) {
	if text(r) == nothing {
		t.Errorf("%s says nothing", where)
	}
	has := slices.Clone(above)
	option := regexp.MustCompile(`^--?[^-\s]`)
	danger, _ := r.Dangerous.(string)
	for _, words := range []string{r.Persistent, r.Values, r.Glued, r.Code, r.Scripts, danger} {
		list := strings.Fields(words)
		if !slices.IsSorted(list) || strings.Join(list, " ") != words {
			t.Errorf("%s: not sorted, or not parted by blanks: %q", where, words)
		}
		for _, o := range list {
			if !option.MatchString(o) || slices.Contains(has, o) && words != danger {
				t.Errorf("%s: %s is not an option, or is there twice", where, o)
			}
		}
		has = append(has, list...)
	}
	if (r.Runs != nil && *r.Runs < 0) || (r.Script != nil && *r.Script < 0) {
		t.Errorf("%s: the number of an operand is negative", where)
	}
	above = append(slices.Clone(above), strings.Fields(r.Persistent)...)
	for _, n := range slices.Sorted(maps.Keys(r.Subcommands)) {
		checkRow(t, where+" "+n, r.Subcommands[n], above)
	}
}

// A file with all rows is the same as before when it is written again.
func TestConvertedIsAsWritten(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(folder, "d.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var rows map[string]*row
	if err := yaml.Unmarshal(content, &rows); err != nil {
		t.Fatal(err)
	}
	if again := file(rows); !bytes.Equal(again, content) {
		t.Error("d.yaml is not as make programs writes it")
	}
}
