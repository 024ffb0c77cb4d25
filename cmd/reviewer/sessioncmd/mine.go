package sessioncmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func sessionMineCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "mine [ID]",
		Short: "Confirm that a session's client is yours, although another session ran when its terminal was opened",
		Long: "What you type to an agent permits nothing if its terminal was opened while another session ran: an\n" +
			"agent could have opened it. This confirms the outermost program of the session's client, such as the\n" +
			"window of a terminal, until that program ends. It needs your approval code. The session's next prompt\n" +
			"is the first that counts.",
		Example: "  reviewer session mine last",
		Args:    cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, s, err := a.Session(cli.OrLast(args))
			if err != nil {
				return err
			}
			return mine(cmd.Context(), a, store, s)
		},
	}
}

func mine(ctx context.Context, a *cli.App, store *audit.Store, s audit.Session) error {
	const what = "confirming a client"
	if s.Client.Verified() {
		return fmt.Errorf("the client of session %s (process %d) counts as yours already", s.Key.Session, s.Client.Pid)
	}
	program, shown, err := a.Confirmable(store, s)
	if err != nil {
		return err
	}
	choice, err := signed.Choice(engine.ControlMine, shown, program)
	if err != nil {
		return err
	}
	choice.Client = program
	hand, err := signed.Begin(ctx, a, store, what, shown, func(string) (string, error) {
		return "", errors.New(what + " needs an approval code, and none is set: make one with `reviewer approvals code`")
	})
	if err != nil {
		return err
	}
	defer hand.Wipe()
	if err := hand.Record(ctx, choice); err != nil {
		return err
	}
	fmt.Fprintln(a.Stdout, shown)
	return nil
}
