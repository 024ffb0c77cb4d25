package approvalscmd

import (
	"fmt"
	"io"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/spf13/cobra"
)

func listCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the questions that wait for an answer, oldest first",
		Example: "  reviewer approvals list",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			q, err := open(a)
			if err != nil {
				return err
			}
			list, err := q.Waiting()
			if err != nil {
				return err
			}
			return out.Result(a.Stdout, listDocument{list}, func(w io.Writer) { printList(w, list, time.Now()) })
		},
	}
	out.Flags(cmd, term.Text, "json")
	return cmd
}

func printList(w io.Writer, list []approval.Request, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no question waits for an answer")
		return
	}
	for i := range list {
		r := &list[i]
		left := time.UnixMilli(r.Until).Sub(now).Round(time.Second)
		fmt.Fprintf(w, "%s  %s  %s left\n    %s\n", r.ID, r.Harness, max(left, 0), term.OneLine(r.Action, 200))
	}
}

// listDocument lists the questions that wait.
type listDocument struct {
	Questions []approval.Request `json:"questions"`
}
