package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
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
			"policy itself; the answers are the same. With REVIEWER_NO_RESIDENT=1 in its environment a\n" +
			"hook does not start it.",
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
	if a.Env(wire.WhyVariable) == wire.NoneRunning && a.Env("REVIEWER_NO_RESIDENT") == "" && a.Detach != nil && a.Home != "" {
		// If it cannot be started, hooks are slower, and no less safe. A project sets variables for
		// the hook, so none is passed on.
		_ = cli.DetachWith([]string{}, "serve", "--home", a.Home)
	}
}

// noteResident records why the client of the resident process did not believe it or got no
// answer from it. An agent of the same user could have taken its place.
func noteResident(ctx context.Context, a *cli.App, store *audit.Store) {
	why := a.Env(wire.WhyVariable)
	if why == "" || why == wire.NoneRunning {
		return
	}
	// The event is reviewed whether or not this can be written.
	_ = store.Note(ctx, engine.Note{What: "resident", Detail: fmt.Sprintf("%.200q", cli.Masked(why))})
}

// elapsed is the time that a client of the resident process has used up.
func elapsed(a *cli.App) time.Duration {
	ms, err := strconv.ParseUint(a.Env(wire.ElapsedVariable), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}
