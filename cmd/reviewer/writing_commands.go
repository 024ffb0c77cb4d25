package main

import "github.com/spf13/cobra"

// writingCommands are those of `reviewer policy` that read, write and try a policy.
func (a *app) writingCommands() []*cobra.Command {
	return []*cobra.Command{
		a.policyNewCommand(), a.policyShowCommand(), a.policyRulesCommand(), a.policyFmtCommand(), a.policyCapabilitiesCommand(),
		a.policyCheckCommand(), a.policyTestCommand(), a.policyImportCommand(), a.policyDiffCommand(), a.policyEffectiveCommand(),
	}
}
