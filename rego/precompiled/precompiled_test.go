package precompiled

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
)

const source = `package a.b

import data.c

default allow := false

allow if {
	every x in input.list { x > 1.5 }
	not f(input.x, true) with input as {"k": [null, -3]}
} else := "other" if {
	some k, v in c.d
	{k: 1 | v == {"a", "b"}} != {i: [w | w := i] | some i in v}
}

f(x, y) := [x, y, $"text {x}"]

found contains {"id": "one"} if input.a["b"][_] == (1 + count(input.c)) * 2
`

func compiledSource(t *testing.T) (Policy, map[string]string) {
	t.Helper()
	sources := map[string]string{"a.rego": source}
	c := ast.NewCompiler()
	c.Compile(map[string]*ast.Module{"a.rego": ast.MustParseModuleWithOpts(source, ast.ParserOptions{RegoVersion: ast.RegoV1})})
	if c.Failed() {
		t.Fatal(c.Errors)
	}
	return Policy{c.Modules, c.RewrittenVars}, sources
}

func TestRead(t *testing.T) {
	want, sources := compiledSource(t)
	raw, err := Write(want, sources)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(raw, sources)
	if err != nil {
		t.Fatal(err)
	}
	m, read := want.Modules["a.rego"], got.Modules["a.rego"]
	if read.Compare(m) != 0 || read.String() != m.String() {
		t.Errorf("got\n%s\nwant\n%s", read, m)
	}
	if diff := cmp.Diff(want.Rewritten, got.Rewritten); diff != "" {
		t.Error(diff)
	}
}

func TestReadOther(t *testing.T) {
	p, sources := compiledSource(t)
	raw, err := Write(p, sources)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []map[string]string{{}, {"b.rego": source}, {"a.rego": source + "\n"}, {"a.rego": source, "b.rego": ""}} {
		if _, err := Read(raw, other); !errors.Is(err, ErrOther) {
			t.Errorf("%d files: %v", len(other), err)
		}
	}
}

// Bytes that end early, and others than were written, are an error or other rules, never a panic.
func TestReadDamaged(t *testing.T) {
	p, sources := compiledSource(t)
	raw, err := Write(p, sources)
	if err != nil {
		t.Fatal(err)
	}
	for n := range raw {
		if _, err := Read(raw[:n], sources); err == nil {
			t.Errorf("the first %d bytes of %d: no error", n, len(raw))
		}
	}
	for i := SumSize; i < len(raw); i++ {
		damaged := append([]byte{}, raw...)
		damaged[i] ^= 0x80
		_, _ = Read(damaged, sources)
	}
}
