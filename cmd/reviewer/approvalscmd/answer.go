package approvalscmd

import (
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/approval/queue"
	"github.com/spf13/cobra"
)

// terminal is the channel of answers that are given here.
const terminal = "terminal"

func answerCommand(a *cli.App, approve bool) *cobra.Command {
	choice := queue.Answer{Approve: approve, Channel: terminal}
	var out term.Output
	cmd := &cobra.Command{
		Use:     "deny ID",
		Short:   "Deny a call that waits; needs a person at a terminal",
		Example: "  reviewer approvals deny f8dc9b3b-35 --message 'use the staging database'",
		Args:    cli.Needs(questionID()),
	}
	if approve {
		cmd.Use, cmd.Short = "approve ID", "Let a call run that waits; needs a person at a terminal"
		cmd.Example = "  reviewer approvals approve f8dc9b3b-35\n  reviewer approvals approve f8dc9b3b-35 --session"
		cmd.Flags().BoolVar(&choice.Session, "session", false, "allow the same call until the session ends")
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		q, err := open(a)
		if err != nil {
			return err
		}
		if choice.By, err = a.Person("answering a question"); err != nil {
			return err
		}
		r, err := waiting(q, args[0])
		if err != nil {
			return err
		}
		choice.ID, choice.Digest = r.ID, r.Digest
		if choice.Message, err = cli.WithoutSecrets(q.Log, choice.Message); err != nil {
			return err
		}
		if _, err := q.Answer(cmd.Context(), choice); err != nil {
			return err
		}
		d := answerDocument{r.ID, approve, choice.Session, choice.Message, choice.By}
		return out.Result(a.Stdout, d, func(w io.Writer) { d.print(w, r.Action) })
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().StringVar(&choice.Message, "message", "", "text for the agent, if the call is denied, and for the log")
	return cmd
}

// answerDocument is an answer that was recorded.
type answerDocument struct {
	ID       string `json:"id"`
	Approved bool   `json:"approved"`
	Session  bool   `json:"session,omitempty"` // the same call is allowed until the session ends
	Message  string `json:"message,omitempty"`
	By       string `json:"by"`
}

func (d *answerDocument) print(w io.Writer, action string) {
	word := "denied"
	if d.Approved {
		word = "approved"
	}
	fmt.Fprintf(w, "%s %s: %s\n", word, d.ID, term.OneLine(action, 400))
}
