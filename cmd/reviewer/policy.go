package main

import (
	"slices"

	"github.com/spf13/cobra"
)

func (a *app) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Work with policy: show what is active, simulate a change, import another tool's",
		Long:  "Exit codes of every policy command: 0 fine, 1 could not run, 2 findings.",
	}
	return group(cmd, slices.Concat(a.writingCommands(), a.releaseCommands(), []*cobra.Command{a.policySimulateCommand(), a.policyExplainCommand()})...)
}
