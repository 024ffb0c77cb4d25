package auditcmd

import (
	"bytes"
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

func auditSealCommand(a *cli.App) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "seal [ID…]",
		Short: "Cover what is recorded so far, so that a cut or a rewrite shows",
		Long: "Writes a seal into each chain and the ledger. Only seals that are kept on another\n" +
			"machine (--to FILE, then move it) show a rewrite of everything; `audit verify\n" +
			"--against FILE` compares.",
		RunE: func(cmd *cobra.Command, args []string) error {
			store, sessions, err := a.Chosen(args)
			if err != nil {
				return err
			}
			for _, s := range sessions {
				seal, err := store.Seal(cmd.Context(), s.Key)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.Stdout, "%s sealed at %d: %s\n", s.Key.Session, seal.N, seal.Head)
			}
			if to == "" {
				return nil
			}
			var b bytes.Buffer
			if err := store.SealTo(cmd.Context(), &b); err != nil {
				return err
			}
			return term.WriteWhole(to, b.Bytes())
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "write all seals to this file as JSON lines")
	return cmd
}
