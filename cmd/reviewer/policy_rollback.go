package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) policyRollbackCommand() *cobra.Command {
	var in activating
	var to string
	var out output
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
			if strings.TrimSpace(in.reason) == "" {
				return errors.New("say why with --reason TEXT, for the log")
			}
			if err := errors.Join(out.known(), knownActivation(&in)); err != nil {
				return err
			}
			doc, err := a.rollback(cmd.Context(), in, to)
			if err != nil {
				return err
			}
			return out.write(a.stdout, func(w io.Writer) error { return a.showActivated(w, &out, doc) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "go back to this one: its sequence, the first 6 or more digits of its archive's or policy's digest, or none")
	f.StringVar(&in.layer, "layer", "", "of which layer (default: the only one that has a bundle)")
	f.BoolVar(&in.allowRollback, "allow-rollback", false, "allow a lower sequence than was seen, where a trust file is")
	f.StringVar(&in.reason, "reason", "", "why, for the log (required)")
	out.flags(cmd, "text", "json")
	return cmd
}

// rollback makes a bundle active that is kept. What it is to be is looked up
// before the depot is locked; if somebody changes it meanwhile, that is gone back
// to all the same, which is what was asked for.
func (a *app) rollback(ctx context.Context, in activating, to string) (*activationDocument, error) {
	store, err := a.openStore()
	if err != nil {
		return nil, err
	}
	d := policyDepot(store.Dir)
	state, err := d.State()
	if err != nil {
		return nil, err
	}
	if in.layer, err = rollbackLayer(state, in.layer); err != nil {
		return nil, err
	}
	target, err := rollbackTarget(state, in.layer, to)
	if err != nil {
		return nil, err
	}
	if err := in.takeKept(d, target); err != nil {
		return nil, err
	}
	t, _, err := trustInForce(store)
	if err != nil {
		return nil, err
	}
	if t.none() {
		in.allowRollback = true // a person says so, and there is nothing else to go by
	} else if target.None() && !in.allowRollback {
		return nil, fmt.Errorf("%s asks for signatures, and without a bundle of the %s layer what it vouches for no longer holds; say --allow-rollback if that is meant", t.path, in.layer)
	}
	return a.activate(ctx, in)
}
