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
	var out term.Output
	cmd := &cobra.Command{
		Use:   "tail [ID]",
		Short: "Show the last calls of a session (default: the latest one), and follow it with -F",
		Long: "Shows the newest calls, and with -F new ones as they happen. `audit show` lists all of\n" +
			"them; `session show` shows the whole session.",
		Example: "  reviewer audit tail -F\n" +
			"  reviewer audit tail -n 100 -f json | jq -c .answer    # one record per line",
		Args: cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			selector := "last"
			if len(args) == 1 {
				selector = args[0]
			}
			store, s, err := a.Session(selector)
			if err != nil {
				return err
			}
			next, err := tail(a, &out, store, s, 0, count, all)
			if err != nil || !follow {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			for ctx.Err() == nil {
				if next, err = tail(a, &out, store, s, next, 0, all); err != nil {
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
	out.FormatFlag(cmd, term.Text, "json")
	cmd.Flags().IntVarP(&count, "lines", "n", 10, "number of calls")
	cmd.Flags().BoolVarP(&follow, "follow", "F", false, "follow the session until interrupted")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "show every record")
	return cmd
}

// tail prints the records from a number on, the last count of them where count
// is not 0, and returns the number after the newest.
func tail(a *cli.App, out *term.Output, store *audit.Store, s audit.Session, from int64, count int, all bool) (int64, error) {
	var lines []func() error
	p, shown := a.Paint(out), shows(store, all)
	for r, err := range store.Records(s.Key, from) {
		if err != nil {
			return from, fmt.Errorf("read session: %w", err)
		}
		from = r.N + 1
		if shown(r) {
			lines = append(lines, func() error {
				if out.Format == "json" {
					return term.WriteLine(a.Stdout, r)
				}
				printRecord(a, a.Stdout, p, r)
				return nil
			})
		}
	}
	if count > 0 {
		lines = lines[max(0, len(lines)-count):]
	}
	for _, print := range lines {
		if err := print(); err != nil {
			return from, err
		}
	}
	return from, nil
}
