// Package sessioncmd contains the commands of `reviewer session`, one file each: they
// list and show sessions, set their scope, stop and resume them.
//
// Out of scope: reviewing the calls of a session.
package sessioncmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/spf13/cobra"
)

// Command is `reviewer session`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "session",
		Example: "  reviewer session list\n  reviewer session show last",
		Short:   "List and show sessions, set their scope, stop, resume, roll back and abort them",
		Long:    "ID is a session's id or a prefix of it, a record's id as `reviewer denials` lists it, or last.",
	}
	return cli.Group(cmd, sessionListCommand(a), sessionShowCommand(a), sessionScopeCommand(a), sessionSaysCommand(a),
		sessionMineCommand(a), sessionStopCommand(a),
		sessionResumeCommand(a), sessionRollbackCommand(a), sessionAbortCommand(a))
}
