package main

import (
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func (a *app) sessionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "List and show sessions, say what they are about, stop and resume them",
		Long:  "ID is a session's id or a prefix of it, a record's id as a denial names it, or last.",
	}
	return group(cmd, a.sessionListCommand(), a.sessionShowCommand(), a.sessionScopeCommand(), a.sessionStopCommand(), a.sessionResumeCommand())
}

func (a *app) sessionStopCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "stop ID",
		Short: "Stop a session: every later call is denied, until a person resumes it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, s, err := a.session(args[0])
			if err != nil {
				return err
			}
			if reason, err = withoutSecrets(store, reason); err != nil {
				return err
			}
			choice := engine.Control{Do: engine.ControlStop, Reason: reason, By: userName()}
			if err := store.Control(cmd.Context(), s.Key, choice); err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "session %s is stopped; `reviewer session resume %s` lets it go on\n", s.Key.Session, s.Key.Session)
			return nil
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "stopped by hand", "what the agent is told")
	return cmd
}

func (a *app) sessionResumeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "resume ID",
		Short: "Let a stopped session go on; needs a person at a terminal",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			who, err := a.person("resuming a session")
			if err != nil {
				return err
			}
			store, s, err := a.session(args[0])
			if err != nil {
				return err
			}
			if s.Stopped == nil {
				return fmt.Errorf("session %s is not stopped", s.Key.Session)
			}
			if err := store.Control(cmd.Context(), s.Key, engine.Control{Do: engine.ControlResume, By: who}); err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "session %s goes on\n", s.Key.Session)
			return nil
		},
	}
}

// session finds the session that a person names.
func (a *app) session(selector string) (*audit.Store, audit.Session, error) {
	store, err := a.openStore()
	if err != nil {
		return nil, audit.Session{}, err
	}
	s, _, err := store.Resolve(selector)
	if errors.Is(err, audit.ErrNoSession) {
		err = fmt.Errorf("%w (state directory %s)", err, store.Dir)
	}
	return store, s, err
}
