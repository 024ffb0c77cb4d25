package sessioncmd

import (
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
)

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
			d := stoppedDocument{Session: s.Key.Session, Stopped: true, Reason: reason, By: choice.By}
			return out.Result(a.Stdout, d, func(w io.Writer) {
				fmt.Fprintf(w, "session %s is stopped; resume it with `reviewer session resume %s`\n", d.Session, d.Session)
			})
		},
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().StringVar(&reason, "reason", "stopped by a person", "reason given to the agent")
	return cmd
}

// stoppedDocument reports whether a session is stopped, and who chose so.
type stoppedDocument struct {
	Session string `json:"session"`
	Stopped bool   `json:"stopped"`
	Aborted bool   `json:"aborted,omitempty"` // nobody can resume it
	Resumed string `json:"resumed,omitempty"` // conditions: limits, supervise
	Reason  string `json:"reason,omitempty"`
	By      string `json:"by"`
}
