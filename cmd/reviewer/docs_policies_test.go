package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/guide"
	"github.com/agent-reviewer/reviewer/engine"
)

// The examples of the documents for authors that have a file name are policies:
// those of the guide together are one, and each recipe is one. They are checked
// strictly and tested, as a reader would who copied them.

var exampleBlock = engine.Regexp("(?ms)^```[a-z]+ file=(\\S+)\n(.*?)^```$")

// exampleFiles puts the blocks of a string into files, and says how many there are.
// Blocks of one file follow each other.
func exampleFiles(t *testing.T, text, dir string) int {
	t.Helper()
	blocks := exampleBlock().FindAllStringSubmatch(text, -1)
	for _, b := range blocks {
		file := filepath.Join(dir, filepath.FromSlash(b[1]))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(file)
		if err == nil {
			before = append(before, '\n')
		}
		if err := os.WriteFile(file, append(before, b[2]...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return len(blocks)
}

func reviewerSays(t *testing.T, args ...string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command("reviewer", args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &out, append(os.Environ(), "REVIEWER_HOME="+t.TempDir())
	if err := cmd.Run(); err != nil {
		t.Errorf("reviewer %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
}

func checkExamples(t *testing.T, dir string) {
	t.Helper()
	reviewerSays(t, "policy", "check", dir, "--strict")
	reviewerSays(t, "policy", "test", dir)
	reviewerSays(t, "policy", "fmt", "--check", dir)
}

func TestGuideExamples(t *testing.T) {
	dir := t.TempDir()
	blocks := 0
	for _, topic := range guide.Topics() {
		if topic.Name != "recipes" {
			blocks += exampleFiles(t, topic.Text, dir)
		}
	}
	if blocks < 14 {
		t.Errorf("only %d examples were found", blocks)
	}
	checkExamples(t, dir)
}

func TestRecipes(t *testing.T) {
	var text string
	for _, topic := range guide.Topics() {
		if topic.Name == "recipes" {
			text = topic.Text
		}
	}
	recipes := strings.Split(text, "\n## ")[1:]
	if len(recipes) < 10 {
		t.Errorf("there are %d recipes", len(recipes))
	}
	for _, recipe := range recipes {
		name, _, _ := strings.Cut(recipe, "\n")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			manifest := `{"revision": "", "roots": ["policies/organisation"], "rego_version": 1, "metadata": {"name": "recipe", ` +
				`"version": "0.1.0", "sequence": 1, "requires": {"engine": 1}}}`
			if err := os.WriteFile(filepath.Join(dir, ".manifest"), []byte(manifest), 0o644); err != nil {
				t.Fatal(err)
			}
			if exampleFiles(t, recipe, dir) < 2 {
				t.Fatal("a recipe has rules and cases")
			}
			for _, folder := range []string{"rules", "cases"} {
				if _, err := os.Stat(filepath.Join(dir, folder)); err != nil {
					t.Error(err)
				}
			}
			checkExamples(t, dir)
		})
	}
}
