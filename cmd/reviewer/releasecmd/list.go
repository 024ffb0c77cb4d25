package releasecmd

import (
	"fmt"
	"io"
	"slices"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/depot"
	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

func policyListCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the policy bundles that are kept, and which of them are active",
		Long:  "Newest first, by layer. An archive's digest, or a sequence, is what `reviewer policy rollback --to` takes.",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			home, err := a.StateHome()
			if err != nil {
				return err
			}
			d := here.Depot(home)
			state, err := d.State()
			if err != nil {
				return err
			}
			for _, lost := range state.Lost {
				fmt.Fprintf(a.Stderr, "reviewer: %s\n", cli.Masked(lost.Error()))
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return showKept(a, w, &out, d, keptBundles(d, state)) })
		},
	}
	out.Flags(cmd, "table", "json")
	return cmd
}

// keptBundle is a bundle that can be gone back to, or that is active.
type keptBundle struct {
	depot.Activation        // the last one of it
	Active           bool   `json:"active"`
	Damaged          string `json:"damaged,omitempty"` // why it can no longer be used
}

// keptBundles lists each bundle once, the layers in their order.
func keptBundles(d *depot.Depot, s *depot.State) []keptBundle {
	list := []keptBundle{}
	for _, layer := range bundles.Layers() {
		for _, a := range slices.Backward(s.History) {
			twice := func(k keptBundle) bool { return k.Layer == layer && k.Archive == a.Archive && k.Envelope == a.Envelope }
			if a.Layer != layer || a.None() || slices.ContainsFunc(list, twice) {
				continue
			}
			k := keptBundle{Activation: a, Active: s.Active.Layers[layer].Generation == a.Generation}
			if _, err := d.Archive(a.Release); err != nil {
				k.Damaged = err.Error()
			}
			list = append(list, k)
		}
	}
	return list
}

func showKept(a *cli.App, w io.Writer, out *term.Output, d *depot.Depot, list []keptBundle) error {
	if out.Format == "json" {
		return term.WriteJSON(w, list)
	}
	if len(list) == 0 {
		fmt.Fprintf(w, "no policy bundle was activated in %s yet\n", d.Dir)
		return nil
	}
	p := a.Paint(out)
	layers, names := len("LAYER"), len("BUNDLE")
	for _, k := range list {
		layers, names = max(layers, len(k.Layer)), max(names, len(keptName(k.Release)))
	}
	fmt.Fprintf(w, "  %s %s %8s %s %s %s\n", term.Pad("LAYER", layers), term.Pad("BUNDLE", names), "SEQUENCE", term.Pad("ARCHIVE", 12),
		term.Pad("ACTIVATED", 19), "BY WHOM SIGNED")
	for _, k := range list {
		mark := " "
		if k.Active {
			mark = "*"
		}
		fmt.Fprintf(w, "%s %s %s %8d %.12s %s %s\n", mark, term.Pad(k.Layer, layers), term.Pad(keptName(k.Release), names), k.Sequence,
			k.Archive, term.Clock(k.At), keptRemark(p, k))
	}
	fmt.Fprintln(w, "\n* is active")
	return nil
}

// keptName is a release's name, version and channel.
func keptName(r depot.Release) string {
	return term.OneLine(r.Name+term.After(" ", r.Version)+term.After(" ", r.Channel), 60)
}

func keptRemark(p term.Paint, k keptBundle) string {
	if k.Damaged != "" {
		return p.Verdict("fail") + " " + term.OneLine(cli.Masked(k.Damaged), 200)
	}
	return here.SignedBy(k.Release)
}
