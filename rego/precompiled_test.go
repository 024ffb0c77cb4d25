package rego

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
)

// hosts returns the built-in policy, compiled from its sources and from bytes.
func hosts(t *testing.T) (full, quick *Host) {
	t.Helper()
	e, _ := shipped(t)
	full, err := Compile(context.Background(), e.Modules(), e.Data)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := Precompile(e.Modules())
	if err != nil {
		t.Fatal(err)
	}
	if quick, err = CompileFrom(context.Background(), raw, e.Modules(), e.Data); err != nil {
		t.Fatal(err)
	}
	if quick.compiler.Graph != nil {
		t.Fatal("the modules were compiled, not read")
	}
	return full, quick
}

// Modules that were read from bytes are those that were compiled, and so is what OPA builds on
// them.
func TestPrecompiledModules(t *testing.T) {
	full, quick := hosts(t)
	want, got := full.compiler, quick.compiler
	if !maps.Equal(want.RewrittenVars, got.RewrittenVars) {
		t.Error("other rewritten variables")
	}
	for name, m := range want.Modules {
		read := got.Modules[name]
		if read == nil || read.String() != m.String() || read.Compare(m) != 0 {
			t.Fatalf("%s: other rules", name)
		}
		if diff := cmp.Diff(traits(want, m), traits(got, read)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	before, after := dependencies(want), dependencies(got)
	if diff := cmp.Diff(before, after); diff != "" || len(before) == 0 {
		t.Errorf("%d rules: %s", len(before), diff)
	}
}

// traits lists what the text of a module does not show: the place and the text of each rule and
// expression, flags, the rules of each index, and which comprehensions have an index.
func traits(c *ast.Compiler, m *ast.Module) []string {
	var all []string
	ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case *ast.Rule:
			index := c.RuleIndex(x.Ref().GroundPrefix())
			all = append(all, fmt.Sprint("rule", x.Default, x.Head.Assign, x.Head.Name, x.Module.Package.Path, index != nil, at(x.Location),
				at(x.Head.Location)))
		case *ast.Expr:
			all = append(all, fmt.Sprint("expr", x.Generated, x.Negated, x.Index, at(x.Location)))
		case *ast.Every:
			all = append(all, fmt.Sprint("every", at(x.Location), at(x.Domain.Location)))
		case *ast.With:
			all = append(all, fmt.Sprint("with", at(x.Location)))
		case *ast.ObjectComprehension:
			all = append(all, fmt.Sprint("key", at(x.Key.Location)))
		case *ast.Term:
			if index := c.ComprehensionIndex(x); index != nil {
				all = append(all, fmt.Sprint("index", index.Keys))
			}
		}
		return false
	}).Walk(m)
	return all
}

func at(l *ast.Location) string {
	if l == nil {
		return "nowhere"
	}
	return fmt.Sprintf(" %s:%d:%d %d %q", l.File, l.Row, l.Col, l.Offset, l.Text)
}

// dependencies lists for each rule those that it depends on, by their places.
func dependencies(c *ast.Compiler) map[string][]string {
	g, all := graphOf(c), map[string][]string{}
	for _, m := range c.Modules {
		for _, r := range m.Rules {
			for d := range g.Dependencies(r) {
				all[at(r.Location)] = append(all[at(r.Location)], at(d.(*ast.Rule).Location))
			}
			slices.Sort(all[at(r.Location)])
		}
	}
	return all
}

func TestPrecompiledDecisions(t *testing.T) {
	full, quick := hosts(t)
	e, _ := shipped(t)
	raw, err := Precompile(e.Modules())
	if err != nil {
		t.Fatal(err)
	}
	one, err := CompileForOne(t.Context(), raw, e.Modules(), e.Data)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range questions() {
		want, errWant := full.Decide(context.Background(), &q.in, q.findings)
		for _, host := range []*Host{quick, one} {
			got, errGot := host.Decide(context.Background(), &q.in, q.findings)
			if (errWant == nil) != (errGot == nil) || !cmp.Equal(want, got) {
				t.Errorf("question %d: %v, %v\n%s", i, errWant, errGot, cmp.Diff(want, got))
			}
		}
	}
	if diff := cmp.Diff(full.Places(), quick.Places()); diff != "" {
		t.Errorf("places: %s", diff)
	}
}

// Bytes of other modules, and damaged ones, are not used.
func TestCompileFromOthers(t *testing.T) {
	before := map[string]string{"base/a.rego": "package reviewer\n\ndecision := {\"decision\": \"allow\"}\n"}
	after := map[string]string{"base/a.rego": strings.Replace(before["base/a.rego"], "allow", "block", 1)}
	raw, err := Precompile(before)
	if err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string][]byte{"of other modules": raw, "none": nil, "a part": raw[:len(raw)-1]} {
		modules := after
		if name == "a part" {
			modules = before
		}
		h, err := CompileFrom(context.Background(), raw, modules, map[string]any{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if h.compiler.Graph == nil {
			t.Errorf("%s: the bytes were used", name)
		}
	}
}
