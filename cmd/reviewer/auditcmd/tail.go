package auditcmd

import (
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

// poll is how often tail looks for new records: often enough to feel live.
const poll = 300 * time.Millisecond

func auditTailCommand(a *cli.App) *cobra.Command {
	var count int
	var follow, all bool
	cmd := &cobra.Command{
		Use:   "tail [ID]",
		Short: "Show the last calls of a session (default: the latest one), and follow it with -F",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			selector := "last"
			if len(args) == 1 {
				selector = args[0]
			}
			store, s, err := a.Session(selector)
			if err != nil {
				return err
			}
			next, err := tail(a, store, s, 0, count, all)
			if err != nil || !follow {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			for ctx.Err() == nil {
				if next, err = tail(a, store, s, next, 0, all); err != nil {
					return err
				}
				select {
				case <-ctx.Done():
				case <-time.After(poll):
				}
			}
			return nil
		},
	}
	cmd.Flags().IntVarP(&count, "lines", "n", 10, "how many calls")
	cmd.Flags().BoolVarP(&follow, "follow", "F", false, "go on until interrupted")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "every record")
	return cmd
}

// tail prints the records from a number on, the last count of them where count
// is not 0, and returns the number after the newest.
func tail(a *cli.App, store *audit.Store, s audit.Session, from int64, count int, all bool) (int64, error) {
	var lines []func()
	p := a.Paint(&term.Output{})
	for r, err := range store.Records(s.Key, from) {
		if err != nil {
			return from, fmt.Errorf("read session: %w", err)
		}
		from = r.N + 1
		if all || worthShowing(r) {
			lines = append(lines, func() { printRecord(a, a.Stdout, p, r) })
		}
	}
	if count > 0 {
		lines = lines[max(0, len(lines)-count):]
	}
	for _, print := range lines {
		print()
	}
	return from, nil
}
