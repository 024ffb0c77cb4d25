package releasecmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/policycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

func policyActivateCommand(a *cli.App) *cobra.Command {
	var in active.Request
	var out term.Output
	cmd := &cobra.Command{
		Use:   "activate ARCHIVE",
		Short: "Verify, store and activate a policy bundle, effective from the next call",
		Long: "ARCHIVE is the output of `reviewer policy build`, with its signatures next to it in ARCHIVE.dsse.json.\n" +
			"The bundle is verified (see `reviewer policy verify`), compiled together with the active layers, run with\n" +
			"and without OPA's rule index and early exit, stored, and then made active in its layer. If any step\n" +
			"fails, the previous policy stays active. If another bundle was active before, `reviewer policy\n" +
			"rollback` restores it. The activation is recorded in the ledger. A bundle that was rolled back on this machine is\n" +
			"refused until one with a newer sequence is active, or with --resume and --reason.\n\n" +
			"If a trust file covers the bundle, and the bundle is not older than the last one seen, the command may run in a\n" +
			"script or in CI, since the signers have already decided. Otherwise a person at a terminal must run it. It never\n" +
			"runs under an agent.",
		Example: "  reviewer policy activate acme-1.4.0.tar.gz\n  reviewer policy activate acme-1.3.0.tar.gz --allow-rollback --reason 'too many false alarms'",
		Args:    cli.Needs(cli.Argument{Name: "ARCHIVE", What: "an archive that `reviewer policy build` or `pull` wrote"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(out.Known(), knownActivation(&in)); err != nil {
				return err
			}
			if err := in.Read(args[0]); err != nil {
				return err
			}
			doc, err := activate(cmd.Context(), a, in)
			if err != nil {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return showActivated(a, w, &out, doc) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Layer, "layer", "", "refuse the bundle unless it is for this layer: base, organisation or user")
	f.BoolVar(&in.AllowRollback, "allow-rollback", false, "allow a release older than the last one; needs --reason and a person")
	f.BoolVar(&in.Resume, "resume", false, "activate a bundle that was rolled back on this machine; needs --reason and a person")
	f.StringVar(&in.Channel, "channel", "", "refuse a release on another channel; default: the setting releases.channel")
	f.StringVar(&in.Reason, "reason", "", "reason to record in the log")
	out.Flags(cmd, "text", "json")
	return cmd
}

// changedRego compares modules that are not byte-identical: reading all of a policy's
// Rego takes longer than everything else about an activation.
func changedRego(before, after map[string]string) (map[string][2][]string, error) {
	was, is := maps.Clone(before), maps.Clone(after)
	for name, text := range before {
		if after[name] == text {
			delete(was, name)
			delete(is, name)
		}
	}
	return rego.Differences(was, is)
}

// knownActivation refuses flags that cannot be combined.
func knownActivation(in *active.Request) error {
	switch {
	case in.Resume && strings.TrimSpace(in.Reason) == "":
		return cli.Usage("--resume needs --reason TEXT, for the log")
	case in.AllowRollback && strings.TrimSpace(in.Reason) == "":
		return cli.Usage("--allow-rollback needs --reason TEXT, for the log")
	case in.Layer != "" && !slices.Contains(active.ActiveKinds(), in.Layer):
		return cli.Usage("--layer %s: expected one of %s", in.Layer, strings.Join(active.ActiveKinds(), ", "))
	}
	return nil
}

// activate makes a bundle active, and counts what that changes. A bundle that is
// refused is a finding.
func activate(ctx context.Context, a *cli.App, in active.Request) (*active.Activated, error) {
	return activateBy(ctx, a, in, nil)
}

// activateBy is activate by a person who gave their code already; nil: it is asked for.
func activateBy(ctx context.Context, a *cli.App, in active.Request, hand *signed.Hand) (*active.Activated, error) {
	store, err := a.OpenStore()
	if err != nil {
		return nil, err
	}
	if in.Reason, err = cli.WithoutSecrets(store, in.Reason); err != nil {
		return nil, err
	}
	var host *rego.Host
	by := active.Activator{Machine: cli.MachineAt(store.Dir), Log: store, Now: func() int64 { return time.Now().UnixMilli() },
		Check: func(ctx context.Context, e *bundles.Effective) (err error) {
			host, err = wiring.CompileChecked(ctx, e)
			return err
		},
		Try: func(ctx context.Context, e *bundles.Effective, own map[string]fs.FS) error {
			found, err := trial.DecideTwice(ctx, cli.Environment(), e, host, own)
			return cmp.Or(err, found.Err())
		},
		RequirePerson: a.Person, RequireScript: a.NoAgent, Mask: cli.Masked, Line: term.OneLine}
	by.Machine.Log = store
	var begun *signed.Hand
	defer func() {
		if begun != nil {
			begun.Wipe()
		}
	}()
	by.Sign = func(ctx context.Context, act active.Act) (_ *active.Signature, err error) {
		choice, err := signed.Choice(engine.ControlActivate, act.Shown, act.Doc)
		if err != nil {
			return nil, err
		}
		if choice.Mode = act.Layer; hand == nil {
			if hand, err = signed.Begin(ctx, a, store, act.What, choice.Reason, a.Person); err != nil {
				return nil, err
			}
			begun = hand
		}
		return &active.Signature{Who: hand.By, Record: func() error { return hand.Record(ctx, choice) }}, nil
	}
	doc, err := by.Activate(ctx, in)
	if refusal := (*trust.Refusal)(nil); errors.As(err, &refusal) {
		return nil, &cli.ExitError{Code: cli.ExitFindings, Err: err}
	}
	if err != nil {
		return nil, err
	}
	doc.Changes = changesOf(doc)
	return doc, nil
}

// changesOf counts the differences from the previous policy.
func changesOf(d *active.Activated) string {
	if d.Was == nil {
		return "the previous policy cannot be read, so the changes are unknown"
	}
	c, err := diff.Policies(d.Was, d.Is, changedRego)
	if err != nil {
		return "the changes cannot be determined: " + err.Error()
	}
	return policycmd.DiffSummary(c)
}

func showActivated(a *cli.App, w io.Writer, out *term.Output, d *active.Activated) error {
	if out.Format == "json" {
		return term.WriteDocument(w, d)
	}
	text := &bytes.Buffer{}
	defer func() { _, _ = io.WriteString(w, term.WrapLines(text.String(), a.Columns(out))) }()
	p := a.Paint(out)
	for _, warning := range d.Warnings {
		fmt.Fprintf(text, "%s %s\n", p.Verdict("warn"), cli.Masked(warning))
	}
	if d.Already {
		fmt.Fprintf(text, "%s is already active in the %s layer (generation %d)\n", d.Release, d.Layer, d.Generation)
		return nil
	}
	fmt.Fprintf(text, "%s layer: %s\n", d.Layer, active.ReleaseText(d.Release))
	fmt.Fprintf(text, "before: %s\n%s\n", d.Before, d.Changes)
	fmt.Fprintf(text, "Active as generation %d since %s, for every call from now on. The policy as a whole is %s.\n",
		d.Generation, term.Clock(d.At), d.Policy)
	if !d.Rollback && d.Undo != "" {
		fmt.Fprintf(text, "To undo this: %s\n", d.Undo)
	}
	return nil
}
