package releasecmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func trustAcceptCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "accept",
		Short: "Accept a state directory that was moved, copied or restored; needs a person at a terminal",
		Long: "The ledger records where the trust file was activated. In another location it is not valid until a\n" +
			"person accepts it. The ledger must verify, the trust file must be the version that was active\n" +
			"last, and the store of bundles must not be older than the ledger: versions and sequences never decrease.",
		Example: "  reviewer policy trust accept",
		Args:    cli.AtMost(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return acceptMoved(cmd.Context(), a) },
	}
}

func acceptMoved(ctx context.Context, a *cli.App) error {
	log, err := a.OpenStore()
	if err != nil {
		return err
	}
	t, _, err := active.TrustInForce(log)
	switch {
	case err == nil:
		return errors.New("there is nothing to accept: the trust file is valid in this location of the state directory")
	case !errors.Is(err, active.ErrMoved):
		return invalidTrust(err)
	}
	if err := wholeLedger(ctx, log); err != nil {
		return err
	}
	if err := active.NotOlder(log); err != nil {
		return cli.Findings("not accepted: %v", err)
	}
	who, err := signTrustAct(ctx, a, log, "accepting a state directory that was moved", t.Path, t.Trust, a.Person)
	if err != nil {
		return err
	}
	if err := active.NoteOfTrust(ctx, log, t.Path, t.Trust, "accepted at the new location of the state directory, by "+who); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "%s version %d is now active here\n", t.Path, t.Version)
	return nil
}

// wholeLedger returns an error unless every hash of the ledger is correct.
func wholeLedger(ctx context.Context, log *audit.Store) error {
	report, err := log.Verify(ctx, audit.Check{})
	if err != nil {
		return err
	}
	for _, p := range report.Problems {
		if p.Session.Session == "" {
			return cli.Findings("not accepted: the ledger does not verify: %s; restore the state directory from a complete copy", p)
		}
	}
	return nil
}

func trustRestoreCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "restore",
		Short: "Replace an edited trust file with the signed one; needs a person at a terminal",
		Long: "The signature file (" + trust.FileName + trust.EnvelopeSuffix + ") contains the complete text\n" +
			"that was signed. If it is the version that was active last, it is written back. To change the trust file, edit a\n" +
			"copy, raise its version, have it signed, and rotate to it.",
		Example: "  reviewer policy trust restore",
		Args:    cli.AtMost(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return restoreTrust(a) },
	}
}

func restoreTrust(a *cli.App) error {
	log, err := a.OpenStore()
	if err != nil {
		return err
	}
	t, word, err := active.TrustInForce(log)
	p := (*trust.FileProblem)(nil)
	switch {
	case err == nil:
		return errors.New("there is nothing to restore: the trust file matches the signed one")
	case !errors.As(err, &p), p.Signed == nil, t.Organisation, p.Signed.Pin() != word.Own:
		return invalidTrust(err)
	}
	if _, err := a.Person("restoring the signed trust file"); err != nil {
		return err
	}
	path := filepath.Join(log.Dir, trust.FileName)
	if err := term.WriteWhole(path, p.Signed.Bytes()); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "%s is the signed version %d again\n", path, p.Signed.Version)
	return nil
}
