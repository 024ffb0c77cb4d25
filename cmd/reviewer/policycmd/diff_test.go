package policycmd

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/agent-reviewer/reviewer/schemas"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"golang.org/x/tools/txtar"
)

// diffsOf returns pairs of policies with the expected report: before/ and after/
// contain the files, want the text.
func diffsOf(t *testing.T) map[string]*txtar.Archive {
	t.Helper()
	names, err := filepath.Glob("../../../testdata/diff/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no pairs of policies: %v", err)
	}
	all := map[string]*txtar.Archive{}
	for _, name := range names {
		if all[name], err = txtar.ParseFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// policyIn assembles the policy in a folder of an archive.
func policyIn(t *testing.T, ar *txtar.Archive, dir string) *bundles.Effective {
	t.Helper()
	files := fstest.MapFS{}
	for _, f := range ar.Files {
		if name, ok := strings.CutPrefix(f.Name, dir+"/"); ok {
			files[name] = &fstest.MapFile{Data: f.Data}
		}
	}
	e, err := active.PolicyOfFiles(dir, func() (fs.FS, error) { return files, nil })
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func changesIn(t *testing.T, ar *txtar.Archive, before, after string) diff.Changes {
	t.Helper()
	c, err := diff.Policies(policyIn(t, ar, before), policyIn(t, ar, after), rego.Differences)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var shortDigest = regexp.MustCompile(`[0-9a-f]{12}\n`)

// REVIEWER_UPDATE=1 writes what is told now into the files, for a person to read.
func TestDiffText(t *testing.T) {
	for name, ar := range diffsOf(t) {
		var b bytes.Buffer
		DiffText(&b, term.Paint{}, []string{"before", "after"}, changesIn(t, ar, "before", "after"))
		got := shortDigest.ReplaceAllString(b.String(), "DIGEST\n")
		want := &ar.Files[len(ar.Files)-1]
		if os.Getenv("REVIEWER_UPDATE") != "" {
			want.Data = []byte(got)
			if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(string(want.Data), got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == 0x202e }); i >= 0 {
			t.Errorf("%s: a character that acts on a terminal: %q", name, got[i:min(len(got), i+20)])
		}
	}
}

// In Markdown, what policies say is in fences that it cannot end.
func TestDiffGitHub(t *testing.T) {
	for name, ar := range diffsOf(t) {
		var b bytes.Buffer
		if err := diffGitHub(&b, []string{"before", "after"}, changesIn(t, ar, "before", "after")); err != nil {
			t.Fatal(err)
		}
		fence := ""
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			switch {
			case fence == "" && strings.HasPrefix(line, "```"):
				fence = strings.TrimSuffix(line, "diff")
			case fence != "" && line == fence:
				fence = ""
			case fence == "" && strings.Contains(line, "@everybody"):
				t.Errorf("%s: outside a fence: %s", name, line)
			case fence != "" && strings.HasPrefix(line, fence), fence != "" && !strings.ContainsAny(line[:1], "+- @"):
				t.Errorf("%s: in a fence: %q", name, line)
			}
		}
		if fence != "" {
			t.Errorf("%s: a fence is open at the end:\n%s", name, b.String())
		}
	}
}

// A comment stays below what GitHub takes, and says what is left out.
func TestDiffGitHubIsBounded(t *testing.T) {
	c := diff.Changes{Before: diff.Snapshot{Layers: make([]diff.SnapshotLayer, 1)}, After: diff.Snapshot{Layers: make([]diff.SnapshotLayer, 1)}}
	for range 3000 {
		c.List = append(c.List, diff.Change{Kind: diff.KindRule, Name: "shop.a", Did: diff.Added, Parts: []diff.Part{{Name: "title", After: strings.Repeat("x", 100)}}})
	}
	var b bytes.Buffer
	if err := diffGitHub(&b, []string{"a", "b"}, c); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 65_000 || !strings.Contains(b.String(), " more (-f text or -f json has all)") {
		t.Errorf("%d bytes, ending in %q", b.Len(), b.String()[b.Len()-200:])
	}
}

// What -f json writes is as schemas/diff.json says, both ways.
func TestDiffJSON(t *testing.T) {
	text, err := schemas.FS.ReadFile("diff.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.CompileString("diff.json", string(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, ar := range diffsOf(t) {
		for _, way := range [][2]string{{"before", "after"}, {"after", "before"}, {"after", "after"}} {
			raw, err := json.Marshal(changesIn(t, ar, way[0], way[1]))
			if err != nil {
				t.Fatal(err)
			}
			var doc any
			if err := json.Unmarshal(raw, &doc); err != nil {
				t.Fatal(err)
			}
			doc.(map[string]any)["v"] = 1.0 // which the command adds
			if err := schema.Validate(doc); err != nil {
				t.Errorf("%s: %s to %s: %v", name, way[0], way[1], err)
			}
		}
	}
}

// Of three layers it is told what each says, which value holds, and which part.
func TestSettingsSaid(t *testing.T) {
	layer := func(name, settings string) *bundles.Bundle {
		b, err := bundles.FromFiles(map[string][]byte{"settings.yaml": []byte(settings)}, name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(base, layer(bundles.Organisation, "risk: {high_threshold: 0.7}\nhosts: {known: [a, b]}"),
		layer(bundles.User, "risk: {high_threshold: 0.75}\nhosts: {known: [b, c]}"), layer(bundles.Project, "risk: {high_threshold: 0.65}"))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"risk.high_threshold": "risk.high_threshold = 0.65\n  base         0.8 (replaced)\n  organisation 0.7 (no effect)\n  user         0.75 (no effect)\n  project      0.65 (effective)\n",
		"hosts.known":         "hosts.known = [\"b\"]\n  base         [] (replaced)\n  organisation [\"a\",\"b\"] (part of the effective value)\n  user         [\"b\",\"c\"] (part of the effective value)\n",
	} {
		said, err := layerSettings(e, key)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		(&effectiveDocument{Settings: said, key: key}).settings(&b, term.Paint{})
		if !strings.Contains(b.String(), want) {
			t.Errorf("want %s\ngot %s", want, b.String())
		}
	}
}
