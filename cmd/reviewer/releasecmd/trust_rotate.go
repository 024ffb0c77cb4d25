package releasecmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func trustSignCommand(a *cli.App) *cobra.Command {
	var keys signingKeys
	cmd := &cobra.Command{
		Use:   "sign FILE --signing-key KEY",
		Short: "Sign a trust file; further keys add their signatures",
		Long:  "Writes FILE" + trust.EnvelopeSuffix + ", or adds to it. Read FILE first: it says whose policies will be believed.",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return signTrust(cmd.Context(), a, &keys, args[0]) },
	}
	keys.flags(cmd)
	return cmd
}

func signTrust(ctx context.Context, a *cli.App, keys *signingKeys, path string) error {
	signers, err := signers(a, keys)
	if err != nil {
		return err
	}
	next, err := readTrust(path)
	if err != nil {
		return err
	}
	e, err := envelopeOf(next, path)
	if err != nil {
		return err
	}
	for _, s := range signers {
		if next.KeyName(s.PublicKey()) == "" && !holdsKey(a, s.PublicKey()) {
			return fmt.Errorf("key %s is neither in %s nor in the trust file that holds: its signature would count for nothing",
				s.PublicKey().ShortID(), path)
		}
		if err := e.Sign(ctx, s); err != nil {
			return err
		}
	}
	raw, err := e.Encode()
	if err != nil {
		return err
	}
	if err := term.WriteWhole(path+trust.EnvelopeSuffix, raw); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "%s%s: %s\n", path, trust.EnvelopeSuffix, term.Counted(len(e.Signatures), "signature", "signatures"))
	whoSigns(a.Stdout, trustHeld(a), next, e, path)
	return nil
}

// envelopeOf returns the envelope beside a trust file, if it is of that file;
// else a new one. Signatures of another text must not be kept.
func envelopeOf(next *trust.Trust, path string) (*signing.Envelope, error) {
	e, err := next.Seal()
	if err != nil {
		return nil, err
	}
	raw, err := here.ReadBounded(path+trust.EnvelopeSuffix, signing.MaxEnvelope)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	old, err := signing.DecodeEnvelope(raw)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", path, trust.EnvelopeSuffix, err)
	}
	if string(old.Payload) != string(e.Payload) {
		return nil, fmt.Errorf("%s%s has signatures of another text than %s has now; remove it, and have all sign again",
			path, trust.EnvelopeSuffix, path)
	}
	return old, nil
}

// trustHeld is the trust file that holds here; nil where there is none, or none
// that can be believed. It only serves to tell people who else has to sign.
func trustHeld(a *cli.App) *trust.Trust {
	log, err := a.OpenStore()
	if err != nil {
		return nil
	}
	t, _, err := here.TrustInForce(log)
	if err != nil {
		return nil
	}
	return t.Trust
}

func holdsKey(a *cli.App, k signing.PublicKey) bool {
	t := trustHeld(a)
	return t != nil && t.KeyName(k) != ""
}

func trustRotateCommand(a *cli.App) *cobra.Command {
	var first bool
	cmd := &cobra.Command{
		Use:   "rotate FILE",
		Short: "Put the next version of the trust file in force, where enough keys signed it",
		Long: "FILE" + trust.EnvelopeSuffix + " must hold enough signatures of root keys of the version that holds and of\n" +
			"FILE itself, and FILE the version that follows. The ledger remembers it: from then on an older trust\n" +
			"file, or none, is refused. The first one nobody vouches for: --init believes it because a person at a\n" +
			"terminal says so. An organisation puts both files into its folder instead.",
		Example: "  reviewer policy trust rotate trust-2.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return rotateTrust(cmd.Context(), a, args[0], first)
		},
	}
	cmd.Flags().BoolVar(&first, "init", false, "believe the first trust file of this machine")
	return cmd
}

func rotateTrust(ctx context.Context, a *cli.App, path string, first bool) error {
	log, err := a.OpenStore()
	if err != nil {
		return err
	}
	believed, word, err := here.TrustInForce(log)
	if first && errors.Is(err, here.ErrNeverBelieved) {
		believed.Trust, err = nil, nil
	}
	if err != nil {
		return notTrusted(err)
	}
	files, err := readTrustFiles(path)
	if err != nil {
		return err
	}
	next, who, err := following(a, believed, files, first)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(believed.Path), 0o700); err != nil {
		return fmt.Errorf("make the state directory: %w", err)
	}
	if err := term.WriteBoth(term.PlacedFile{Path: believed.Path + trust.EnvelopeSuffix, Content: files.Envelope},
		term.PlacedFile{Path: believed.Path, Content: files.Document}); err != nil {
		return fmt.Errorf("put the trust file in its place: %w", err)
	}
	if word.Pins[believed.Path] != (trust.Pin{Version: next.Version, SHA256: next.SHA256}) {
		if err := rememberTrust(ctx, log, believed.Path, next, who); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.Stdout, "%s version %d holds from now on\n", believed.Path, next.Version)
	return nil
}

// rememberTrust notes what was put in force; without the note an older file
// could be put back unseen.
func rememberTrust(ctx context.Context, log *audit.Store, path string, t *trust.Trust, who string) error {
	why := fmt.Sprintf("root %s, by %s", strings.Join(t.Roles[trust.Root].Keys, " "), who)
	if err := here.NoteOfTrust(ctx, log, path, t, why); err != nil {
		return fmt.Errorf("the trust file is in its place, and the ledger could not be told: %w; rotate to it once more", err)
	}
	return nil
}

func readTrustFiles(path string) (trust.Files, error) {
	doc, err := here.ReadBounded(path, trust.MaxFile)
	if err != nil {
		return trust.Files{}, err
	}
	envelope, err := here.ReadBounded(path+trust.EnvelopeSuffix, signing.MaxEnvelope)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s is not signed: there is no %s%s; `reviewer policy trust sign %s --signing-key KEY` makes it", path,
			path, trust.EnvelopeSuffix, path)
	}
	return trust.Files{Document: doc, Envelope: envelope}, err
}

// following checks that a trust file may come into force, and says who decided.
// The one that holds already may: so a rotation that was cut short is ended.
func following(a *cli.App, believed here.Trust, files trust.Files, first bool) (*trust.Trust, string, error) {
	switch {
	case believed.None() && !first:
		return nil, "", errors.New("there is no trust file that could vouch for this one; --init believes it because you say so")
	case !believed.None() && first:
		return nil, "", fmt.Errorf("--init: there is a trust file, %s version %d; rotate to the next version without --init",
			believed.Path, believed.Version)
	case believed.None():
		who, err := a.Person("believing the first trust file")
		if err != nil {
			return nil, "", err
		}
		t, err := trust.First(files)
		if err == nil {
			err = t.Current(time.Now().UnixMilli())
		}
		return t, who, finding(err)
	}
	who, err := a.NoAgent("changing whose policies are believed")
	if err != nil {
		return nil, "", err
	}
	if string(files.Document) == string(believed.Bytes()) {
		t, err := trust.First(files)
		return t, who, finding(err)
	}
	t, err := trust.Rotate(believed.Trust, files, time.Now().UnixMilli())
	return t, who, finding(err)
}

// finding is notTrusted for what may be no error.
func finding(err error) error {
	if err == nil {
		return nil
	}
	return notTrusted(err)
}
