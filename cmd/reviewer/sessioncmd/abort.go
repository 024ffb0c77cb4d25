package sessioncmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/spf13/cobra"
)

func sessionAbortCommand(a *cli.App) *cobra.Command {
	var reason string
	var out term.Output
	cmd := &cobra.Command{
		Use:   "abort ID",
		Short: "Permanently end a session, and list what it leaves behind",
		Long: "Denies every further call of a session; nobody can resume it. Lists processes that it started\n" +
			"and did not end, and files that it created outside the workspace, as far as the log shows them.\n" +
			"None of these are ended or deleted. The approval code is asked for as in `reviewer session stop`.",
		Example: "  reviewer session abort last --reason 'started over'",
		Args:    cli.Needs(cli.SessionID()),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, s, err := a.Session(args[0])
			if err != nil {
				return err
			}
			if reason, err = cli.WithoutSecrets(store, reason); err != nil {
				return err
			}
			who, err := end(cmd, a, store, s, engine.Control{Do: engine.ControlAbort, Reason: reason})
			if err != nil {
				return err
			}
			state, err := store.State(s)
			if err != nil {
				return fmt.Errorf("session %s is aborted, but the list of what it left behind cannot be read: %w", s.Key.Session, err)
			}
			d := abortedDocument{Cleanup: leftBy(state.Left())}
			d.stoppedDocument = stoppedDocument{Session: s.Key.Session, Stopped: true, Aborted: true, Reason: reason, By: who}
			return out.Result(a.Stdout, d, d.print)
		},
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().StringVar(&reason, "reason", "aborted by a person", "reason for the log; the agent reads it if it is signed")
	return cmd
}

// abortedDocument lists what an aborted session leaves behind.
type abortedDocument struct {
	stoppedDocument
	Cleanup []leftover `json:"cleanup"`
}

// leftover is something to check after a session.
type leftover struct {
	Kind string `json:"kind"` // process, worktree, remote, created, moved
	What string `json:"what"`
	Hint string `json:"hint"` // what to do about it
}

func leftBy(left history.Left) []leftover {
	list := []leftover{}
	for _, s := range left.Running {
		list = append(list, leftover{"process", s.Line, "end it if it still runs"})
	}
	for _, group := range []struct {
		kind, hint string
		names      []string
	}{
		{"worktree", "look at what is in it, then git worktree remove", left.Trees},
		{"remote", "git remote -v shows where it points to", left.Remotes},
		{"created", "outside the workspace: delete it if nobody needs it", left.Created},
		{"moved", "files of the session were moved there: move back what belongs elsewhere", left.Moved},
	} {
		for _, name := range slices.Sorted(slices.Values(group.names)) {
			list = append(list, leftover{group.kind, name, group.hint})
		}
	}
	return list
}

func (d abortedDocument) print(w io.Writer) {
	fmt.Fprintf(w, "session %s is aborted\n", d.Session)
	if len(d.Cleanup) == 0 {
		fmt.Fprintln(w, "nothing was left behind, as far as its log shows")
		return
	}
	fmt.Fprintln(w, "\nleft behind, as far as its log shows:")
	for _, l := range d.Cleanup {
		fmt.Fprintf(w, "  %-9s %s\n%s%s\n", l.Kind, l.What, strings.Repeat(" ", 12), l.Hint)
	}
}
