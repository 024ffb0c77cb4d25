package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The Go types of settings are what their schema says.
func TestTypesAreCurrent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.go")
	if err := write(file); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../engine/settings/settings.go")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), string(want)); diff != "" {
		t.Errorf("engine/settings/settings.go is out of date; run go generate ./schemas\n%s", diff)
	}
}
