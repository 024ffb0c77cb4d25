// Package releasecmd contains the commands of `reviewer policy` that ship and activate a
// policy, one file each: build, keygen, sign, verify, trust, push, pull,
// serve, activate, rollback, list, status and history. Only here are signing keys read.
//
// Out of scope: transport, trust, and what is active, which have packages of their
// own.
package releasecmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/spf13/cobra"
)

// Commands are those of `reviewer policy` that ship and activate a policy.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{
		policyBuildCommand(a), policyKeygenCommand(a), policySignCommand(a), policyVerifyCommand(a), policyTrustCommand(a),
		policyPushCommand(a), policyPullCommand(a), policyServeCommand(a),
		policyActivateCommand(a), policyRollbackCommand(a), policyListCommand(a), policyStatusCommand(a),
		policyHistoryCommand(a), policyAcceptCommand(a), policyFleetCommand(a),
	}
}
