package main

import (
	"fmt"
	"io"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/explaincmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

// denialsCommand lists what was held up. An agent is told neither the id of a
// call nor the command that lets it through, so this is where people find both.
func denialsCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var since cli.SinceFlag
	cmd := &cobra.Command{
		Use:   "denials [ID…]",
		Short: "List the calls that were held up, and how to allow one; needs a person at a terminal",
		Long: "Lists the calls that were denied, asked about or put in another form, the latest\n" +
			"last, and for each what lets it through. ID is a session; without one, all of them.\n" +
			"The agent is told the reason of a denial and never its id.",
		Example: "  reviewer denials --since 1h\n  reviewer denials last",
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := a.Person("listing what can be allowed"); err != nil {
				return err
			}
			from, err := since.MS(time.Now())
			if err != nil {
				return err
			}
			store, sessions, err := a.Chosen(args)
			if err != nil {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return listDenials(w, a.Paint(&out), store, sessions, from) })
		},
	}
	since.Flags(cmd, "only calls since then")
	out.Flags(cmd, "table")
	return cmd
}

func listDenials(w io.Writer, p term.Paint, store *audit.Store, sessions []audit.Session, from int64) error {
	found := false
	for _, s := range sessions {
		if s.Stopped != nil {
			fmt.Fprintf(w, "session %s is stopped (%s): reviewer session resume %s\n\n", s.Key.Session,
				term.OneLine(s.Stopped.Reason, 120), s.Key.Session)
			found = true
		}
		for r, err := range store.Records(s.Key, 0) {
			if err != nil {
				return err
			}
			if r.T >= from && heldUpCall(r) {
				showDenial(w, p, s, r)
				found = true
			}
		}
	}
	if !found {
		fmt.Fprintln(w, "nothing was held up")
	}
	return nil
}

// heldUpCall says whether a record is of a call that did not simply run.
func heldUpCall(r *engine.Record) bool {
	return r.Kind == engine.KindPre && engine.AnswerOf(r).Effect.Strictness() > engine.Warn.Strictness()
}

func showDenial(w io.Writer, p term.Paint, s audit.Session, r *engine.Record) {
	word, what, why := explaincmd.Summary(r)
	fmt.Fprintf(w, "%s  %s  %s  in %s\n  %s\n",
		r.ID(), term.Clock(r.T), p.Verdict(word), term.OneLine(s.Workspace, 60), term.OneLine(what, 200))
	if why != "" {
		fmt.Fprintf(w, "  %s\n", p.Faint(term.OneLine(why, 200)))
	}
	if err := allowable(s, r); err != nil {
		fmt.Fprintf(w, "  %s\n\n", term.OneLine(err.Error(), 300))
		return
	}
	fmt.Fprintf(w, "  reviewer allow %s --once   (why: reviewer audit why %s)\n\n", r.ID(), r.ID())
}
