package wiring

import (
	"context"
	_ "embed" // for the compiled modules

	"github.com/agent-reviewer/reviewer/rego"
)

// precompiled are the modules of the built-in policy, compiled. `make precompiled` writes them
// after its Rego has changed; until then the modules are compiled at each start.
//
//go:embed precompiled.bin
var precompiled []byte

// precompiledConditions are the conditions of the built-in policy, compiled. `make precompiled` writes
// them after a change; until then, those that differ are compiled when a call needs them.
//
//go:embed conditions.bin
var precompiledConditions []byte

// compileBuiltIn is a RegoCompiler for policies whose Rego comes with the program.
func compileBuiltIn(ctx context.Context, modules map[string]string, data map[string]any) (*rego.Host, error) {
	return rego.CompileFrom(ctx, precompiled, modules, data)
}

// compileForOne is compileBuiltIn for a process that decides about one event.
func compileForOne(ctx context.Context, modules map[string]string, data map[string]any) (*rego.Host, error) {
	return rego.CompileForOne(ctx, precompiled, modules, data)
}
