package main

import (
	"context"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine/audit"
)
import "github.com/agent-reviewer/reviewer/engine/review"

// activePolicy loads the policy that holds for a workspace: the one that ships,
// and the layers that there are. It is kept by its digest before it decides
// anything, so that what it decides can be computed again.
func activePolicy(ctx context.Context, a *cli.App, workspace string) (*review.Policy, error) {
	log, err := a.OpenStore()
	if err != nil {
		return nil, err
	}
	return livePolicy(ctx, log, workspace)
}

// livePolicy is activePolicy, and has the log kept as the settings say. Where
// there is no policy nobody knows how long, and nothing of the log is deleted.
func livePolicy(ctx context.Context, log *audit.Store, workspace string) (*review.Policy, error) {
	log.Keep = true
	e, err := cli.MachineAt(log.Dir).Effective(workspace)
	if err != nil {
		return nil, err
	}
	keepLog(log, e.Settings)
	p, err := wiring.Compile(ctx, e)
	if err != nil {
		return nil, err
	}
	return p, bundles.Store{Dir: filepath.Join(log.Dir, "policies")}.Put(e)
}
