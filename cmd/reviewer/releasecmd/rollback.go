package releasecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

func policyRollbackCommand(a *cli.App) *cobra.Command {
	var in here.Request
	var to string
	var out term.Output
	cmd := &cobra.Command{
		Use:   "rollback",
		Short: "Go back to the policy bundle that was active before; needs a person at a terminal",
		Long: "Makes the bundle active that was so before the one that is, or with --to another that is kept:\n" +
			"`reviewer policy list` shows them. It is verified and compiled again, and has to be as it was. What it\n" +
			"goes back from stays kept, but a further rollback does not come to it.\n\n" +
			"--to none leaves the layer without a bundle: then the policy that ships is the base, and folders of\n" +
			"policy count again. Where a trust file is, going to a lower sequence, or to no bundle, takes\n" +
			"--allow-rollback. To send everybody back, release the old contents under a new sequence instead.",
		Example: "  reviewer policy rollback --reason 'blocks the release job'\n  reviewer policy rollback --to 41 --allow-rollback --reason 'as agreed with security'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if strings.TrimSpace(in.Reason) == "" {
				return errors.New("say why with --reason TEXT, for the log")
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
	f.StringVar(&to, "to", "", "go back to this one: its sequence, the first 6 or more digits of its archive's or policy's digest, or none")
	f.StringVar(&in.Layer, "layer", "", "of which layer (default: the only one that has a bundle)")
	f.BoolVar(&in.AllowRollback, "allow-rollback", false, "allow a lower sequence than was seen, where a trust file is")
	f.StringVar(&in.Reason, "reason", "", "why, for the log (required)")
	out.Flags(cmd, "text", "json")
	return cmd
}

// rollback makes a bundle active that is kept. What it is to be is looked up
// before the depot is locked; if somebody changes it meanwhile, that is gone back
// to all the same, which is what was asked for.
func rollback(ctx context.Context, a *cli.App, in here.Request, to string) (*here.Activated, error) {
	store, err := a.OpenStore()
	if err != nil {
		return nil, err
	}
	d := here.Depot(store.Dir)
	state, err := d.State()
	if err != nil {
		return nil, err
	}
	if in.Layer, err = here.RollbackLayer(state, in.Layer); err != nil {
		return nil, err
	}
	target, err := here.RollbackTarget(state, in.Layer, to)
	if err != nil {
		return nil, err
	}
	if err := in.TakeKept(d, target); err != nil {
		return nil, err
	}
	t, _, err := here.TrustInForce(store)
	if err != nil {
		return nil, err
	}
	if t.None() {
		in.AllowRollback = true // a person says so, and there is nothing else to go by
	} else if target.None() && !in.AllowRollback {
		return nil, fmt.Errorf("%s asks for signatures, and without a bundle of the %s layer what it vouches for no longer holds; say "+
			"--allow-rollback if that is meant", t.Path, in.Layer)
	}
	return activate(ctx, a, in)
}
