package auditcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/audit"
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
			if err := onlySeals(to); err != nil {
				return err
			}
			return term.WriteWhole(to, b.Bytes())
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "write all seals to this file as JSON lines")
	return cmd
}

// onlySeals refuses a file that is there and holds anything but seals: it is not
// ours to write over.
func onlySeals(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (info.Size() == 0 || !info.Mode().IsRegular()) {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(data) {
		var seal audit.SealLine
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&seal); err != nil || seal.Chain == "" {
			return fmt.Errorf("%s is there and holds more than seals, so it is not written over: name another file, or move it away first", path)
		}
	}
	return nil
}
