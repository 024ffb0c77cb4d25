package approvalscmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/approval/queue"
	"github.com/spf13/cobra"
)

func showCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Show a question: the call, its effects, and why the policy asks",
		Example: "  reviewer approvals show f8dc9b3b-35",
		Args:    cli.Needs(questionID()),
		RunE: func(_ *cobra.Command, args []string) error {
			q, err := open(a)
			if err != nil {
				return err
			}
			r, err := waiting(q, args[0])
			if err != nil {
				return err
			}
			return out.Result(a.Stdout, r, func(w io.Writer) { printRequest(w, &r) })
		},
	}
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// waiting returns the request of a question that waits.
func waiting(q queue.Queue, id string) (approval.Request, error) {
	r, err := q.Get(id)
	if errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("%w; `reviewer approvals list` lists those that wait", queue.ErrGone)
	}
	return r, err
}

func printRequest(w io.Writer, r *approval.Request) {
	fmt.Fprintf(w, "%s  %s  session %s\n%s\n", r.ID, r.Harness, r.Session, term.OneLine(r.Action, 2000))
	for _, reason := range r.Reasons {
		fmt.Fprintf(w, "  - %s\n", term.OneLine(reason, 300))
	}
}
