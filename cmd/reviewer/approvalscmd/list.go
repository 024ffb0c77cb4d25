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
		Args:    cli.AtMost(0),
		RunE: func(*cobra.Command, []string) error {
			q, err := open(a)
			if err != nil {
				return err
			}
			list, err := q.Waiting()
			if err != nil {
				return err
			}
			if out.Format == "json" {
				return out.Write(a.Stdout, func(w io.Writer) error { return term.WriteList(w, "questions", list) })
			}
			return out.Write(a.Stdout, func(w io.Writer) error {
				p := pageOf(a, &out)
				printList(p, list, time.Now())
				_, err := w.Write(p.Bytes())
				return err
			})
		},
	}
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// printList prints each question under its session.
func printList(p term.Page, list []approval.Request, now time.Time) {
	if len(list) == 0 {
		p.Line(term.Plain("no question waits for an answer"))
		return
	}
	seen := map[string]bool{}
	for i := range list {
		if key := keyOf(&list[i]); !seen[key] {
			if seen[key] = true; i > 0 {
				p.Line()
			}
			p.Line(term.Coloured(sessionLine(&list[i]), term.Faint))
			for j := range list[i:] {
				if r := &list[i+j]; keyOf(r) == key {
					printListed(p, r, now)
				}
			}
		}
	}
}

func keyOf(r *approval.Request) string { return r.Harness + "/" + r.Session }

func sessionLine(r *approval.Request) string {
	return fmt.Sprintf("session %s of %s in %s", r.Session, r.Harness, r.Workspace)
}

func printListed(p term.Page, r *approval.Request, now time.Time) {
	p.Line(term.Plain("  "+term.Pad(r.ID, 13)), term.Coloured(term.Pad(left(r, now), 12), leftColour(r, now)),
		term.Coloured(term.Pad(levelOf(r), 9), term.LevelColour(levelOf(r))), term.Plain(r.Tool+" "+r.Action))
	if hidden := term.Hidden(r.Action); len(hidden) > 0 {
		p.Line(term.Plain("      "), term.Coloured(hiddenNote(hidden), term.Bad))
	}
	if len(r.Reasons) > 0 {
		p.Line(term.Plain("      "), term.Coloured(r.Reasons[0], term.Faint))
	}
}

// hurry is how long before its deadline a question is shown in another colour.
const hurry = 20 * time.Second

func remaining(r *approval.Request, now time.Time) time.Duration {
	return max(time.UnixMilli(r.Until).Sub(now).Round(time.Second), 0)
}

func left(r *approval.Request, now time.Time) string { return remaining(r, now).String() + " left" }

func leftColour(r *approval.Request, now time.Time) string {
	if remaining(r, now) < hurry {
		return term.Bad
	}
	return ""
}

func levelOf(r *approval.Request) string {
	if r.Risk == nil {
		return ""
	}
	return r.Risk.Level
}
