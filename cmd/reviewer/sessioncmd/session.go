// Package sessioncmd contains the commands of `reviewer session`, one file each: they
// list and show sessions, set their scope, stop and resume them.
//
// Out of scope: reviewing the calls of a session.
package sessioncmd

import (
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
)

// Command is `reviewer session`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "session",
		Example: "  reviewer session list\n  reviewer session show last",
		Short:   "List and show sessions, set their scope, stop and resume them",
		Long:    "ID is a session's id or a prefix of it, a record's id as `reviewer denials` lists it, or last.",
	}
	return cli.Group(cmd, sessionListCommand(a), sessionShowCommand(a), sessionScopeCommand(a), sessionStopCommand(a), sessionResumeCommand(a))
}

func sessionStopCommand(a *cli.App) *cobra.Command {
	var reason string
	var out term.Output
	cmd := &cobra.Command{
		Use:     "stop ID",
		Short:   "Stop a session: deny every further call until a person resumes it",
		Example: "  reviewer session stop last --reason 'wrong branch'",
		Args:    cli.Needs(cli.SessionID()),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, s, err := a.Session(args[0])
			if err != nil {
				return err
			}
			if reason, err = cli.WithoutSecrets(store, reason); err != nil {
				return err
			}
			choice := engine.Control{Do: engine.ControlStop, Reason: reason, By: cli.UserName()}
			if err := store.Control(cmd.Context(), s.Key, choice); err != nil {
				return err
			}
			d := stoppedDocument{s.Key.Session, true, reason, choice.By}
			return out.Result(a.Stdout, d, func(w io.Writer) {
				fmt.Fprintf(w, "session %s is stopped; resume it with `reviewer session resume %s`\n", d.Session, d.Session)
			})
		},
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().StringVar(&reason, "reason", "stopped by hand", "reason given to the agent")
	return cmd
}

func sessionResumeCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:     "resume ID",
		Short:   "Resume a stopped session; needs a person at a terminal",
		Example: "  reviewer session resume last",
		Args:    cli.Needs(cli.SessionID()),
		RunE: func(cmd *cobra.Command, args []string) error {
			who, err := a.Person("resuming a session")
			if err != nil {
				return err
			}
			store, s, err := a.Session(args[0])
			if err != nil {
				return err
			}
			if s.Stopped == nil {
				return fmt.Errorf("session %s is not stopped", s.Key.Session)
			}
			if err := store.Control(cmd.Context(), s.Key, engine.Control{Do: engine.ControlResume, By: who}); err != nil {
				return err
			}
			d := stoppedDocument{Session: s.Key.Session, By: who}
			return out.Result(a.Stdout, d, func(w io.Writer) { fmt.Fprintf(w, "session %s is resumed\n", d.Session) })
		},
	}
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// stoppedDocument reports whether a session is stopped, and who stopped it.
type stoppedDocument struct {
	Session string `json:"session"`
	Stopped bool   `json:"stopped"`
	Reason  string `json:"reason,omitempty"`
	By      string `json:"by"`
}
