package releasecmd

import (
	"context"
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/policycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

func policyAcceptCommand(a *cli.App) *cobra.Command {
	var dryRun bool
	var out term.Output
	cmd := &cobra.Command{
		Use:   "accept",
		Short: "Accept your own policy as it is now; needs a person at a terminal, and their approval code",
		Long: "An agent runs as you and can write your own policy, the folder policy in the state directory. So the\n" +
			"folder counts as you accepted it last. After a change the accepted content stays active, and\n" +
			"only what the change tightens counts at once: settings, and new files with rules, patterns or access lists.\n" +
			"Nothing has to be accepted where no approval code was ever made, or where only root can change the folder.\n\n" +
			"Shows how the files differ from the accepted ones, and what that means for the policy; checks that the policy\n" +
			"compiles; asks for the code; and records the digest of the files that it showed. The copy of them in\n" +
			"the state directory is used while the folder differs.",
		Example: "  reviewer policy accept --dry-run\n  reviewer policy accept",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			doc, err := acceptOwn(cmd.Context(), a, &out, dryRun)
			if err != nil {
				return err
			}
			return out.Result(a.Stdout, doc, func(w io.Writer) { fmt.Fprintln(w, doc.text()) })
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only show the difference")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// acceptedDocument is the result of `policy accept`.
type acceptedDocument struct {
	Dir      string   `json:"dir"`
	Digest   string   `json:"digest"`       // of the files
	Changed  []string `json:"changed"`      // files that are not as they were accepted before
	Accepted bool     `json:"accepted"`     // false: nothing was recorded
	By       string   `json:"by,omitempty"` // who accepted them
	Policy   string   `json:"policy"`       // digest of the policy with these files

	needed bool // there is an approval code
}

func (d *acceptedDocument) text() string {
	switch {
	case d.Accepted:
		return fmt.Sprintf("accepted by %s: your own policy in %s counts as it is, policy %.12s", d.By, d.Dir, d.Policy)
	case !d.needed:
		return "no approval code was ever made, so your own policy in " + d.Dir + " counts as it is: `reviewer approvals code` makes one"
	case len(d.Changed) == 0:
		return "nothing changed: your own policy in " + d.Dir + " is as you accepted it"
	}
	return "nothing was accepted (--dry-run)"
}

func acceptOwn(ctx context.Context, a *cli.App, out *term.Output, dryRun bool) (*acceptedDocument, error) {
	log, err := a.OpenStore()
	if err != nil {
		return nil, err
	}
	m := cli.MachineAt(log.Dir)
	m.Log = log
	own, err := m.Acceptance()
	if err == nil {
		err = wiring.Check(ctx, own.Is)
	}
	if err != nil {
		return nil, fmt.Errorf("not accepted: %w", err)
	}
	doc := &acceptedDocument{Dir: own.Dir, Digest: own.Digest, Changed: own.Changed, Policy: own.Is.Digest,
		needed: own.State != active.OwnUnsigned}
	if doc.Changed == nil {
		doc.Changed = []string{}
	}
	switch {
	case !doc.needed:
		return doc, nil
	case own.Before != nil && len(own.Changed) == 0:
		return doc, own.Keep() // the copy may have been lost
	}
	if err := showAcceptance(a, out, own); err != nil || dryRun {
		return doc, err
	}
	act, err := signed.Ask(ctx, a, log, "accepting your own policy")
	if err != nil {
		return nil, err
	}
	defer act.Signer.Wipe()
	doc.Accepted, doc.By = true, act.By
	return doc, own.Accept(ctx, log, act.By, act.Signer)
}

// showAcceptance prints, for the person who is asked for the code, what they are about to accept.
func showAcceptance(a *cli.App, out *term.Output, own *active.Acceptance) error {
	w := a.Stdout
	if out.Format != term.Text || out.File != "" {
		w = a.Stderr
	}
	if own.Before == nil {
		fmt.Fprintln(w, "The copy of what you accepted before is lost, so all of your own policy is shown:")
	}
	signed.ShowFiles(w, own)
	if own.Was == nil {
		return nil
	}
	changes, err := diff.Policies(own.Was, own.Is, rego.Differences)
	if err != nil {
		return err
	}
	fmt.Fprintln(w)
	policycmd.DiffText(w, a.Paint(out), []string{"accepted", "policy"}, changes)
	fmt.Fprintln(w)
	return nil
}
