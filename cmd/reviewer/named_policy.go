package main

import (
	"context"
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles"
)

// policyRef returns the policy that a reference names.
func (a *app) policyRef(ctx context.Context, ref string) (*bundles.Effective, error) {
	return references{machine: a.machine, git: gitTree, signed: func(archive string) {
		fmt.Fprintf(a.stderr, "reviewer: policy %s carries signatures, which are not checked here: whose it is stays open\n", told(archive))
	}}.policy(ctx, ref)
}

// shownPolicy is the policy of a folder, or the one that holds in the working
// directory where no folder is named.
func (a *app) shownPolicy(dir string) (*bundles.Effective, error) {
	if dir != "" {
		layers, err := layersFrom(dir)
		if err != nil {
			return nil, err
		}
		return bundles.Assemble(layers...)
	}
	m, err := a.machine()
	if err != nil {
		return nil, err
	}
	return m.effectiveHere()
}

// machine is where this machine keeps its policies.
func (a *app) machine() (thisMachine, error) {
	home, err := a.stateHome()
	return machineAt(home), err
}

// formerPolicies finds the policies that have decided: in this machine's state
// directory, and then in others.
func (a *app) formerPolicies(others []string) (*formerPolicies, error) {
	home, err := a.stateHome()
	if err != nil {
		return nil, err
	}
	return formerPoliciesIn(append([]string{home}, others...)), nil
}
