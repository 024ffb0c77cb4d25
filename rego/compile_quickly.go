package rego

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// compileQuickly compiles modules without some stages, as [ast.Compiler.Compile] does, but in two thirds of the time.
// OPA searches the graph of the rules for a cycle from each rule anew, although whether the graph has an order says
// at once if there is one; and it looks for rules that others replace anew for each rule, if there are none.
func compileQuickly(modules map[string]*ast.Module, leaveOut []ast.StageID, prepare func(*ast.Compiler) *ast.Compiler) *ast.Compiler {
	with := modules
	if !slices.Contains(leaveOut, ast.StageCheckTypes) {
		with = maps.Clone(modules)
		with[replacingFile] = replacing
	}
	quick := append(slices.Clone(leaveOut), ast.StageCheckRecursion)
	c := prepare(ast.NewCompiler().WithSkipStages(quick...))
	c.Compile(with)
	delete(c.Modules, replacingFile)
	if c.Failed() || !slices.Contains(leaveOut, ast.StageCheckRecursion) && !ordered(c.Graph) {
		c = prepare(ast.NewCompiler().WithSkipStages(leaveOut...)) // every error is reported, in OPA's words
		c.Compile(modules)
	}
	return c
}

// ordered reports whether the rules of a graph have an order: none depends on itself.
func ordered(g *ast.Graph) bool {
	_, is := g.Sort()
	return is
}

// replacing is a module in which one rule replaces another.
var replacing = ast.MustParseModule("package replacing\n\none := 1\n\ntwo if one == 2 with data.replacing.one as 2\n")

const replacingFile = "replacing_test.rego"
