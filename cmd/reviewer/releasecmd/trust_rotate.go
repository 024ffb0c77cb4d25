package releasecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func trustSignCommand(a *cli.App) *cobra.Command {
	var keys signingKeys
	var out term.Output
	cmd := &cobra.Command{
		Use:     "sign FILE --signing-key KEY",
		Short:   "Sign a trust file, or add a signature",
		Long:    "Writes FILE" + trust.EnvelopeSuffix + ", or adds to it. Read FILE first: it decides whose policies will be trusted.",
		Example: "  reviewer policy trust sign trust-2.yaml --signing-key ~/.ssh/id_ed25519",
		Args:    cli.Needs(cli.Argument{Name: "FILE", What: "a trust file that `reviewer policy trust add` wrote"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			return signTrust(cmd.Context(), a, &out, &keys, args[0])
		},
	}
	out.Flags(cmd, term.Text, "json")
	keys.flags(cmd)
	return cmd
}

func signTrust(ctx context.Context, a *cli.App, out *term.Output, keys *signingKeys, path string) error {
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
			return fmt.Errorf("key %s is neither in %s nor in the active trust file, so its signature would have no effect",
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
	d := signedTrust{path, next.Version, path + trust.EnvelopeSuffix, len(e.Signatures)}
	return out.Result(a.Stdout, d, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s\n", d.Envelope, term.Counted(d.Signatures, "signature", "signatures"))
		whoSigns(w, activeTrust(a), next, e, path)
	})
}

// signedTrust is a trust file that was signed.
type signedTrust struct {
	File       string `json:"file"`
	Version    int64  `json:"version"`
	Envelope   string `json:"envelope"`
	Signatures int    `json:"signatures"` // in the envelope now
}

// rotatedTrust is the trust file that was activated.
type rotatedTrust struct {
	File    string       `json:"file"`
	Version int64        `json:"version"`
	SHA256  string       `json:"sha256"`
	Keys    []trustedKey `json:"keys"` // that it trusts
}

// envelopeOf returns the envelope next to a trust file, if it is of that file;
// else a new one. Signatures of another text must not be kept.
func envelopeOf(next *trust.Trust, path string) (*signing.Envelope, error) {
	e, err := next.Seal()
	if err != nil {
		return nil, err
	}
	raw, err := active.ReadBounded(path+trust.EnvelopeSuffix, signing.MaxEnvelope)
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
		return nil, fmt.Errorf("%s%s has signatures for a different text than %s has now; remove it, and have everyone sign again",
			path, trust.EnvelopeSuffix, path)
	}
	return old, nil
}

// activeTrust is the active trust file; nil if there is no valid one. It is only used
// to report who else has to sign.
func activeTrust(a *cli.App) *trust.Trust {
	log, err := a.OpenStore()
	if err != nil {
		return nil
	}
	t, _, err := active.TrustInForce(log)
	if err != nil {
		return nil
	}
	return t.Trust
}

func holdsKey(a *cli.App, k signing.PublicKey) bool {
	t := activeTrust(a)
	return t != nil && t.KeyName(k) != ""
}

func trustRotateCommand(a *cli.App) *cobra.Command {
	var first bool
	var out term.Output
	cmd := &cobra.Command{
		Use:   "rotate FILE",
		Short: "Activate the next version of the trust file, if enough keys signed it",
		Long: "FILE" + trust.EnvelopeSuffix + " must contain enough signatures by root keys of both the active version and\n" +
			"FILE itself, and FILE must be the next version. The ledger records it: from then on an older trust\n" +
			"file, or none, is refused. The first trust file has no predecessor: a person at a terminal accepts it with\n" +
			"--init. An organisation places both files next to its policy folder instead.",
		Example: "  reviewer policy trust rotate trust-2.yaml",
		Args:    cli.Needs(cli.Argument{Name: "FILE", What: "the next version of the trust file, signed"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			return rotateTrust(cmd.Context(), a, &out, args[0], first)
		},
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().BoolVar(&first, "init", false, "accept the first trust file of this machine")
	return cmd
}

func rotateTrust(ctx context.Context, a *cli.App, out *term.Output, path string, first bool) error {
	log, err := a.OpenStore()
	if err != nil {
		return err
	}
	believed, word, err := active.TrustInForce(log)
	if first && errors.Is(err, active.ErrNotAccepted) {
		believed.Trust, err = nil, nil
	}
	if err != nil {
		return invalidTrust(err)
	}
	files, err := readTrustFiles(path)
	if err != nil {
		return err
	}
	next, err := following(believed, word.Own, files, first)
	if err != nil {
		return err
	}
	what, uncoded := "changing the trust file", a.NoAgent
	if first {
		what, uncoded = "accepting the first trust file", a.Person
	}
	who, err := signTrustAct(ctx, a, log, what, believed.Path, next, uncoded)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(believed.Path), 0o700); err != nil {
		return fmt.Errorf("create the state directory: %w", err)
	}
	if err := term.WriteBoth(term.PlacedFile{Path: believed.Path + trust.EnvelopeSuffix, Content: files.Envelope},
		term.PlacedFile{Path: believed.Path, Content: files.Document}); err != nil {
		return fmt.Errorf("write the trust file: %w", err)
	}
	if word.Pins[believed.Path] != (trust.Pin{Version: next.Version, SHA256: next.SHA256}) {
		if err := recordTrust(ctx, log, believed.Path, next, who); err != nil {
			return err
		}
	}
	d := rotatedTrust{believed.Path, next.Version, next.SHA256, keysOf(next)}
	return out.Result(a.Stdout, d, func(w io.Writer) {
		fmt.Fprintf(w, "%s version %d is now active. It trusts:\n\n", d.File, d.Version)
		showKeys(w, next, 64)
	})
}

// recordTrust records the activation in the ledger; without the record, restoring an
// older file would not be noticed.
func recordTrust(ctx context.Context, log *audit.Store, path string, t *trust.Trust, who string) error {
	why := fmt.Sprintf("root %s, by %s", strings.Join(t.Roles[trust.Root].Keys, " "), who)
	if err := active.NoteOfTrust(ctx, log, path, t, why); err != nil {
		return fmt.Errorf("the trust file is in place, but the ledger could not be written: %w; "+
			"a person must activate it: `reviewer policy trust rotate %s --init`", err, path)
	}
	return nil
}

func readTrustFiles(path string) (trust.Files, error) {
	doc, err := active.ReadBounded(path, trust.MaxFile)
	if err != nil {
		return trust.Files{}, err
	}
	envelope, err := active.ReadBounded(path+trust.EnvelopeSuffix, signing.MaxEnvelope)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s is not signed: there is no %s%s; create it with `reviewer policy trust sign %s --signing-key KEY`", path,
			path, trust.EnvelopeSuffix, path)
	}
	return trust.Files{Document: doc, Envelope: envelope}, err
}

// signTrustAct records that the person trusts the keys of a file, if they have an approval code, and returns who they are.
func signTrustAct(ctx context.Context, a *cli.App, log *audit.Store, what, path string, t *trust.Trust,
	uncoded func(string) (string, error)) (string, error) {
	m := cli.MachineAt(log.Dir)
	m.Log = log
	holds, err := m.Layers("")
	if err != nil {
		return "", err
	}
	shown := fmt.Sprintf("trust %s version %d (SHA-256 %s):", path, t.Version, t.SHA256)
	for _, role := range slices.Sorted(maps.Keys(t.Roles)) {
		r := t.Roles[role]
		var keys []string
		for _, name := range r.Keys {
			keys = append(keys, name+" "+t.KeyID(name))
		}
		shown += fmt.Sprintf(" %s: %d of %s;", role, r.Threshold, strings.Join(keys, ", "))
	}
	for layer, now := range holds.Active.Layers {
		shown += fmt.Sprintf(" %s layer stays: %s;", layer, now.Release)
	}
	choice, err := signed.Choice(engine.ControlTrust, strings.TrimSuffix(shown, ";"), active.TrustAct(path, t))
	if err != nil {
		return "", err
	}
	choice.Path = path
	hand, err := signed.Begin(ctx, a, log, what, choice.Reason, uncoded)
	if err != nil {
		return "", err
	}
	defer hand.Wipe()
	// What is active was signed by keys that may be trusted no longer: it stays, as the person saw it.
	for layer, now := range holds.Active.Layers {
		stays, err := signed.Choice(engine.ControlActivate, layer+" layer stays: "+active.ReleaseText(now.Release), active.ActivationAct(now))
		if err != nil {
			return "", err
		}
		stays.Mode = layer
		if err := hand.Record(ctx, stays); err != nil {
			return "", err
		}
	}
	return hand.By, hand.Record(ctx, choice)
}

// following checks that a trust file may become active. The
// active one is accepted too, which completes an interrupted rotation. The version
// used is the one that was active last, even if it is invalid now.
func following(believed active.Trust, used trust.Pin, files trust.Files, first bool) (*trust.Trust, error) {
	switch {
	case believed.None() && !first:
		return nil, errors.New("there is no earlier trust file to check this one against; --init accepts it as the first")
	case !believed.None() && first:
		return nil, fmt.Errorf("--init: there already is a trust file, %s version %d; rotate to the next version without --init",
			believed.Path, believed.Version)
	case believed.None():
		t, err := trust.First(files)
		if err == nil {
			err = t.Follows(used)
		}
		if err == nil {
			err = t.Current(time.Now().UnixMilli())
		}
		return t, finding(err)
	case string(files.Document) == string(believed.Bytes()):
		t, err := trust.First(files)
		return t, finding(err)
	}
	t, err := trust.Rotate(believed.Trust, files, time.Now().UnixMilli())
	return t, finding(err)
}

// finding is notTrusted for an error that may be nil.
func finding(err error) error {
	if err == nil {
		return nil
	}
	return invalidTrust(err)
}
