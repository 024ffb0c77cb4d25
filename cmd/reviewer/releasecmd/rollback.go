package releasecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

func policyRollbackCommand(a *cli.App) *cobra.Command {
	var in active.Request
	var to string
	var out term.Output
	cmd := &cobra.Command{
		Use:   "rollback",
		Short: "Roll back to the previously active policy bundle; needs a person at a terminal",
		Long: "Activates the bundle that was active before the current one, or with --to another stored one\n" +
			"(`reviewer policy list` shows them). It is verified and compiled again, and must be unchanged. The\n" +
			"current bundle stays stored, but a further rollback skips it, and `policy activate` and `pull` refuse it\n" +
			"until a release with a newer sequence is active, or with --resume and --reason.\n\n" +
			"--to none leaves the layer without a bundle: then the built-in policy is the base, and policy folders\n" +
			"are used again. With a trust file, a lower sequence or no bundle needs --allow-rollback. To roll\n" +
			"back all machines, release the old contents under a new sequence instead.",
		Example: "  reviewer policy rollback --reason 'blocks the release job'\n  reviewer policy rollback --to 41 --allow-rollback --reason 'as agreed with security'",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if strings.TrimSpace(in.Reason) == "" {
				return cli.Usage("give the reason with --reason TEXT, for the log")
			}
			if err := errors.Join(out.Known(), knownActivation(&in)); err != nil {
				return err
			}
			doc, err := rollback(cmd.Context(), a, in, to)
			if err != nil {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return showActivated(a, w, &out, doc) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "bundle to roll back to: its sequence, the first 6 or more digits of its archive's or policy's digest, or none")
	f.StringVar(&in.Layer, "layer", "", "layer to roll back (default: the only one that has a bundle)")
	f.BoolVar(&in.AllowRollback, "allow-rollback", false, "with a trust file: allow a lower sequence than the last one seen")
	f.StringVar(&in.Reason, "reason", "", "reason to record in the log (required)")
	out.Flags(cmd, "text", "json")
	return cmd
}

// rollback activates a stored bundle again. Which one is determined before the store
// is locked; if someone changes the store in the meantime, it still rolls back to that one.
func rollback(ctx context.Context, a *cli.App, in active.Request, to string) (*active.Activated, error) {
	store, err := a.OpenStore()
	if err != nil {
		return nil, err
	}
	d := active.Releases(store.Dir)
	m := cli.MachineAt(store.Dir)
	m.Log = store
	state, err := m.State()
	if err != nil {
		return nil, err
	}
	if in.Layer, err = active.RollbackLayer(state, in.Layer); err != nil {
		return nil, err
	}
	target, err := active.RollbackTarget(state, in.Layer, to)
	if err != nil {
		return nil, err
	}
	if err := in.TakeKept(d, target); err != nil {
		return nil, err
	}
	t, _, err := active.TrustInForce(store)
	if err != nil {
		return nil, invalidTrust(err)
	}
	if t.None() {
		in.AllowRollback = true // a person decides this
	} else if target.None() && !in.AllowRollback {
		return nil, withoutBundle(t, in.Layer)
	}
	return activate(ctx, a, in)
}

// withoutBundle refuses to leave a layer without its signed bundle.
func withoutBundle(t active.Trust, layer string) error {
	return fmt.Errorf("%s requires signatures, but without a bundle the %s layer would be unsigned; add "+
		"--allow-rollback if that is intended", t.Path, layer)
}
