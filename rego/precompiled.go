package rego

import (
	"context"
	"slices"

	"github.com/agent-reviewer/reviewer/rego/precompiled"
	"github.com/open-policy-agent/opa/v1/ast"
)

// Precompile returns the compiled modules of a policy as bytes, for CompileFrom.
func Precompile(modules map[string]string) ([]byte, error) {
	c, err := compileModules(modules)
	if err != nil {
		return nil, err
	}
	return precompiled.Write(precompiled.Policy{Modules: c.Modules, Rewritten: c.RewrittenVars}, modules)
}

// CompileFrom is CompileKnown with the bytes that Precompile returned for the modules, which takes
// a tenth of the time. With bytes of other modules it is CompileKnown.
func CompileFrom(ctx context.Context, raw []byte, modules map[string]string, data map[string]any) (*Host, error) {
	return compileFrom(ctx, raw, modules, data, stagesAfter)
}

// CompileForOne is CompileFrom for a process that decides about one event: it omits what only saves
// time when a comprehension is evaluated for many values. The decisions are the same.
func CompileForOne(ctx context.Context, raw []byte, modules map[string]string, data map[string]any) (*Host, error) {
	return compileFrom(ctx, raw, modules, data, slices.DeleteFunc(slices.Clone(stagesAfter),
		func(s ast.StageID) bool { return s == ast.StageBuildComprehensionIndices }))
}

func compileFrom(ctx context.Context, raw []byte, modules map[string]string, data map[string]any, stages []ast.StageID) (*Host, error) {
	p, err := precompiled.Read(raw, modules)
	if err != nil {
		return CompileKnown(ctx, modules, data)
	}
	c := compilerOf(p, stages)
	if c.Failed() {
		return nil, c.Errors
	}
	return open(ctx, c, data)
}

// stagesAfter are the stages of a compilation that build on finished rules. The first one
// would number variables: after it, the finished modules take the place of empty ones.
var stagesAfter = []ast.StageID{
	ast.StageInitLocalVarGen, ast.StageSetModuleTree, ast.StageSetRuleTree, ast.StageBuildRuleIndices,
	ast.StageBuildComprehensionIndices,
}

// compilerOf makes a compiler that has compiled modules, with the stages that follow.
func compilerOf(p precompiled.Policy, stages []ast.StageID) *ast.Compiler {
	others := slices.DeleteFunc(ast.AllStages(), func(s ast.StageID) bool { return slices.Contains(stages, s) })
	c := ast.NewCompiler().WithCapabilities(Capabilities()).WithStrict(true).WithSkipStages(others...)
	c.WithStageAfterID(ast.StageInitLocalVarGen, ast.CompilerStageDefinition{Name: "Finished", Stage: func(c *ast.Compiler) *ast.Error {
		c.Modules, c.RewrittenVars = p.Modules, p.Rewritten
		return nil
	}})
	empty := make(map[string]*ast.Module, len(p.Modules))
	for name, m := range p.Modules {
		empty[name] = &ast.Module{Package: m.Package}
	}
	c.Compile(empty)
	return c
}

// withGraph returns a compiler that has the graph of its rules.
func withGraph(c *ast.Compiler) *ast.Compiler {
	graphOf(c)
	return c
}

// graphOf returns which rule depends on which. A compiler of finished modules has not made it,
// since no decision reads it.
func graphOf(c *ast.Compiler) *ast.Graph {
	if c.Graph == nil {
		c.Graph = ast.NewGraph(c.Modules, func(r ast.Ref) []*ast.Rule {
			return c.GetRulesDynamicWithOpts(r, ast.RulesOptions{IncludeHiddenModules: true})
		})
	}
	return c.Graph
}
