package wiring

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
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
	if *updatePrecompiled {
		if err := os.WriteFile("precompiled.bin", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want, precompiled) {
		t.Error("precompiled.bin is not what the modules are compiled to: run make precompiled")
	}
}
