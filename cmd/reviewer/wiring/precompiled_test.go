package wiring

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/rego"
)

var updatePrecompiled = flag.Bool("update-precompiled", false, "write precompiled.bin again")

// The compiled modules are those of the built-in policy, and of this version of OPA.
func TestPrecompiled(t *testing.T) {
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		t.Fatal(err)
	}
	want, err := rego.Precompile(e.Modules())
	if err != nil {
		t.Fatal(err)
	}
	sameFile(t, "precompiled.bin", want, precompiled)
}

// The compiled conditions are those of the built-in policy, and of this version of cel-go.
func TestPrecompiledConditions(t *testing.T) {
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		t.Fatal(err)
	}
	want, err := cel.Precompile(AllConditions(e))
	if err != nil {
		t.Fatal(err)
	}
	sameFile(t, "conditions.bin", want, precompiledConditions)
}

// sameFile compares what was written with what is embedded, or writes it.
func sameFile(t *testing.T, name string, want, embedded []byte) {
	t.Helper()
	if *updatePrecompiled {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want, embedded) {
		t.Errorf("%s is not what the built-in policy is compiled to: run make precompiled", name)
	}
}
