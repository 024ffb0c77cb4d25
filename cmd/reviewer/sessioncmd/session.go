// Package sessioncmd holds the commands of `reviewer session`, one file each: they
// list and show sessions, say what one is about, stop it and let it go on.
//
// Not its business: what happens in a session's calls, which is reviewed elsewhere.
package sessioncmd

import (
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
)

// Command is `reviewer session`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "List and show sessions, say what they are about, stop and resume them",
		Long:  "ID is a session's id or a prefix of it, a record's id as `reviewer denials` lists it, or last.",
	}
	return cli.Group(cmd, sessionListCommand(a), sessionShowCommand(a), sessionScopeCommand(a), sessionStopCommand(a), sessionResumeCommand(a))
}

func sessionStopCommand(a *cli.App) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "stop ID",
		Short: "Stop a session: every later call is denied, until a person resumes it",
		Args:  cobra.ExactArgs(1),
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
			fmt.Fprintf(a.Stdout, "session %s is stopped; `reviewer session resume %s` lets it go on\n", s.Key.Session, s.Key.Session)
			return nil
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "stopped by hand", "what the agent is told")
	return cmd
}

func sessionResumeCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "resume ID",
		Short: "Let a stopped session go on; needs a person at a terminal",
		Args:  cobra.ExactArgs(1),
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
			fmt.Fprintf(a.Stdout, "session %s goes on\n", s.Key.Session)
			return nil
		},
	}
}
