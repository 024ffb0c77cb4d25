package main

import "github.com/spf13/cobra"

func (a *app) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Work with policy: show what is active, simulate a change, import another tool's",
		Long:  "Exit codes of every policy command: 0 fine, 1 could not run, 2 findings.",
	}
	return group(cmd, a.policyNewCommand(), a.policyShowCommand(), a.policyRulesCommand(), a.policyExplainCommand(), a.policyFmtCommand(), a.policyCapabilitiesCommand(), a.policyCheckCommand(), a.policyTestCommand(), a.policySimulateCommand(), a.policyBuildCommand(), a.policyKeygenCommand(), a.policySignCommand(), a.policyVerifyCommand(), a.policyTrustCommand(), a.policyImportCommand(), a.policyDiffCommand(), a.policyEffectiveCommand(), a.policyActivateCommand(), a.policyListCommand(), a.policyRollbackCommand(), a.policyStatusCommand(), a.policyPushCommand(), a.policyPullCommand(), a.policyServeCommand())
}
