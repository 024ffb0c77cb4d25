package main

import (
	"errors"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/serve"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
	"github.com/spf13/cobra"
)

// idle is how long the resident process waits for another event: a pause in the work of a
// person costs one slow hook at most.
const idle = 30 * time.Minute

func serveCommand(a *cli.App) *cobra.Command {
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Keep the policy in memory, so that hooks are answered faster",
		Long: "Answers the hooks of agents over a socket in the state directory that only you can\n" +
			"reach. The hook's client starts it when it is needed; it ends when there was no event\n" +
			"for a while, and when the program is replaced. Without it each hook compiles the\n" +
			"policy anew; the answers are the same.",
		Example: "  reviewer serve --idle 0",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := a.StateHome()
			if err != nil {
				return err
			}
			home = filepath.Clean(home)
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			s := &serve.Server{Home: home, Idle: wait, Handle: newResident(home).handle, Stale: replaced()}
			if err := s.Listen(); err != nil {
				if errors.Is(err, serve.ErrRunning) && wait > 0 {
					return nil // started by two hooks at once
				}
				return err
			}
			return errors.Join(s.Serve(ctx), s.Close())
		},
	}
	cmd.Flags().DurationVar(&wait, "idle", idle, "end when there was no event for this long; 0: never")
	return cmd
}

// startResident starts the resident process for the next event, if the client of this one
// found none.
func startResident(a *cli.App) {
	if a.Env(wire.WhyVariable) == wire.NoneRunning && a.Detach != nil && a.Home != "" {
		// If it cannot be started, hooks are slower, and no less safe. A project sets variables for
		// the hook, so none is passed on.
		_ = cli.DetachWith([]string{}, "serve", "--home", a.Home)
	}
}

// elapsed is the time that a client of the resident process has used up.
func elapsed(a *cli.App) time.Duration {
	ms, err := strconv.ParseUint(a.Env(wire.ElapsedVariable), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}
