package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
)

// shownFile is the first line of a block in README and docs that shows a file of a
// policy: a comment that names it.
var shownFile = engine.Regexp(`^(?:    |)# (?:\S*policy/)((?:rules|patterns|access|detectors|programs|places|tools|words|tokens|cases/access)/\S+\.yaml|settings\.yaml|\S+\.rego)(?: .*)?$`)

// shown returns the files of policies that a document shows, by name and the line
// that they begin in.
func shown(text string) map[string]string {
	files := map[string]string{}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		m := shownFile().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		indent := line[:strings.Index(line, "#")]
		var b strings.Builder
		for _, next := range lines[i+1:] {
			if next != "" && !strings.HasPrefix(next, indent) || next == "```" || next == "EOF" {
				break
			}
			b.WriteString(strings.TrimPrefix(next, indent) + "\n")
		}
		files[m[1]] = strings.TrimRight(b.String(), "\n") + "\n"
	}
	return files
}

// Every policy that README and docs show passes `policy check --strict`.
func TestShownPolicies(t *testing.T) {
	documents, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, name := range append(documents, "../../../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		layers := map[string]fstest.MapFS{}
		for file, content := range shown(string(text)) {
			count++
			layer := bundles.User
			if strings.Contains(content, "package policies.organisation") {
				layer = bundles.Organisation
			}
			if layers[layer] == nil {
				layers[layer] = fstest.MapFS{}
			}
			layers[layer][file] = &fstest.MapFile{Data: []byte(content)}
		}
		for layer, files := range layers {
			base := Layer{Name: bundles.Base, Files: withoutCases(), At: "default"}
			for _, p := range Policy(now, base, Layer{Name: layer, Files: files, Given: true}).Problems {
				if !strings.HasPrefix(p.File, "default/") {
					t.Errorf("%s shows: %s: %s [%s]", filepath.Base(name), p.Severity, line(p), p.Code)
				}
			}
		}
	}
	if count < 4 {
		t.Errorf("%d policies are shown", count)
	}
}
