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

// compileBuiltIn is a RegoCompiler for policies whose Rego comes with the program.
func compileBuiltIn(ctx context.Context, modules map[string]string, data map[string]any) (*rego.Host, error) {
	return rego.CompileFrom(ctx, precompiled, modules, data)
}
