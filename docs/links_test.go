package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

var (
	links    = engine.Regexp(`\]\(([^)\s]+)\)`)
	headings = engine.Regexp(`(?m)^#+ (.*)$`)
	notWord  = engine.Regexp("[^a-z0-9 _-]")
	code     = engine.Regexp("(?ms)^```.*?^```$|``.*?``|`[^`\n]*`")
)

// anchor is the name by which GitHub links to a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(notWord().ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

func pages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range append(names, "../README.md", "../cmd/reviewer/guide/reference.md", "../cmd/reviewer/guide/recipes.md") {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(raw)
	}
	return texts
}

// Each link in the README and in the pages leads to a file, and to a heading in it.
func TestLinks(t *testing.T) {
	texts := pages(t)
	count := 0
	for page, text := range texts {
		for _, m := range links().FindAllStringSubmatch(code().ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			count++
			file, fragment, _ := strings.Cut(m[1], "#")
			name := page
			if file != "" {
				name = strings.TrimPrefix(filepath.ToSlash(filepath.Join(filepath.Dir(page), file)), "../docs/")
			}
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
				continue
			}
			if fragment != "" && !hasAnchor(texts[name], fragment) {
				t.Errorf("%s links to %s, a heading that the page does not have", page, m[1])
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d links were found", count)
	}
}

func hasAnchor(text, name string) bool {
	for _, h := range headings().FindAllStringSubmatch(text, -1) {
		if anchor(h[1]) == name {
			return true
		}
	}
	return false
}

// The index lists every page, and says about each whether it is generated.
func TestIndex(t *testing.T) {
	texts := pages(t)
	index := texts["README.md"]
	for name, text := range texts {
		if name == "README.md" || strings.HasPrefix(name, "../") {
			continue
		}
		row := regexp.MustCompile(`(?m)^\| \[` + regexp.QuoteMeta(name) + `\].*\| (yes|partly|) ?\|$`).FindStringSubmatch(index)
		if row == nil {
			t.Errorf("README.md has no row for %s", name)
			continue
		}
		if made := strings.Contains(text, "go generate ./schemas") && strings.Contains(text[:min(len(text), 300)], "<!--"); made && row[1] != "yes" {
			t.Errorf("README.md does not mark %s as generated", name)
		}
	}
}
