package codes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// Each code is described whole, once, and in order.
func TestDescriptions(t *testing.T) {
	if !slices.IsSorted(Names()) || len(slices.Compact(Names())) != len(Names()) {
		t.Error("the codes are not sorted, or one is there twice")
	}
	for _, c := range All() {
		if !slices.Contains([]string{levelError, levelWarning, levelBoth}, c.Level) {
			t.Errorf("%s: level %q", c.Code, c.Level)
		}
		for name, text := range map[string]string{"title": c.Title, "why": c.Why, "fix": c.Fix, "wrong": c.Wrong, "right": c.Right} {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: %s is empty", c.Code, name)
			}
		}
		if len(c.Why)+len(c.Fix) < 90 {
			t.Errorf("%s: is hardly described", c.Code)
		}
	}
}

// TestFilesExist refuses a description that names a document or schema that there is not.
func TestFilesExist(t *testing.T) {
	name := engine.Regexp(`\b(docs|schemas)/[a-z_-]+\.[a-z]+`)
	for _, c := range All() {
		for _, file := range name().FindAllString(c.Why+" "+c.Fix, -1) {
			if _, err := os.Stat(filepath.Join("../../..", file)); err != nil {
				t.Errorf("%s names %s: %v", c.Code, file, err)
			}
		}
	}
}

// Every code that the program gives is described, and every one that is described
// is given.
func TestCodesAreUsed(t *testing.T) {
	given := map[string]bool{}
	form := engine.Regexp(`"((?:case|cel|data|detector|facts|file|ignore|manifest|rego|row|rule|settings?|text|yaml)\.[a-z_]+)"[,}) \n]`)
	for _, dir := range []string{"../../../bundles", "../../../rego", "../../../cel", "../lint", "../wiring"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range form().FindAllSubmatch(text, -1) {
				given[string(m[1])] = !strings.HasSuffix(name, "_test.go") || given[string(m[1])]
			}
		}
	}
	for name := range given {
		if _, known := Of(name); !known && given[name] && !slices.Contains([]string{"settings.yaml", "settings.json", "data.yaml", "data.json", "data.reviewer", "data.p", "rego.parse_module", "cel.bind"}, name) {
			t.Errorf("%s is not described in codes.yaml", name)
		}
	}
	for _, name := range Names() {
		if !given[name] {
			t.Errorf("%s is described, and nothing gives it", name)
		}
	}
}
