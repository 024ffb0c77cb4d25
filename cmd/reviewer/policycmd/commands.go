// Package policycmd contains the commands of `reviewer policy` for those who write a
// policy, one file each: new, show, rules, effective, diff, check, test, fmt,
// import and capabilities.
//
// Out of scope: comparing policies on recorded sessions, and shipping them.
package policycmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/spf13/cobra"
)

// Commands are those of `reviewer policy` that read, write and try a policy.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{
		policyNewCommand(a), ShowCommand(a), policyRulesCommand(a), policyFmtCommand(a), policyCapabilitiesCommand(a),
		policyCheckCommand(a), policyCodesCommand(a), policyTestCommand(a), policyImportCommand(a), DiffCommand(a), policyEffectiveCommand(a),
		policyDocsCommand(a),
	}
}
