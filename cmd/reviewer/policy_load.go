package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// activePolicy loads the policy that is active for a workspace: the built-in layer
// and all others that exist. It is stored by its digest before it decides anything,
// so that its decisions can be reproduced.
func activePolicy(ctx context.Context, a *cli.App, workspace string) (*review.Policy, error) {
	log, err := a.OpenStore()
	if err != nil {
		return nil, err
	}
	l, err := loadActive(ctx, log, workspace, wiring.Compile)
	if err != nil {
		return nil, err
	}
	return l.policy, nil
}

// loaded is a policy that is active for a workspace, with the log to which its audit
// settings were applied.
type loaded struct {
	policy   *review.Policy
	settings map[string]any
	log      *audit.Store
}

// loadForOne is loadActive for a process that decides about one event.
func loadForOne(ctx context.Context, log *audit.Store, workspace string) (*loaded, error) {
	return loadActive(ctx, log, workspace, wiring.CompileForOne)
}

// compiler compiles the files of a policy into one that decides.
type compiler func(context.Context, *bundles.Effective) (*review.Policy, error)

// loadActive loads the policy that is active for a workspace, and applies its audit
// settings to the log. Without a policy the retention is unknown, and nothing is deleted
// from the log.
func loadActive(ctx context.Context, log *audit.Store, workspace string, compile compiler) (*loaded, error) {
	log.Keep = true
	m := cli.MachineAt(log.Dir)
	m.Log = log
	e, err := m.Effective(workspace)
	if err != nil {
		return nil, err
	}
	applyAudit(log, e.Settings)
	p, err := compile(ctx, e)
	if err != nil {
		return nil, err
	}
	kept := bundles.Store{
		Dir: filepath.Join(log.Dir, "policies"), Budget: policiesBudget(e.Settings),
		Now: func() int64 { return time.Now().UnixMilli() },
	}
	return &loaded{p, e.Settings, log}, kept.Put(e)
}

// applyAudit applies the audit settings to the log. Settings of a project are ignored:
// its agent could delete its own traces.
func applyAudit(log *audit.Store, settings map[string]any) {
	section, _ := settings["audit"].(map[string]any)
	log.RetainDays = int(whole(section["retain_days"]))
	log.BudgetBytes = whole(section["budget_mb"]) << 20
	log.Sync, _ = section["sync"].(string)
	log.Keep = false
	interventions, _ := settings["interventions"].(map[string]any)
	log.IncidentDays = int(whole(interventions["preserve_incident_data_days"]))
}

// policiesBudget is how many bytes the policies that decided may take.
func policiesBudget(settings map[string]any) int64 {
	section, _ := settings["audit"].(map[string]any)
	return whole(section["policies_mb"]) << 20
}

// whole reads a whole number of YAML, or of JSON.
func whole(v any) int64 {
	switch n := v.(type) {
	case int:
		return int64(n)
	case float64:
		return int64(n)
	}
	return 0
}
