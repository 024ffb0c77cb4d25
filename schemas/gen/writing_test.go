package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/bundles"
)

func TestGuideIsCurrent(t *testing.T) {
	want, err := guide("../..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../cmd/reviewer/guide/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("cmd/reviewer/guide/reference.md is out of date; run go generate ./schemas\n%s", diff)
	}
}

// Each placeholder that messages may have is in the guide, and no other.
func TestPlaceholdersAreAll(t *testing.T) {
	var names []string
	for _, p := range placeholders() {
		names = append(names, p.name)
		if p.about == "" || p.when == "" || p.example == "" {
			t.Errorf("%+v is not described", p)
		}
	}
	fields := bundles.MessageFields()
	slices.Sort(names)
	slices.Sort(fields)
	if diff := cmp.Diff(fields, names); diff != "" {
		t.Errorf("placeholders differ from bundles.MessageFields (-fields +guide):\n%s", diff)
	}
}

// Each object that the input holds has its table.
func TestGuideHasAllOfTheInput(t *testing.T) {
	text, err := os.ReadFile("writing/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	definitions := parsed(t, "input.json")["definitions"].(map[string]any)
	for name := range definitions {
		older := name == "legacyDenied" || name == "terminals" // for older policies; one list, which has a table
		if !older && !strings.Contains(string(text), `{{fields "input.json" "`+name+`"}}`) {
			t.Errorf("the guide has no table of input.json's %s", name)
		}
	}
}
