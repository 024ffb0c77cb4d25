package auditcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func auditSealCommand(a *cli.App) *cobra.Command {
	var to string
	var out term.Output
	cmd := &cobra.Command{
		Use:   "seal [ID…]",
		Short: "Seal the log so that truncation or rewriting can be detected",
		Long: "Writes a seal into each chain and into the ledger. Only seals kept on another machine\n" +
			"(--to FILE, then move it) can detect a rewrite of the whole log; `audit verify\n" +
			"--against FILE` compares them. Where there is an approval code, the first copy to a place needs it.",
		Example: "  reviewer audit seal\n  reviewer audit seal --to seals.jsonl      # then keep it on another machine",
		RunE: func(cmd *cobra.Command, args []string) error {
			store, sessions, err := a.Chosen(args)
			if err != nil {
				return err
			}
			if to != "" {
				if err := mayCopySeals(cmd.Context(), a, store, to); err != nil {
					return err
				}
			}
			d := sealedDocument{Sealed: []sealedChain{}, File: to}
			for _, s := range sessions {
				seal, err := store.Seal(cmd.Context(), s.Key)
				if err != nil {
					return err
				}
				d.Sealed = append(d.Sealed, sealedChain{s.Key.Session, int64(seal.N), seal.Head})
			}
			if to != "" {
				if err := writeSeals(cmd.Context(), store, to); err != nil {
					return err
				}
			}
			return out.Result(a.Stdout, d, func(w io.Writer) {
				for _, s := range d.Sealed {
					fmt.Fprintf(w, "%s sealed at %d: %s\n", s.Session, s.N, s.Head)
				}
			})
		},
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().StringVar(&to, "to", "", "also write all seals to this file, as JSON lines")
	return cmd
}

// mayCopySeals asks for the approval code before seals go to a file for the first time. Later they go there without a
// code, in a script too.
func mayCopySeals(ctx context.Context, a *cli.App, store *audit.Store, to string) error {
	path, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	choice, err := signed.Choice(engine.ControlChannel, "seals of the log are copied to "+path, map[string]string{"act": "seal", "to": path})
	if err != nil {
		return err
	}
	acts, err := store.Acts(engine.ControlChannel)
	if err != nil || slices.ContainsFunc(acts, func(r *engine.Record) bool { return r.Control.Digest == choice.Digest }) {
		return err
	}
	_, err = signed.RecordOr(ctx, a, store, "copying seals to another place", choice, func(string) (string, error) { return "", nil })
	return err
}

// sealedDocument lists the sealed logs.
type sealedDocument struct {
	Sealed []sealedChain `json:"sealed"`
	File   string        `json:"file,omitempty"` // that contains all seals
}

type sealedChain struct {
	Session string `json:"session"`
	N       int64  `json:"n"`    // of the last record that the seal covers
	Head    string `json:"head"` // hash of its line
}

func writeSeals(ctx context.Context, store *audit.Store, file string) error {
	var b bytes.Buffer
	if err := store.SealTo(ctx, &b); err != nil {
		return err
	}
	if err := onlySeals(file); err != nil {
		return err
	}
	return term.WriteWhole(file, b.Bytes())
}

// onlySeals refuses an existing file that contains anything but seals, so that it is
// not overwritten.
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
			return fmt.Errorf("%s exists and contains more than seals, so it was not overwritten: name another file, or move it away first", path)
		}
	}
	return nil
}
