package uicmd

import (
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/spf13/cobra"
)

// Command is `reviewer ui`.
func Command(a *cli.App) *cobra.Command {
	var dir string
	var port int
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Show what agents did, what was stopped, and what waits for you, as web pages",
		Long: "Serves the pages on this machine until it is interrupted, and prints a link that opens them once, within\n" +
			"ten seconds. It needs a person at a terminal. The pages follow the log; they only read.\n\n" +
			"--export DIR writes the pages as files without scripts that load nothing, for a report. Secrets are\n" +
			"masked as in the log, but paths and commands are included.",
		Example: "  reviewer ui\n  reviewer ui --export report",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := a.OpenStore()
			if err != nil {
				return err
			}
			if port < 0 || port > 65535 {
				return cli.Usage("--port %d: expected a port from 1 to 65535, or 0 for any that is free", port)
			}
			if dir == "" {
				return serveLive(cmd.Context(), a, newBook(a, log, true), port)
			}
			n, err := newBook(a, log, false).export(cmd.Context(), dir)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Stdout, "%s written; begin with %s/index.html\n", term.Counted(n, "page", "pages"), dir)
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "export", "", "write the pages as files into this new `DIR`")
	cmd.Flags().IntVar(&port, "port", place.PagePort, "serve the pages at this port of both loopback addresses; 0: any")
	cmd.MarkFlagsMutuallyExclusive("export", "port")
	return cmd
}
