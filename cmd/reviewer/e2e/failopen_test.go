package e2e

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/fail-open.md again")

const waysPage = "../../../docs/fail-open.md"

func TestPageOfWays(t *testing.T) {
	want := RenderWays(Ways())
	if *update {
		if err := writeFile(waysPage, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(waysPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/fail-open.md is not what the table says (-table +page), -update writes it:\n%s", diff)
	}
}

// A way that is neither closed nor found is a hole, and a row without a test is
// a claim.
func TestNoWayIsOpen(t *testing.T) {
	names := map[string]bool{}
	for _, w := range Ways() {
		if !w.Closed && w.Doctor == "" && !w.Reconcile {
			t.Errorf("%s: neither closed nor found", w.Name)
		}
		if names[w.Name] {
			t.Errorf("%s: two rows of that name", w.Name)
		}
		names[w.Name] = true
		if w.Test != "" && !declared(t, w.Test) {
			t.Errorf("%s: no test is called %s", w.Name, w.Test)
		}
	}
}

// declared looks for a test in the sources, since those that need the client
// are not compiled here.
func declared(t *testing.T, name string) bool {
	t.Helper()
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(source, []byte("\nfunc "+name+"(")) {
			return true
		}
	}
	return false
}
