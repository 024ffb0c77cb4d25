package cli

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/subprocess"
)

// PolicyRef returns the policy that a reference names.
func (a *App) PolicyRef(ctx context.Context, ref string) (*bundles.Effective, error) {
	e, err := active.References{Machine: a.machine, Git: subprocess.GitTree, Signed: func(archive string) {
		fmt.Fprintf(a.Stderr, "reviewer: policy %s has signatures, which this command does not check\n", Masked(archive))
	}}.Policy(ctx, ref)
	if err != nil {
		return nil, &PathError{Path: ref, Err: err}
	}
	return e, nil
}

// PolicyFiles returns the files of a reference to one layer outside a folder; nil for
// every other reference.
func (a *App) PolicyFiles(ctx context.Context, ref string) (fs.FS, error) {
	return active.References{Git: subprocess.GitTree, Signed: func(archive string) {
		fmt.Fprintf(a.Stderr, "reviewer: policy %s has signatures, which this command does not check\n", Masked(archive))
	}}.Files(ctx, ref)
}

// PolicyFlag is the help of --policy, which takes a reference everywhere.
const PolicyFlag = "policy `REF`: " + active.RefForms

// ShownPolicy is the policy that --policy names, or the one that is active in the
// working directory if it names none.
func (a *App) ShownPolicy(ctx context.Context, ref string) (*bundles.Effective, error) {
	return a.PolicyRef(ctx, cmp.Or(ref, active.RefActive))
}

// machine is where this machine keeps its policies.
func (a *App) machine() (active.Machine, error) {
	home, err := a.StateHome()
	a.NoteMissingHome()
	return MachineAt(home), err
}

// FormerPolicies finds the policies of earlier decisions: in this machine's state
// directory, and then in others.
func (a *App) FormerPolicies(others []string) (*active.PolicyFinder, error) {
	home, err := a.StateHome()
	if err != nil {
		return nil, err
	}
	return active.NewPolicyFinder(append([]string{home}, others...)), nil
}
