package cli

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

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
	a.NoteOwn(e.Notice)
	return e, nil
}

// NoteOwn writes on standard error which changes of the person's own policy are not active; empty: there are none.
func (a *App) NoteOwn(text string) {
	if text != "" {
		fmt.Fprintf(a.Stderr, "reviewer: %s\n", Masked(text))
	}
}

// NoteWritten does so after files of a folder were written, if it is in the person's own policy.
func (a *App) NoteWritten(dir string) error {
	home, err := a.StateHome()
	if err != nil {
		return err
	}
	m := MachineAt(home)
	own, err := filepath.EvalSymlinks(active.LayerDir(bundles.User, home, ""))
	if err != nil {
		return nil // there is none
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || real != own && !strings.HasPrefix(real, own+string(filepath.Separator)) {
		return nil
	}
	e, err := m.Effective("")
	if err == nil { // what is wrong with the policy is for other commands to say
		a.NoteOwn(e.Notice)
	}
	return nil
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
