package configcmd

import (
	"context"
	"os"
	"path/filepath"
	"runtime"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
)

// asyncRemarks reports why mode async has no effect.
func asyncRemarks(ctx context.Context, e *bundles.Effective) []string {
	if e.Settings.Mode != "async" {
		return nil
	}
	var list []string
	if _, err := os.Stat(filepath.Join(filepath.Dir(cli.Program()), cli.HookClient)); runtime.GOOS != "linux" || err != nil {
		list = append(list, "mode: async needs the resident process, which hooks do not use here: every call waits for its review")
	}
	if p, err := wiring.Compile(ctx, e); err == nil && p.Early == nil {
		list = append(list, "mode: async has no effect: a rule with `always` of a layer could deny any call, so every call waits for its review")
	}
	return list
}
