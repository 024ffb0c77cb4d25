package rego

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Compiled quickly, modules have the same errors as OPA reports, in the same words, and the same rules without errors.
func TestCompileQuickly(t *testing.T) {
	for name, source := range map[string]string{
		"sound":             "p if q\n\nq := input.a\n\ndefault r := {}\n\nr := {\"a\": 1} if p\n",
		"recursive":         "p if q\n\nq if p\n",
		"its own branch":    "p := 1 if input.a\n\nelse := 2 if p == 3\n",
		"maybe recursive":   "p contains data.reviewer[input.x]\n\nq := p\n",
		"wrong type":        "p if count(1) > 0\n",
		"both":              "p if q\n\nq if p\n\nr if count(1) > 0\n",
		"unsafe":            "p if x > 1\n",
		"nothing to choose": "default r := {}\n\np := r.a\n",
	} {
		modules := map[string]*ast.Module{"base/p.rego": ast.MustParseModule("package reviewer\n\n" + source)}
		prepare := func(c *ast.Compiler) *ast.Compiler { return c.WithStrict(true).SetErrorLimit(0) }
		for _, leaveOut := range [][]ast.StageID{nil, {ast.StageCheckTypes}, {ast.StageCheckRecursion}} {
			want := prepare(ast.NewCompiler().WithSkipStages(leaveOut...))
			want.Compile(modules)
			got := compileQuickly(modules, leaveOut, prepare)
			if got.Errors.Error() != want.Errors.Error() || len(got.Modules) != len(want.Modules) {
				t.Errorf("%s without %v: %v and %d modules; OPA: %v and %d modules", name, leaveOut, got.Errors, len(got.Modules), want.Errors, len(want.Modules))
			}
			if !got.Failed() && got.Modules["base/p.rego"].String() != want.Modules["base/p.rego"].String() {
				t.Errorf("%s without %v: %s; OPA: %s", name, leaveOut, got.Modules["base/p.rego"], want.Modules["base/p.rego"])
			}
		}
	}
}
