package sessioncmd

import (
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func sessionStopCommand(a *cli.App) *cobra.Command {
	var reason string
	var out term.Output
	cmd := &cobra.Command{
		Use:   "stop ID",
		Short: "Stop a session: deny every further call until a person resumes it",
		Long: "Works from everywhere, without the approval code. The agent reads a reason only if it is signed: with\n" +
			"--reason at a terminal the command asks for the code. If it is not given, the session is stopped\n" +
			"nevertheless, and the reason is only in the log.",
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
			choice := engine.Control{Do: engine.ControlStop, Reason: reason}
			if choice.By, err = end(cmd, a, store, s, choice); err != nil {
				return err
			}
			d := stoppedDocument{Session: s.Key.Session, Stopped: true, Reason: reason, By: choice.By}
			return out.Result(a.Stdout, d, func(w io.Writer) {
				fmt.Fprintf(w, "session %s is stopped; resume it with `reviewer session resume %s`\n", d.Session, d.Session)
			})
		},
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().StringVar(&reason, "reason", "stopped by a person", "reason for the log; the agent reads it if it is signed")
	return cmd
}

// end stops or aborts a session. The person signs their reason if they can: an agent reads no other.
func end(cmd *cobra.Command, a *cli.App, store *audit.Store, s audit.Session, choice engine.Control) (by string, err error) {
	choice.By = cli.UserName()
	if !cmd.Flags().Changed("reason") || !a.StdinTerminal() {
		return choice.By, store.Control(cmd.Context(), s.Key, choice, nil)
	}
	act, err := signed.Ask(cmd.Context(), a, store, "giving a reason to the agent")
	if err != nil {
		fmt.Fprintf(a.Stderr, "reviewer: the agent does not read the reason: %s\n", cli.Masked(err.Error()))
		return choice.By, store.Control(cmd.Context(), s.Key, choice, nil)
	}
	defer act.Signer.Wipe()
	choice.By = act.By
	return act.By, store.Control(cmd.Context(), s.Key, choice, act.Signer)
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
