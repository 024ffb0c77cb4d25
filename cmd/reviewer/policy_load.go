package main

import (
	"context"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/act"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
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
	return loadActive(ctx, log, workspace, wiring.Compile)
}

// loadForOne is loadActive for a process that decides about one event.
func loadForOne(ctx context.Context, log *audit.Store, workspace string) (*review.Policy, error) {
	return loadActive(ctx, log, workspace, wiring.CompileForOne)
}

// compiler compiles the files of a policy into one that decides.
type compiler func(context.Context, *bundles.Effective) (*review.Policy, error)

// loadActive loads the policy that is active for a workspace.
func loadActive(ctx context.Context, log *audit.Store, workspace string, compile compiler) (*review.Policy, error) {
	m := cli.MachineAt(log.Dir)
	m.Log = log
	e, err := m.Effective(workspace)
	if err != nil {
		return nil, err
	}
	p, err := compile(ctx, e)
	if err != nil {
		return nil, err
	}
	return p, m.Keep(e)
}

// policyLog is the log as the policy of each event keeps it.
type policyLog struct {
	*audit.Store
	under func(*review.Policy) *audit.Store
}

// Update calls fn under the session's lock.
func (l *policyLog) Update(ctx context.Context, p *review.Policy, key engine.SessionKey, fn func(history.Tail) error) error {
	return l.under(p).Update(ctx, key, fn)
}

// openedLog is the log for an event of a session that is open: where and when it was opened has been read, and stays so.
type openedLog struct {
	act.Log
	key       engine.SessionKey
	workspace string
	began     int64
}

// Workspace implements act.Log.
func (l *openedLog) Workspace(key engine.SessionKey) (workspace string, began int64, err error) {
	if key == l.key {
		return l.workspace, l.began, nil
	}
	return l.Log.Workspace(key)
}

// keptBy returns a log after applying the audit settings of a policy to it. Without a policy the
// retention is unknown, and nothing is deleted from the log. Settings of a project are ignored:
// its agent could delete its own traces.
func keptBy(log *audit.Store, p *review.Policy) *audit.Store {
	if log.Keep = p == nil; p != nil {
		set := &p.Settings.Audit
		log.RetainDays, log.BudgetBytes, log.Sync = int(set.RetainDays), set.BudgetMB<<20, set.Sync
		log.IncidentDays = int(p.Settings.Interventions.PreserveIncidentDataDays)
	}
	return log
}
