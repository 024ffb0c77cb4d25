package incidentcmd

import (
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/incident"
	"github.com/spf13/cobra"
)

// closed is an incident that was closed.
type closed struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	By      string `json:"by"`
	Reason  string `json:"reason"`
	Stopped bool   `json:"stopped"` // the session is still stopped
}

func closeCommand(a *cli.App) *cobra.Command {
	var reason string
	var out term.Output
	cmd := &cobra.Command{
		Use:   "close ID --reason TEXT",
		Short: "Record that an incident has been dealt with; needs a person at a terminal",
		Long: "Closing an incident does not resume its session: `reviewer session resume` does. The reason is\n" +
			"recorded in the session's log and shown in the report.",
		Example: "  reviewer incident close last --reason 'the path was wrong; request repeated'",
		Args:    cli.Needs(cli.Argument{Name: "ID", What: "an incident's id (`reviewer incident list` lists them), or last"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			who, err := signed.Person(cmd.Context(), a, "closing an incident")
			if err != nil {
				return err
			}
			if reason == "" {
				return cli.Usage("--reason is required: the log and the report contain it")
			}
			store, i, err := find(a, args[0])
			if err != nil {
				return err
			}
			if i.State == incident.Closed {
				return fmt.Errorf("incident %s was closed by %s at %s", i.ID, i.Closed.By, i.Closed.Time)
			}
			if reason, err = cli.WithoutSecrets(store, reason); err != nil {
				return err
			}
			choice := engine.Control{Do: engine.ControlClose, By: who, Reason: reason, Record: i.ID}
			if err := store.Control(cmd.Context(), i.Of.Key, choice, nil); err != nil {
				return err
			}
			d := closed{i.ID, i.Session, who, reason, i.Stopped}
			return out.Result(a.Stdout, d, func(w io.Writer) { tellClosed(w, d) })
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "what was found and done")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

func tellClosed(w io.Writer, d closed) {
	fmt.Fprintf(w, "incident %s is closed\n", d.ID)
	if d.Stopped {
		fmt.Fprintf(w, "session %s is still stopped; resume it with `reviewer session resume %s`\n", d.Session, d.Session)
	}
}
