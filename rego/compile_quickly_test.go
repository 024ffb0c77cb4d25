package rego

import (
	"fmt"
	"slices"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Compiled quickly, modules have the errors that OPA reports, and the same rules without errors.
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
			if g, w := kinds(got.Errors), kinds(want.Errors); !slices.Equal(g, w) || len(got.Modules) != len(want.Modules) {
				t.Errorf("%s without %v: %v and %d modules; OPA: %v and %d modules", name, leaveOut, g, len(got.Modules), w, len(want.Modules))
			}
			if !got.Failed() && got.Modules["base/p.rego"].String() != want.Modules["base/p.rego"].String() {
				t.Errorf("%s without %v: %s; OPA: %s", name, leaveOut, got.Modules["base/p.rego"], want.Modules["base/p.rego"])
			}
		}
	}
}

// kinds lists errors by place and kind. Which of several cycles OPA names differs from run to run.
func kinds(errs ast.Errors) (list []string) {
	for _, e := range errs {
		list = append(list, fmt.Sprint(e.Location.Row, ":", e.Location.Col, " ", e.Code))
	}
	slices.Sort(list)
	return list
}
