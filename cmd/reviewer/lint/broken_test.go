package lint

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/codes"
)

var updateBroken = flag.Bool("update-broken", false, "write what is said of testdata/broken")

// wantFile holds the one line that is said about an input.
const wantFile = "want"

// quiet is the manifest of inputs that bring none: they need no cases, titles, harms and readers.
const quiet = `{"roots": ["policies/user"], "metadata": {"lint": {"rule.untested": "off", "rule.metadata": "off", "rule.no_harm": "off", "rego.unused": "off"}}}`

// input is one layer with a mistake in it.
type input struct {
	name  string
	files fstest.MapFS
	want  string
}

// inputs reads an archive: its files are NAME/FILE, those of one input one after
// the other.
func inputs(a *txtar.Archive) []*input {
	var list []*input
	for _, f := range a.Files {
		name, file, _ := strings.Cut(f.Name, "/")
		if len(list) == 0 || list[len(list)-1].name != name {
			list = append(list, &input{name: name, files: fstest.MapFS{}})
		}
		last := list[len(list)-1]
		if file == wantFile {
			last.want = string(f.Data)
			continue
		}
		last.files[file] = &fstest.MapFile{Data: f.Data}
	}
	return list
}

// said is all that is said about an input, a line each.
func (in *input) said(t *testing.T, base fstest.MapFS) string {
	t.Helper()
	if in.files[".manifest"] == nil && !strings.HasPrefix(in.name, "no manifest") {
		in.files[".manifest"] = &fstest.MapFile{Data: []byte(quiet)}
	}
	delete(in.files, "empty") // a layer without any file of its own
	below := Layer{Name: bundles.Base, Files: base, At: "base"}
	var b strings.Builder
	for _, p := range Policy(now, below, Layer{Name: bundles.User, Files: in.files, Given: true}).Problems {
		fmt.Fprintf(&b, "%s: %s: %s [%s]\n", p.Place, p.Severity, p.Text(), p.Code)
	}
	return b.String()
}

// withPrograms adds to a base what the built-in policy knows about programs.
func withPrograms(t *testing.T, base fstest.MapFS) {
	t.Helper()
	for _, file := range []string{"git.yaml", "cloud.yaml", "containers.yaml", "database.yaml", "net.yaml", "packages.yaml"} {
		data, err := fs.ReadFile(bundles.DefaultFS(), "programs/"+file)
		if err != nil {
			t.Fatal(err)
		}
		base["programs/"+file] = &fstest.MapFile{Data: data}
	}
}

// One thing is said about each input: its root cause, with the place and what to do.
// The texts are in testdata/broken, and -update-broken writes them.
func TestBroken(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	count, given := 0, map[string]bool{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		base := bare(t)
		if filepath.Base(file) == "silent.txtar" {
			withPrograms(t, base)
		}
		for _, in := range inputs(archive) {
			got := in.said(t, base)
			count++
			if *updateBroken {
				in.want = got
				rewrite(archive, in)
			}
			_, code, _ := strings.Cut(strings.TrimSuffix(got, "]\n"), " [")
			if i := strings.LastIndex(code, "["); i >= 0 {
				code = code[i+1:]
			}
			given[code] = true
			switch {
			case got != in.want:
				t.Errorf("%s: %s:\n got %swant %s", file, in.name, got, in.want)
			case strings.Count(got, "\n") != 1:
				t.Errorf("%s: %s: more or less than one thing is said:\n%s", file, in.name, got)
			}
		}
		if *updateBroken {
			if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if count < 90 {
		t.Errorf("%d inputs", count)
	}
	for code := range given {
		if _, known := codes.Of(code); !known {
			t.Errorf("there is no code %q", code)
		}
	}
}

// rewrite puts what is said into the archive.
func rewrite(a *txtar.Archive, in *input) {
	var files []txtar.File
	done := false
	for i, f := range a.Files {
		if f.Name != in.name+"/"+wantFile {
			files = append(files, f)
		}
		last := i+1 == len(a.Files) || !strings.HasPrefix(a.Files[i+1].Name, in.name+"/")
		if strings.HasPrefix(f.Name, in.name+"/") && last && !done {
			files, done = append(files, txtar.File{Name: in.name + "/" + wantFile, Data: []byte(in.want)}), true
		}
	}
	a.Files = files
}

// What only looks like one of these mistakes is right.
func TestRight(t *testing.T) {
	files := map[string]string{
		"access/acme.yaml": `id: acme
rules:
  - {id: remove, effect: deny, commands: [rm]}
  - {id: more, effect: require_approval, commands: ["rm *"]}
  - {id: make, effect: allow, commands: [make]}
`,
		"cases/acme.yaml": `- name: the list
  cases:
    - {Bash: rm, decision: block, rules: [access.acme.remove]}
    - {Bash: rm a, decision: ask, rules: [access.acme.more]}
`,
		"detectors/acme.yaml": `- id: acme.customer
  title: A customer
  pattern: 'KD-[0-9]{8}'
  in: [results]
  examples: {match: [KD-12345678], no_match: [KD-1]}
`,
		"rules/acme.yaml": `- id: acme.prod
  title: Production
  severity: high
  decision: ask
  message: "{tool} is about production"
  match: {phases: [pre, post], detected: [acme.customer]}
`,
		"rules/acme.rego": `package policies.user

findings contains _made(c) if some c in input.action.commands

findings contains f if {
	input.phase == "pre"
	f := object.union({"id": "acme.prod"}, {"message": "m"})
}

_made(c) := {"id": "acme.prod"} if c.name == "acmectl"
`,
	}
	in := &input{name: "right", files: fstest.MapFS{}}
	for name, text := range files {
		in.files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	if got := in.said(t, bare(t)); got != "" {
		t.Error(got)
	}
}
