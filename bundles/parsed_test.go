package bundles

import (
	"flag"
	"maps"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agent-reviewer/reviewer/bundles/encoded"
)

var updateParsed = flag.Bool("update-parsed", false, "write parsed.bin again")

// parse parses a file of the built-in policy; false: it is not parsed at each start.
func parse(t *testing.T, name string, content []byte) (parsed, bool) {
	t.Helper()
	var p parsed
	var err error
	switch FileKind(name) {
	case RulesFile, RegoFile:
		if p.Rules, _, err = readConditions(name, content); FileKind(name) == RegoFile && !strings.HasPrefix(name, "rules/") {
			return p, false
		}
	case DetectorsFile:
		p.Detectors, err = readDetectors(name, content)
		for _, d := range p.Detectors {
			p.Lines = append(p.Lines, detectorLines{d.line, d.patterns, d.matches})
		}
	case DataFile:
		p.Data, err = decodeYAML(name, content)
	case Definitions:
		p.Definitions, err = readDefinitions(name, content)
	default:
		return p, false
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, true
}

// prepare returns the parsed files of the built-in policy.
func prepare(t *testing.T) string {
	t.Helper()
	files, err := FilesThatCount(DefaultFS())
	if err != nil {
		t.Fatal(err)
	}
	var all []parsedFile
	for _, name := range slices.Sorted(maps.Keys(files)) {
		p, kept := parse(t, name, files[name])
		if !kept {
			continue
		}
		raw, err := encoded.Write(p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, parsedFile{name, fileSum(name, files[name]), string(raw)})
	}
	raw, err := encoded.Write(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// With -update-parsed, this writes what the program embeds. The same policy gives the same bytes.
func TestParsed(t *testing.T) {
	want := prepare(t)
	if *updateParsed {
		if err := os.WriteFile("prepared/parsed.bin", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if prepare(t) != want {
		t.Error("the bytes differ each time")
	}
}

// What was parsed before is what a parser makes of the file: values, their types and the
// positions of texts.
func TestParsedBefore(t *testing.T) {
	files, err := FilesThatCount(DefaultFS())
	if err != nil {
		t.Fatal(err)
	}
	n, before := 0, readParsed(prepare(t))
	for name, content := range files {
		want, kept := parse(t, name, content)
		got, known := parsedIn(before, name, content)
		if kept != known {
			t.Errorf("%s: kept %v, known %v", name, kept, known)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Rule{}, Definition{}), cmp.AllowUnexported(Detector{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for i, r := range want.Rules {
			n++
			if g := got.Rules[i]; g.file != r.file || !reflect.DeepEqual(g.find(), r.find()) {
				t.Errorf("%s: rule %s is at other places", name, r.ID)
			}
		}
		for i, d := range want.Definitions {
			if g := got.Definitions[i]; g.Place("is", 1) != d.Place("is", 1) || g.file == "" {
				t.Errorf("%s: definition %s is at another place", name, d.Name)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d rules", n)
	}
}

// A file that differs, or that has another name, is parsed.
func TestParsedOther(t *testing.T) {
	files, err := FilesThatCount(DefaultFS())
	if err != nil {
		t.Fatal(err)
	}
	before := readParsed(prepare(t))
	for name, content := range files {
		if FileKind(name) != RulesFile {
			continue
		}
		if _, known := parsedIn(before, name, content); !known {
			t.Errorf("%s is not known", name)
		}
		if _, known := parsedIn(before, name, append(slices.Clone(content), '\n')); known {
			t.Errorf("%s with another line is known", name)
		}
		if _, known := parsedIn(before, "rules/other/"+path.Base(name), content); known {
			t.Errorf("%s with another name is known", name)
		}
	}
}
