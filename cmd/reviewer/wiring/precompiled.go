package wiring

import (
	"context"
	"embed"

	"github.com/agent-reviewer/reviewer/rego"
)

// prepared contains the modules of the built-in policy (precompiled.bin) and its conditions (conditions.bin),
// compiled. `make prepared` writes them. Without them, or if they are of other sources or versions, the modules
// are compiled at each start, and the conditions when a call needs them.
//
//go:embed all:prepared
var prepared embed.FS

// preparedFile returns one of these files; nil: there is none.
func preparedFile(name string) []byte {
	raw, err := prepared.ReadFile("prepared/" + name)
	if err != nil {
		return nil
	}
	return raw
}

// compileBuiltIn is a RegoCompiler for policies whose Rego comes with the program.
func compileBuiltIn(ctx context.Context, modules map[string]string, data map[string]any) (*rego.Host, error) {
	return rego.CompileFrom(ctx, preparedFile("precompiled.bin"), modules, data)
}

// compileForOne is compileBuiltIn for a process that decides about one event.
func compileForOne(ctx context.Context, modules map[string]string, data map[string]any) (*rego.Host, error) {
	return rego.CompileForOne(ctx, preparedFile("precompiled.bin"), modules, data)
}
