package cli

import (
	"context"
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/subprocess"
)

// PolicyRef returns the policy that a reference names.
func (a *App) PolicyRef(ctx context.Context, ref string) (*bundles.Effective, error) {
	return here.References{Machine: a.machine, Git: subprocess.GitTree, Signed: func(archive string) {
		fmt.Fprintf(a.Stderr, "reviewer: policy %s carries signatures, which are not checked here: whose it is stays open\n", Masked(archive))
	}}.Policy(ctx, ref)
}

// ShownPolicy is the policy of a folder, or the one that holds in the working
// directory where no folder is named.
func (a *App) ShownPolicy(dir string) (*bundles.Effective, error) {
	if dir != "" {
		layers, err := here.LayersFrom(dir)
		if err != nil {
			return nil, err
		}
		return bundles.Assemble(layers...)
	}
	m, err := a.machine()
	if err != nil {
		return nil, err
	}
	return m.EffectiveHere()
}

// machine is where this machine keeps its policies.
func (a *App) machine() (here.Machine, error) {
	home, err := a.StateHome()
	return MachineAt(home), err
}

// FormerPolicies finds the policies that have decided: in this machine's state
// directory, and then in others.
func (a *App) FormerPolicies(others []string) (*here.Former, error) {
	home, err := a.StateHome()
	if err != nil {
		return nil, err
	}
	return here.FormerIn(append([]string{home}, others...)), nil
}
