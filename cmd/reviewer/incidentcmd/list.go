package incidentcmd

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/incident"
	"github.com/spf13/cobra"
)

func listCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var since cli.SinceFlag
	var open bool
	cmd := &cobra.Command{
		Use:     "list [ID…]",
		Short:   "List incidents, newest first",
		Long:    "ID is a session; without one, the incidents of all sessions are listed.",
		Example: "  reviewer incident list --open\n  reviewer incident list --since 7d",
		RunE: func(_ *cobra.Command, args []string) error {
			from, err := since.MS(time.Now())
			if err != nil {
				return err
			}
			store, sessions, err := a.Chosen(args)
			if err != nil {
				return err
			}
			list, err := All(store, sessions)
			list = slices.DeleteFunc(list, func(i Found) bool { return i.At() < from || open && i.State != incident.Open })
			return out.Write(a.Stdout, func(w io.Writer) error { return errors.Join(writeList(a, w, &out, store.Dir, list), err) })
		},
	}
	since.Flags(cmd, "only incidents since this time")
	cmd.Flags().BoolVar(&open, "open", false, "only incidents that nobody has closed")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// listed is an incident in the list, as JSON.
type listed struct {
	ID        string         `json:"id"`
	State     incident.State `json:"state"`
	Severity  string         `json:"severity"`
	Time      string         `json:"time"`
	Session   string         `json:"session"`
	Harness   string         `json:"harness"`
	Workspace string         `json:"workspace,omitempty"`
	Stopped   bool           `json:"stopped"` // the session is still stopped
	Issue     string         `json:"issue"`
	Reason    string         `json:"reason"`
}

func writeList(a *cli.App, w io.Writer, out *term.Output, dir string, list []Found) error {
	if out.Format == "json" {
		docs := []listed{}
		for _, i := range list {
			docs = append(docs, listed{i.ID, i.State, i.Severity, i.Time, i.Session, i.Harness, i.Workspace, i.Stopped, i.Cause.Issue,
				i.Cause.Reason})
		}
		return term.WriteList(w, "incidents", docs)
	}
	if len(list) == 0 {
		fmt.Fprintf(w, "no incident is recorded in %s\n", dir)
		return nil
	}
	p, width := a.Paint(out), a.Width(out)
	fmt.Fprintln(w, "INCIDENT       STATE   SEVERITY  TIME                 SESSION")
	for _, i := range list {
		head := fmt.Sprintf("%s %s ", term.Pad(i.ID, 14), term.Pad(string(i.State), 7))
		fmt.Fprintf(w, "%s%s  %s  %s\n", head, p.Colour(term.LevelColour(i.Severity), term.Pad(i.Severity, 8)), term.Clock(i.At()),
			term.OneLine(i.Session, max(width-55, 20)))
		fmt.Fprintf(w, "  %s\n", p.Faint(term.OneLine(i.Cause.Issue+": "+i.Cause.Reason+stillStopped(i.Incident), width-2)))
	}
	return nil
}

func stillStopped(i *incident.Incident) string {
	if i.Stopped {
		return " (still stopped)"
	}
	return ""
}
