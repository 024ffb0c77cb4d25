package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updatePackages = flag.Bool("update-packages", false, "write the map of packages in docs/architecture.md again")

// docs/architecture.md has a line for each package: the beginning of its comment.
func TestPackageMap(t *testing.T) {
	name := filepath.Join(root, "docs", "architecture.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	mapped := regexp.MustCompile(`(?s)(<!-- packages: .*? -->\n).*?(<!-- end of packages -->)`)
	if !mapped.Match(page) {
		t.Fatal("docs/architecture.md has no place for the map of packages")
	}
	want := mapped.ReplaceAllString(string(page), "${1}"+strings.ReplaceAll(packageMap(t), "$", "$$")+"${2}")
	if want == string(page) {
		return
	}
	if *updatePackages {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("the map of packages in docs/architecture.md is not what their comments say: " +
		"run in cmd/dev: go test ./structure -run TestPackageMap -update-packages")
}

// packageMap is a list, sorted by path.
func packageMap(t *testing.T) string {
	docs := packageDocs(t)
	list := walls()
	slices.SortFunc(list, func(a, b wall) int { return strings.Compare(a.from, b.from) })
	var b strings.Builder
	for _, w := range list {
		if docs[w.from] == "" {
			t.Errorf("%s has no package comment", w.from)
		}
		fmt.Fprintf(&b, "- `%s` %s\n", w.from, docs[w.from])
	}
	return b.String()
}

// packageDocs are the first sentences of the packages' comments, without the words
// that name the package and without what only adds details.
func packageDocs(t *testing.T) map[string]string {
	named := regexp.MustCompile(`^(Package|Command) [\w-]+ `)
	details := regexp.MustCompile(`(: |; | \(| such as|, (a process|and checks|as (far|its|they)|docs/|each|for|from|in|of which|on|one|so|that|to a|which|whose|with|without)\b).*`)
	docs := map[string]string{}
	for name, p := range goPackages(t, "linux") {
		text := strings.TrimSuffix(named.ReplaceAllString(p.Doc, ""), ".")
		docs[name] = details.ReplaceAllString(text, "")
	}
	return docs
}
