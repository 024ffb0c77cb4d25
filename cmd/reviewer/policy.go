package main

import (
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/explaincmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/policycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/releasecmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/simulatecmd"
	"github.com/spf13/cobra"
)

func policyCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Work with policy: show what is active, simulate a change, import another tool's",
		Long:  "Exit codes of every policy command: 0 fine, 1 could not run, 2 findings.",
	}
	return cli.Group(cmd, slices.Concat(policycmd.Commands(a), releasecmd.Commands(a),
		[]*cobra.Command{simulatecmd.Command(a), explaincmd.PolicyCommand(a)})...)
}
