package bundles

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNarrow(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{".", "src", "./src"},
		{"src", ".", "./src"},
		{"src docs", "src/api ./docs/ lib", "./src/api ./docs"},
		{"src/api", "src", "./src/api"},
		{"src", "source", ""},
		{".", ". src", ". ./src"},
		{"src", "src/../lib", ""},
		{"src", "src/**", "./src"},
		{".", "**", "."},
		{"src", "src/**/*.go **/*.md", "./src/**/*.go"},
		{"packages/*/src", "packages/a/src/x packages/b packages/b/src", "./packages/a/src/x ./packages/b/src"},
		{"**/test", "a/b/test/c test contest", "./a/b/test/c ./test"},
		{"a?", "a*", ""},
		{"app/[id]", "app/[id]/x app/i", "./app/[id]/x"},
		{"app/[id]*", "app/[id]x app/ix", "./app/[id]x"},
	} {
		got := strings.Trim(fmt.Sprint(narrow(anyList(c.a), anyList(c.b))), "[]")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s and %s (-want +got):\n%s", c.a, c.b, diff)
		}
	}
}

// A project says what of the workspace it is about; that it is about more than a
// person says counts for nothing.
func TestTheProjectNarrowsTheScope(t *testing.T) {
	for _, c := range []struct{ user, project, want string }{
		{"", "scope: {paths: [src, docs/]}", "[./src ./docs]"},
		{"scope: {paths: [src]}", "scope: {paths: [.]}", "[./src]"},
		{"scope: {paths: [src]}", "scope: {paths: [src/api, lib]}", "[./src/api]"},
		{"scope: {paths: [src]}", "scope: {paths: [lib]}", "[]"},
		{"scope: {paths: [./src]}", "", "[./src]"},
		{"", "", "[.]"},
	} {
		layers := []*Bundle{shippedBundle(t)}
		for _, l := range [][2]string{{User, c.user}, {Project, c.project}} {
			if l[1] != "" {
				layers = append(layers, layer(t, l[0], "settings.yaml", l[1]))
			}
		}
		e, err := Assemble(layers...)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(at(e.Document, "scope.paths")); got != c.want {
			t.Errorf("%q and %q: paths are %s, want %s", c.user, c.project, got, c.want)
		}
	}
	for _, paths := range []string{"[]", "[/]", "[/etc]", "[~/src]", "[..]", "[../other]", "['']", "src"} {
		if _, err := Assemble(shippedBundle(t), layer(t, Project, "settings.yaml", "scope: {paths: "+paths+"}")); err == nil || !strings.Contains(err.Error(), "scope.paths") {
			t.Errorf("paths %s: error %v", paths, err)
		}
	}
}

func anyList(words string) []any {
	var list []any
	for _, w := range strings.Fields(words) {
		list = append(list, w)
	}
	return list
}
