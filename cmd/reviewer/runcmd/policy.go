package runcmd

import (
	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/classify"
)

// policy is the policy that is active where the run is, and the log.
type policy struct {
	*bundles.Effective
	log   *audit.Store
	mac   func([]byte) string
	world classify.System
}

func loadPolicy(a *cli.App, dir string) (p policy, err error) {
	if p.log, err = a.OpenStore(); err != nil {
		return p, err
	}
	if p.mac, err = p.log.MAC(); err != nil {
		return p, err
	}
	if p.world, err = a.World(p.log.Dir); err != nil {
		return p, err
	}
	p.Effective, err = cli.MachineAt(p.log.Dir).Effective(dir)
	return p, err
}
