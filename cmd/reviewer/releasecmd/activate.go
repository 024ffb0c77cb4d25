package releasecmd

import (
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
	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/policycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

func policyActivateCommand(a *cli.App) *cobra.Command {
	var in here.Request
	var out term.Output
	cmd := &cobra.Command{
		Use:   "activate ARCHIVE",
		Short: "Verify a policy bundle, keep it, and let it hold from the next call on",
		Long: "ARCHIVE is what `reviewer policy build` made; the signatures lie beside it in ARCHIVE.dsse.json.\n" +
			"It is verified (see `reviewer policy verify`), compiled together with the layers that hold, tried with\n" +
			"OPA's rule index and early exit and without, kept, and made active in its layer at once: what goes wrong\n" +
			"before leaves the policy that holds as it is. Where that is a bundle already, `reviewer policy rollback`\n" +
			"goes back to it. The ledger tells of it.\n\n" +
			"Where a trust file vouches for the bundle, and it is not older than what was seen, the command may run\n" +
			"in a script or in CI: those who signed have decided. Otherwise it takes a person at a terminal. Below\n" +
			"an agent it never runs.",
		Example: "  reviewer policy activate acme-1.4.0.tar.gz\n  reviewer policy activate acme-1.3.0.tar.gz --allow-rollback --reason 'too many false alarms'",
		Args:    cobra.ExactArgs(1),
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
	f.StringVar(&in.Layer, "layer", "", "refuse the bundle unless it is of this layer: base, organisation or user")
	f.BoolVar(&in.AllowRollback, "allow-rollback", false, "allow a lower sequence than was seen; needs --reason and a person at a terminal")
	f.StringVar(&in.Reason, "reason", "", "why, for the log")
	out.Flags(cmd, "text", "json")
	return cmd
}

// changedRego compares modules that are not the same to the byte: reading all of
// a policy's Rego takes longer than everything else about an activation.
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

// knownActivation refuses flags that do not go together.
func knownActivation(in *here.Request) error {
	switch {
	case in.AllowRollback && strings.TrimSpace(in.Reason) == "":
		return errors.New("--allow-rollback needs --reason TEXT, for the log")
	case in.Layer != "" && !slices.Contains(here.ActiveKinds(), in.Layer):
		return fmt.Errorf("--layer %s: expected one of %s", in.Layer, strings.Join(here.ActiveKinds(), ", "))
	}
	return nil
}

// activate makes a bundle active, and counts what that changes. A bundle that is
// refused is a finding.
func activate(ctx context.Context, a *cli.App, in here.Request) (*here.Activated, error) {
	store, err := a.OpenStore()
	if err != nil {
		return nil, err
	}
	if in.Reason, err = cli.WithoutSecrets(store, in.Reason); err != nil {
		return nil, err
	}
	var host *rego.Host
	by := here.Activator{Machine: cli.MachineAt(store.Dir), Log: store, Now: func() int64 { return time.Now().UnixMilli() },
		Check: func(ctx context.Context, e *bundles.Effective) (err error) {
			host, err = wiring.CompileChecked(ctx, e)
			return err
		},
		Try: func(ctx context.Context, e *bundles.Effective, own map[string]fs.FS) error {
			found, err := trial.DecideTwice(ctx, cli.Environment(), e, host, own)
			return cmp.Or(err, found.Err())
		},
		Person: a.Person, Script: a.NoAgent, Mask: cli.Masked, Line: term.OneLine}
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

// changesOf counts what differs from what held before.
func changesOf(d *here.Activated) string {
	if d.Was == nil {
		return "what held before cannot be read, so what changed is not known"
	}
	c, err := diff.Policies(d.Was, d.Is, changedRego)
	if err != nil {
		return "what changed cannot be told: " + err.Error()
	}
	return policycmd.DiffSummary(c)
}

func showActivated(a *cli.App, w io.Writer, out *term.Output, d *here.Activated) error {
	if out.Format == "json" {
		return term.WriteJSON(w, d)
	}
	p := a.Paint(out)
	for _, warning := range d.Warnings {
		fmt.Fprintf(w, "%s %s\n", p.Verdict("warn"), cli.Masked(warning))
	}
	if d.Already {
		fmt.Fprintf(w, "%s is active in the %s layer already (generation %d)\n", d.Release, d.Layer, d.Generation)
		return nil
	}
	fmt.Fprintf(w, "%s layer: %s\n", d.Layer, here.ReleaseText(d.Release))
	fmt.Fprintf(w, "before: %s\n%s\n", d.Before, d.Changes)
	fmt.Fprintf(w, "Active as generation %d since %s, for every call from now on. The policy as a whole is %s.\n",
		d.Generation, term.Clock(d.At), d.Policy)
	if !d.Rollback {
		fmt.Fprintf(w, "To go back: reviewer policy rollback --layer %s --reason TEXT\n", d.Layer)
	}
	return nil
}
