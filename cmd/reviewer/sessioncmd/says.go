package sessioncmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/spf13/cobra"
)

func sessionSaysCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var lift int
	cmd := &cobra.Command{
		Use:   "says [ID] [--lift NUMBER]",
		Short: "List what the prompts of a session forbid and permit, or lift a prohibition; lifting needs a person at a terminal",
		Long: "A prompt can forbid acts, order and permit them: \"don't commit\", \"ask me before you push\", \"you may\n" +
			"deploy\". An instruction file such as CLAUDE.md can forbid acts. This command lists the statements that hold,\n" +
			"each with the sentence it was read from. A later prompt that orders or permits the same act lifts a\n" +
			"prohibition for one act; --lift ends it.",
		Example: "  reviewer session says last\n  reviewer session says last --lift 1",
		Args:    cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, s, err := a.Session(cli.OrLast(args))
			if err != nil {
				return err
			}
			if lift == 0 {
				return out.Write(a.Stdout, func(w io.Writer) error { return showSaid(w, &out, store, s) })
			}
			return liftSaid(cmd.Context(), a, store, s, lift)
		},
	}
	cmd.Flags().IntVar(&lift, "lift", 0, "end the prohibition with this number")
	out.Flags(cmd, "text", "json")
	return cmd
}

// saidDocument is what the prompts of a session say, as JSON.
type saidDocument struct {
	Session    string         `json:"session"`
	Statements []history.Said `json:"statements"`
}

func showSaid(w io.Writer, out *term.Output, store *audit.Store, s audit.Session) error {
	state, err := store.State(s)
	if err != nil {
		return err
	}
	doc := saidDocument{s.Key.Session, state.Goals.Statements()}
	if out.Format == "json" {
		return term.WriteDocument(w, doc)
	}
	if len(doc.Statements) == 0 {
		fmt.Fprintln(w, "no prompt of this session forbids or permits anything that still holds")
	}
	for i, said := range doc.Statements {
		fmt.Fprintf(w, "%2d  %-7s  %s\n", i+1, said.Kind, term.OneLine(SaidLine(said), 400))
	}
	return nil
}

// SaidLine is a statement without its kind.
func SaidLine(s history.Said) string {
	line := s.Act + term.After(" ", strings.Join(s.Objects, " ")) + term.After(", until ", s.Until)
	switch {
	case s.From != "":
		line += " (" + s.From + ")"
	case s.Prompt > 0: // else nobody typed it
		line += fmt.Sprintf(" (prompt %d)", s.Prompt)
	}
	return line + term.After(": ", s.Text)
}

// liftSaid records that a person ends a prohibition.
func liftSaid(ctx context.Context, a *cli.App, store *audit.Store, s audit.Session, number int) error {
	state, err := store.State(s)
	if err != nil {
		return err
	}
	list := state.Goals.Statements()
	if number < 1 || number > len(list) || list[number-1].Kind != engine.Forbids {
		return fmt.Errorf("--lift %d: no prohibition has this number; `reviewer session says %s` lists them", number, s.Key.Session)
	}
	said := list[number-1]
	act, err := signed.Ask(ctx, a, store, "lifting a prohibition")
	if err != nil {
		return err
	}
	defer act.Signer.Wipe()
	lifted := said.Statement
	lifted.Text = ""
	choice := engine.Control{Do: engine.ControlLift, By: act.By, Statement: &lifted}
	err = store.ControlIf(ctx, s.Key, choice, act.Signer, func(h *history.State) error {
		if !slices.ContainsFunc(h.Goals.Statements(), func(o history.Said) bool { return o.Same(lifted) }) {
			return fmt.Errorf("--lift %d: the prohibition no longer holds", number)
		}
		return nil
	})
	if err == nil {
		fmt.Fprintf(a.Stdout, "no longer forbidden in session %s: %s\n", s.Key.Session, term.OneLine(SaidLine(said), 400))
	}
	return err
}
