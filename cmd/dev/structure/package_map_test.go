package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var updatePackages = flag.Bool("update-packages", false, "write the map of packages in docs/architecture.md again")

// docs/architecture.md has a row for each package: the first sentence of its
// comment, and what of this module it may import.
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

// packageMap is the table, lowest packages first within each folder, as the walls
// have them.
func packageMap(t *testing.T) string {
	docs := packageDocs(t)
	var b strings.Builder
	b.WriteString("| package | what it is | imports from this module |\n|---|---|---|\n")
	for _, w := range walls() {
		first := docs[w.from]
		if first == "" {
			t.Errorf("%s has no package comment", w.from)
		}
		var ours []string
		for _, m := range w.may {
			if head, _, _ := strings.Cut(m, "/"); !strings.Contains(head, ".") {
				ours = append(ours, m)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", w.from, first, strings.Join(ours, ", "))
	}
	return b.String()
}

// packageDocs are the first sentences of the packages' comments, without the words
// that name the package.
func packageDocs(t *testing.T) map[string]string {
	named := regexp.MustCompile(`^(Package|Command) \w+ `)
	docs := map[string]string{}
	for name, p := range goPackages(t, "linux") {
		text := strings.TrimSuffix(named.ReplaceAllString(p.Doc, ""), ".")
		docs[name] = strings.ReplaceAll(text, "|", `\|`)
	}
	return docs
}
