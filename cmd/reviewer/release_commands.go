package main

import "github.com/spf13/cobra"

// releaseCommands are those of `reviewer policy` that ship a policy and make it hold.
func (a *app) releaseCommands() []*cobra.Command {
	return []*cobra.Command{
		a.policyBuildCommand(), a.policyKeygenCommand(), a.policySignCommand(), a.policyVerifyCommand(), a.policyTrustCommand(),
		a.policyPushCommand(), a.policyPullCommand(), a.policyServeCommand(),
		a.policyActivateCommand(), a.policyRollbackCommand(), a.policyListCommand(), a.policyStatusCommand(),
	}
}
