package wiring

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/rego"
)

var updatePrecompiled = flag.Bool("update-precompiled", false, "write the files of prepared again")

func builtIn(t *testing.T) *bundles.Effective {
	t.Helper()
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// With -update-precompiled, this writes the modules that the program embeds. The same policy gives the same bytes.
func TestPrecompiled(t *testing.T) {
	e := builtIn(t)
	write(t, "precompiled.bin", func() ([]byte, error) { return rego.Precompile(e.Modules()) })
}

// The same for conditions.
func TestPrecompiledConditions(t *testing.T) {
	e := builtIn(t)
	write(t, "conditions.bin", func() ([]byte, error) { return cel.Precompile(AllConditions(e)) })
}

func write(t *testing.T, name string, make func() ([]byte, error)) {
	t.Helper()
	first, err := make()
	if err != nil {
		t.Fatal(err)
	}
	if *updatePrecompiled {
		if err := os.WriteFile(filepath.Join("prepared", name), first, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := make(); err != nil || !bytes.Equal(first, again) {
		t.Errorf("the bytes differ each time (%v)", err)
	}
}

// Without prepared files, or with those of another policy, the built-in policy compiles as well. That the
// decisions are the same is tested where the files are written (packages rego and cel).
func TestNotPrepared(t *testing.T) {
	e := builtIn(t)
	for _, raw := range [][]byte{nil, []byte("other")} {
		if _, err := CompileWith(context.Background(), e, func(ctx context.Context, modules map[string]string, data map[string]any) (*rego.Host, error) {
			return rego.CompileFrom(ctx, raw, modules, data)
		}); err != nil {
			t.Error(err)
		}
		host, err := cel.CompileFrom(raw, AllConditions(e))
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range host.Check() {
			t.Error(wrong)
		}
	}
}
