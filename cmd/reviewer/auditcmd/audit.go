// Package auditcmd contains the commands of `reviewer audit`, one file each: they
// read, verify, replay, count and export the log.
//
// Out of scope: writing records. Only seals are added to a log here.
package auditcmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/explaincmd"
	"github.com/spf13/cobra"
)

// Command is `reviewer audit`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "audit",
		Example: "  reviewer audit show last\n  reviewer audit verify",
		Short:   "Read, verify, replay and export the log",
		Long: "ID is a session's id or a prefix of it, a record's id as `reviewer denials` lists it, or last.\n" +
			cli.ExitHelp() + " Findings are a broken chain,\n" +
			"a decision that does not reproduce, or a call without a review.",
	}
	return cli.Group(cmd,
		auditShowCommand(a), auditTailCommand(a), explaincmd.AuditWhyCommand(a), auditVerifyCommand(a),
		auditReplayCommand(a), auditReconcileCommand(a), auditStatsCommand(a), auditSealCommand(a), auditExportCommand(a), auditCaseCommand(a),
	)
}
