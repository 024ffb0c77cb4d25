// Package releasecmd holds the commands of `reviewer policy` that ship a policy and
// make it hold, one file each: build, keygen, sign, verify, trust, push, pull,
// serve, activate, rollback, list and status. Only here are signing keys read.
//
// Not its business: how bytes travel, who is believed, and what is active, which
// packages of their own know.
package releasecmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/spf13/cobra"
)

// Commands are those of `reviewer policy` that ship a policy and make it hold.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{
		policyBuildCommand(a), policyKeygenCommand(a), policySignCommand(a), policyVerifyCommand(a), policyTrustCommand(a),
		policyPushCommand(a), policyPullCommand(a), policyServeCommand(a),
		policyActivateCommand(a), policyRollbackCommand(a), policyListCommand(a), policyStatusCommand(a),
	}
}
