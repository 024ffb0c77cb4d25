package rego

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The checks that are left out for the built-in policy change no answer.
func TestCompileKnown(t *testing.T) {
	e, _ := shipped(t)
	full, err := Compile(context.Background(), e.Modules(), e.Data)
	if err != nil {
		t.Fatal(err)
	}
	known, err := CompileKnown(context.Background(), e.Modules(), e.Data)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range full.compiler.Modules {
		if got := known.compiler.Modules[name]; got == nil || got.String() != m.String() {
			t.Errorf("%s is compiled to other rules", name)
		}
	}
	for i, q := range questions() {
		want, errWant := full.Decide(context.Background(), &q.in, q.findings)
		got, errGot := known.Decide(context.Background(), &q.in, q.findings)
		if (errWant == nil) != (errGot == nil) || !cmp.Equal(want, got) {
			t.Errorf("question %d: %v, %v\n%s", i, errWant, errGot, cmp.Diff(want, got))
		}
	}
}

// What is not left out: names, safety, forbidden built-ins.
func TestCompileKnownStillChecks(t *testing.T) {
	for name, rule := range map[string]string{
		"unsafe variable": "decision := {\"decision\": x}",
		"clock":           "decision := {\"decision\": time.now_ns()}",
		"no such name":    "decision := nothing(1)",
	} {
		_, err := CompileKnown(context.Background(), map[string]string{"base/a.rego": "package reviewer\n\n" + rule}, map[string]any{})
		if err == nil || !slices.ContainsFunc([]string{"unsafe", "undefined"}, func(w string) bool { return strings.Contains(err.Error(), w) }) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
