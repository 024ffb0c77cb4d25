package sessioncmd

import (
	"context"
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/spf13/cobra"
)

func sessionResumeCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var limits, supervise bool
	cmd := &cobra.Command{
		Use:   "resume ID",
		Short: "Resume a stopped session, as before or with conditions; needs a person at a terminal, and their approval code",
		Long: "Resumes a stopped session. With --limits, it has lower limits and fewer tools, and\n" +
			"patterns are found sooner; with --supervise, every call that does more than read is\n" +
			"asked about. The settings interventions.resume define the numbers and the tools.\n" +
			"Resuming the session again without these flags lifts the conditions.",
		Example: "  reviewer session resume last\n  reviewer session resume last --supervise",
		Args:    cli.Needs(cli.SessionID()),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, s, err := a.Session(args[0])
			if err != nil {
				return err
			}
			choice := engine.Control{Do: engine.ControlResume, Mode: conditions(limits, supervise)}
			if err := resumable(store, s, choice.Mode); err != nil {
				return err
			}
			act, err := signed.Ask(cmd.Context(), a, store, "resuming a session")
			if err != nil {
				return err
			}
			defer act.Signer.Wipe()
			choice.By = act.By
			if err := store.Control(cmd.Context(), s.Key, choice, act.Signer); err != nil {
				return err
			}
			d := stoppedDocument{Session: s.Key.Session, Resumed: choice.Mode, By: choice.By}
			return out.Result(a.Stdout, d, func(w io.Writer) {
				fmt.Fprintf(w, "session %s is resumed%s\n", d.Session, map[string]string{
					engine.ResumeLimits:    " with limits",
					engine.ResumeSupervise: ": every call that does more than read is asked about",
				}[d.Resumed])
			})
		},
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().BoolVar(&limits, "limits", false, "lower its limits, deny dangerous tools, and find patterns sooner")
	cmd.Flags().BoolVar(&supervise, "supervise", false, "ask about every call that does more than read")
	cmd.MarkFlagsMutuallyExclusive("limits", "supervise")
	return cmd
}

// Resume resumes a session without conditions, if it is still stopped as the person saw it.
func Resume(ctx context.Context, store *audit.Store, s audit.Session, act *signed.Act) error {
	choice := engine.Control{Do: engine.ControlResume, By: act.By}
	return store.ControlIf(ctx, s.Key, choice, act.Signer, func(h *history.State) error {
		if h.Stop == nil || h.Stop.N != s.Stopped.N {
			return fmt.Errorf("session %s is not stopped any more, or was stopped again: look at it again", s.Key.Session)
		}
		return nil
	})
}

// conditions names the conditions that flags choose.
func conditions(limits, supervise bool) string {
	switch {
	case limits:
		return engine.ResumeLimits
	case supervise:
		return engine.ResumeSupervise
	}
	return ""
}

// resumable reports why a session cannot be resumed on conditions. A session that was
// already resumed can get other conditions.
func resumable(store *audit.Store, s audit.Session, mode string) error {
	if s.Stopped != nil && s.Stopped.Final {
		return fmt.Errorf("session %s was aborted by %s, which is final; start a new one", s.Key.Session, s.Stopped.By)
	}
	if s.Stopped != nil || mode != "" {
		return nil
	}
	state, err := store.State(s)
	if err == nil && state.Resumed == "" {
		return fmt.Errorf("session %s is not stopped", s.Key.Session)
	}
	return err
}
